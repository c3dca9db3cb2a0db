"""The view of the active party in a regression without an arbiter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.codec import travels
from whatleaks.models.shared_history import SharedHistory
from whatleaks.threat.grants import Grant, Ranges


@travels
@dataclass(frozen=True)
class SharedRegressionView:
    """What B holds: its columns and targets, and its own weights before and after the training.

    All else that it was sent is uniform, or under a mask of the other's.
    """

    needs: ClassVar[tuple[type[Grant], ...]] = ()

    history: SharedHistory
    ranges: Ranges | None
    unknown: int

    @property
    def own(self) -> Floats:
        """The own columns of the records that trained."""
        return self.history.columns

    def exchanged(self, order: Ints) -> None:
        """Say that nothing can be exchanged: weights are of all records, not of one."""
        del order

    def evidence(self) -> Floats:
        """Return one row per record: own columns, label, and the partner's average output.

        The last is exact where there are as many independent own columns as records, elsewhere
        the part of it that the weights determine, which is all that is seen.
        """
        seen = self.history
        return np.column_stack([seen.columns, seen.targets, seen.mean_outputs()])
