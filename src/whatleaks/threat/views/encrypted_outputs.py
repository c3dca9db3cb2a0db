"""The view of the active party in an encrypted regression that predicts with plain outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.codec import travels
from whatleaks.models.grids import Grids
from whatleaks.threat.grants import Grant, Queries
from whatleaks.threat.views.encrypted import EncryptedLinearView


@travels
@dataclass(frozen=True)
class EncryptedOutputsView(EncryptedLinearView):
    """Own gradients, the partners' summed z of every record at prediction, and the schema."""

    needs: ClassVar[tuple[type[Grant], ...]] = (Queries,)

    predicted: Floats = field(kw_only=True)
    grids: Grids = field(kw_only=True)

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([super().evidence(), self.predicted[:, None]], axis=1)
