"""The view of the active party and the arbiter together in an encrypted regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.codec import travels
from whatleaks.models.regression_history import DecryptedSteps
from whatleaks.threat.grants import Grant, Ranges
from whatleaks.threat.views.encrypted import EncryptedLinearView


@travels
@dataclass(frozen=True)
class ColludingArbiterView:
    """What both hold: the active party's training, and every passive gradient and residual."""

    needs: ClassVar[tuple[type[Grant], ...]] = ()

    training: EncryptedLinearView
    opened: DecryptedSteps
    ranges: Ranges
    unknown: int

    @property
    def own(self) -> Floats:
        """The active party's columns."""
        return self.training.own

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it alone."""
        held = self.training
        count = len(held.batches)
        steps = -(-len(self.opened.residuals) // count)
        seen = np.zeros((len(held.own), steps))
        for step, d in enumerate(self.opened.residuals):
            seen[held.batches[step % count], step // count] = d
        return np.concatenate([held.evidence(), seen], axis=1)
