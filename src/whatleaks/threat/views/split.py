"""The view of an active party in a split federation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.codec import travels
from whatleaks.threat.grants import Auxiliary


@travels
@dataclass(frozen=True)
class SplitView:
    """Own columns of the target records, the embeddings received for them, auxiliary records."""

    own: Floats
    embeddings: Floats
    unknown: int
    auxiliary: Auxiliary

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.embeddings], axis=1)
