"""Views with auxiliary records: of whoever was given some, and of a split federation's active party."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.codec import travels
from whatleaks.threat.grants import Auxiliary, Grant


@travels
@dataclass(frozen=True)
class AuxiliaryView:
    """Own columns of the target records and complete records of other people; no message."""

    needs: ClassVar[tuple[type[Grant], ...]] = (Auxiliary,)

    own: Floats
    unknown: int
    auxiliary: Auxiliary

    def exchanged(self, order: Ints) -> Self:
        """Return the view itself: there is no message to exchange."""
        del order
        return self

    def evidence(self) -> Floats:
        """Return one row per record: only the own columns speak of it."""
        return self.own


@travels
@dataclass(frozen=True)
class SplitView(AuxiliaryView):
    """The same, and the embeddings received for the target records."""

    embeddings: Floats

    def exchanged(self, order: Ints) -> Self:
        """Return the view with every record's embedding taken from another; own columns stay."""
        return replace(self, embeddings=sealed(self.embeddings[order]))

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.embeddings], axis=1)
