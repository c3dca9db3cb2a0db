"""Path restriction by one who knows some people: the conditional mean on the paths that are left.

Ours. A regression on the known people says where a value is likely to be, with the error that
it has on people left out; the tree's tests say between which borders it must be. Every
candidate path is weighed by how likely it is to hold the values, and answers with the mean of
a normal distribution cut off at its borders.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from whatleaks.arrays import Bools, Floats, sealed
from whatleaks.attacks.path_restriction import PathRestriction, path_bounds
from whatleaks.catalog import attack
from whatleaks.citations import LUO
from whatleaks.codec import travels
from whatleaks.models.ridge import fitted
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.known_trees import KnownTreeView

LEAST = 1e-3  # of the range: a deviation below this is luck of few records
CHUNK = 2_000_000  # cells of records x leaves x columns at a time


@attack(
    "path-restriction-known",
    title="Path restriction and known people: the likely value on the likely path",
    paper=f"whatleaks, after {LUO}",
    needs="the released class, the whole tree, and complete records of some people",
)
@travels
@dataclass(frozen=True)
class PathRestrictionKnown:
    """The mean of the regression's normal errors, given that some candidate path was taken."""

    name: str = "path-restriction-known"

    def infer(self, view: KnownTreeView, rng: np.random.Generator) -> ValueGuess:
        """Weigh every candidate path and average what it leaves."""
        del rng
        known = view.auxiliary
        line = fitted(np.concatenate([known.own, known.released], axis=1), known.passive)
        centre = line(view.evidence())
        spread = np.maximum(np.sqrt((line.left_out**2).mean(axis=0)), LEAST)
        candidates = PathRestriction().candidates(view)
        low, high = path_bounds(view.model, view.unknown)
        step = max(1, CHUNK // max(low.size, 1))
        parts = [
            conditional_mean(centre[i : i + step], spread, candidates[i : i + step], low, high)
            for i in range(0, len(centre), step)
        ]
        return ValueGuess(sealed(np.concatenate(parts)))


def conditional_mean(
    centre: Floats, spread: Floats, candidates: Bools, low: Floats, high: Floats
) -> Floats:
    """Return E[x | x in one of the candidate boxes] for independent normal x: records x columns.

    ``low`` and ``high`` are leaves x columns; borders of the public range are no tests, but no
    value lies beyond them either.
    """
    a = (low - centre[:, None, :]) / spread  # records x leaves x columns
    b = (high - centre[:, None, :]) / spread
    # Mirrored where both borders lie above the mean: the small tail keeps its digits.
    flip = a + b > 0
    near, far = np.where(flip, -b, a), np.where(flip, -a, b)
    mass = _log_difference(log_ndtr(far), log_ndtr(near))
    # E[z | a < z < b] = (phi(a) - phi(b)) / (Phi(b) - Phi(a))
    shift = np.exp(_log_phi(near) - mass) - np.exp(_log_phi(far) - mass)
    mean = centre[:, None, :] + spread * np.where(flip, -shift, shift)
    mean = np.clip(mean, low, high)  # rounding, far out in a tail
    weight = np.where(candidates, mass.sum(axis=2), -np.inf)
    weight = np.exp(weight - weight.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("rl,rlc->rc", weight, mean))


def _log_phi(z: Floats) -> Floats:
    return np.asarray(-0.5 * z**2 - 0.5 * np.log(2.0 * np.pi))


def _log_difference(large: Floats, small: Floats) -> Floats:
    """Return log(exp(large) - exp(small)), not below the smallest number there is."""
    gap = np.minimum(small - large, -1e-300)
    return np.asarray(np.maximum(large + np.log(-np.expm1(gap)), -700.0))
