"""What a release says about linear outputs of a record: an interval for each of them.

Scores give an interval for every log-probability (``normalised``: the logits are known up to
the softmax's common term); plain partial sums give one for every output itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from whatleaks.arrays import Bools, Floats
from whatleaks.errors import AttackError
from whatleaks.models.additive import Bottom
from whatleaks.models.grids import Grids
from whatleaks.models.linear import Linear
from whatleaks.models.precision import Precision

# Extended precision where the machine has it, so that our own rounding adds nothing.
Longs: TypeAlias = npt.NDArray[np.longdouble]

# Three sums of products (theirs, ours, and of values that are themselves rounded), each within
# its terms' magnitude times the roundoff.
SUMS = 3.0
NETWORK_TERMS = 16.0  # how much larger a network's inner terms are taken to be than its outputs


@dataclass(frozen=True)
class Readings:
    """``low <= known + x @ matrix.T <= high``, up to a common term where ``normalised``.

    ``known`` (records x outputs) is the part that the reader computes itself, ``matrix``
    (outputs x columns) the weights of the unknown columns.
    """

    matrix: Floats
    known: Longs
    low: Floats
    high: Floats
    normalised: bool

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.known)

    def pick(self, rows: npt.NDArray[np.int64]) -> Readings:
        """Return the readings of some records."""
        return Readings(
            self.matrix, self.known[rows], self.low[rows], self.high[rows], self.normalised
        )

    def outputs(self, values: Floats, rows: npt.NDArray[np.int64]) -> Floats:
        """Return what the release would have been for candidates of record ``rows[i]``."""
        outputs = self.known[rows].astype(np.float64) + values @ self.matrix.T
        if self.normalised:
            outputs = outputs - logsumexp(outputs, axis=1, keepdims=True)
        return np.asarray(outputs)

    def fits(self, values: Floats, rows: npt.NDArray[np.int64]) -> Bools:
        """Say for each candidate whether all outputs of record ``rows[i]`` fall in its intervals."""
        outputs = self.outputs(values, rows)
        inside = (outputs >= self.low[rows]) & (outputs <= self.high[rows])
        return np.asarray(inside.all(axis=1))


def score_readings(
    own: Floats,
    scores: Floats,
    active: Bottom,
    passive: Linear,
    grids: Grids,
    precision: Precision,
) -> Readings:
    """Read released scores: one logit per class, or one for two classes.

    The unknown columns must enter linearly; the reader's own part may be a network, whose
    outputs it computes itself (with a network's rounding).
    """
    outputs = passive.weights.shape[1]
    classes = max(2, outputs)
    if scores.ndim != 2 or scores.shape[1] != classes:
        raise AttackError(f"the model has {classes} classes, the scores have shape {scores.shape}")
    if not (np.isfinite(scores).all() and (scores >= 0.0).all() and (scores <= 1.0).all()):
        raise AttackError("a released score is not a number from 0 to 1: nothing can be decoded")
    if len(grids) != passive.weights.shape[0]:
        raise AttackError(
            f"grids of {len(grids)} columns do not describe {passive.weights.shape[0]} unknown ones"
        )
    known, reach = _known(own, active)
    known = known + passive.bias.astype(np.longdouble)
    low_x, high_x = grids.bounds()
    theirs = np.maximum(np.abs(low_x), np.abs(high_x)) @ np.abs(passive.weights)
    reach = reach + theirs + np.abs(passive.bias)
    matrix = passive.weights.T
    if outputs == 1:  # sigmoid: the first class has the logit 0
        known = np.concatenate([np.zeros_like(known), known], axis=1)
        matrix = np.concatenate([np.zeros_like(matrix), matrix])
        reach = np.array([0.0, reach[0]])
    blur = np.abs(matrix) @ np.array([grid.blur for grid in grids.columns])
    low, high = precision.logarithms(scores)
    logs = np.abs(np.where(np.isfinite(low), low, 0.0)).max(axis=0, initial=0.0)
    # Each class bears the error of its own logit and, through the softmax's sum, of the worst.
    slack = precision.arithmetic * SUMS * (reach + reach.max()) + 2.0**-53 * logs
    slack = slack + blur + blur.max(initial=0.0)
    return Readings(np.ascontiguousarray(matrix), known, low - slack, high + slack, True)


def _known(own: Floats, active: Bottom) -> tuple[Longs, Floats]:
    """Return the reader's own part of the logits, and how large its terms are."""
    if isinstance(active, Linear):
        known = own.astype(np.longdouble) @ active.weights.astype(np.longdouble)
        terms = (np.abs(own) @ np.abs(active.weights)).max(axis=0, initial=0.0)
        return known + active.bias.astype(np.longdouble), terms + np.abs(active.bias)
    outputs = active.logits(own)
    terms = NETWORK_TERMS * np.abs(outputs).max(axis=0, initial=1.0)
    return outputs.astype(np.longdouble), terms


def sum_readings(sums: Floats, weights: Floats, grids: Grids, tolerance: float = 0.0) -> Readings:
    """Read plain partial sums ``x @ weights`` (columns x outputs), each within ``tolerance``.

    The rounding of the sum itself, in doubles, comes on top.
    """
    if sums.ndim != 2 or sums.shape[1] != weights.shape[1]:
        raise AttackError(f"{weights.shape[1]} sums a record are expected, got {sums.shape}")
    if not np.isfinite(sums).all() or not tolerance >= 0.0:
        raise AttackError("a partial sum is not finite: nothing can be decoded")
    if len(grids) != len(weights):
        raise AttackError(f"grids of {len(grids)} columns do not describe {len(weights)} weights")
    low_x, high_x = grids.bounds()
    reach = np.maximum(np.abs(low_x), np.abs(high_x)) @ np.abs(weights)
    blur = np.array([grid.blur for grid in grids.columns]) @ np.abs(weights)
    slack = tolerance + 2.0**-53 * SUMS * reach + blur
    known = np.zeros(sums.shape, dtype=np.longdouble)
    return Readings(weights.T.copy(), known, sums - slack, sums + slack, False)
