"""The view of a passive party in an encrypted regression: its own gradients, and no label."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.codec import travels
from whatleaks.models.grids import Grids
from whatleaks.models.regression_history import OwnSteps
from whatleaks.models.replayed_steps import replayed
from whatleaks.models.residuals import partner_outputs
from whatleaks.threat.grants import Grant


@travels
@dataclass(frozen=True)
class EncryptedLabelView:
    """Own columns and own decrypted gradients of every step; ``grids`` say what labels there are.

    ``unknown`` is 1: the label of every record.
    """

    needs: ClassVar[tuple[type[Grant], ...]] = ()

    steps: OwnSteps
    grids: Grids
    unknown: int = 1

    @property
    def own(self) -> Floats:
        """The own columns, made-up ones included."""
        return self.steps.columns

    def foreign(self) -> Floats:
        """Return y - slope z of the others, of every record (rows) in every epoch (columns).

        The residual is d = slope (own z + others' z) + offset - y, and all but the last two
        are known. Behind another optimiser: of the epochs that can be undone, maybe none.
        """
        held = self.steps.undone()
        others = partner_outputs(
            held.columns,
            np.zeros(len(held.columns)),
            held.gradients,
            held.weights,
            held.batches,
            held.alpha,
            held.slope,
            held.offset,
        )
        return np.asarray(-held.slope * others, dtype=np.float64)

    def exchanged(self, order: Ints) -> Self | None:
        """Return the view with the others' part of every record's residual taken from another.

        A gradient is of a whole batch, so weights and gradients are made that such residuals give. None
        where an optimiser's directions cannot be undone.
        """
        held = self.steps.undone()
        if not len(held.gradients):
            return None
        weights, gradients = replayed(
            held.columns, held.weights[0], held.batches, len(held.gradients), held.learning_rate,
            held.alpha, held.slope, held.offset - self.foreign()[order], self.steps.optimiser,
        )  # fmt: skip
        return replace(self, steps=replace(held, weights=weights, gradients=gradients))

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.foreign()], axis=1)
