"""The view of the active party in an encrypted regression with an arbiter."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.codec import travels
from whatleaks.models.adam_roots import rounds_undone
from whatleaks.models.replayed_steps import replayed
from whatleaks.models.residuals import partner_outputs
from whatleaks.threat.grants import Grant, Queries, Ranges


@travels
@dataclass(frozen=True)
class EncryptedLinearView:
    """What B holds: its columns, targets and weights, its own gradients, its queries.

    ``gradients`` and ``weights`` (before the step) have one row per step; step k used the
    rows ``batches[k % len(batches)]``. Without a prediction phase there are no ``queries``.
    A residual is d = ``slope`` (z_A + z_B) + ``offset`` - y. With another ``optimiser`` than sgd
    what is called a gradient is the direction that the arbiter returned.
    """

    needs: ClassVar[tuple[type[Grant], ...]] = ()

    own: Floats
    labels: Floats
    gradients: Floats
    weights: Floats
    batches: tuple[Ints, ...]
    learning_rate: float
    alpha: float
    queries: Queries | None
    ranges: Ranges | None
    unknown: int
    slope: float = 1.0
    offset: float = 0.0
    optimiser: str = "sgd"

    def with_outputs(self, z: Floats) -> Self:
        """Return the view as it would be if the partner's outputs were ``z``: records x epochs.

        A gradient is of a whole batch, so weights and gradients are made that such outputs give.
        Behind another optimiser these are of the steps that can be undone, which ``z`` came from.
        """
        held = self.undone()
        if not len(held.gradients):
            return held
        rest = self.slope * z + self.offset - self.labels[:, None]
        weights, gradients = replayed(
            held.own, held.weights[0], held.batches, len(held.gradients), held.learning_rate,
            held.alpha, held.slope, rest, self.optimiser,
        )  # fmt: skip
        return replace(held, weights=weights, gradients=gradients)

    def undone(self) -> Self:
        """Return the view with gradients in place of directions: the rounds that can be undone."""
        if self.optimiser == "sgd":
            return self
        gradients, weights = rounds_undone(
            self.gradients, self.weights, self.own, self.batches, self.alpha
        )
        return replace(self, gradients=gradients, weights=weights, optimiser="sgd")

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it: own columns, label, z_A.

        The partner's outputs of every epoch are exact where a batch has at most as many
        records as there are independent own columns. Elsewhere they are the part of the
        residuals that the gradients determine, which is all that is seen.
        """
        return np.concatenate([self.own, self.labels[:, None], self.outputs()], axis=1)

    def outputs(self) -> Floats:
        """Return the partner's z_A of every record (rows) in every epoch (columns).

        Behind another optimiser the epochs that can be undone; there may be none.
        """
        held = self.undone()
        return partner_outputs(
            held.own,
            held.labels,
            held.gradients,
            held.weights,
            held.batches,
            held.alpha,
            held.slope,
            held.offset,
        )

    def residuals(self, z: Floats, rows: Ints, steps: slice) -> Floats:
        """Return d of some records in those steps, one column each, from the partner's ``z``."""
        total = z + self.own[rows] @ self.weights[steps].T
        found: Floats = self.slope * total + self.offset - self.labels[rows, None]
        return found
