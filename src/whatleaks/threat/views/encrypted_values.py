"""The view of the active party in an encrypted regression who knows some elements of the table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from whatleaks.arrays import Ints, sealed_ints
from whatleaks.codec import travels
from whatleaks.threat.grants import Grant, KnownValues
from whatleaks.threat.views.encrypted import EncryptedLinearView


@travels
@dataclass(frozen=True)
class EncryptedValuesView(EncryptedLinearView):
    """Own gradients of the training, and single elements of the partner's table (L 4.3, 4.4)."""

    needs: ClassVar[tuple[type[Grant], ...]] = (KnownValues,)

    known: KnownValues = field(kw_only=True)

    def exchanged(self, order: Ints) -> Self:
        """Return the view of renamed records; the known values go with theirs.

        What those alone are worth is a baseline of its own.
        """
        place = np.argsort(order)
        known = replace(self.known, rows=sealed_ints(place[self.known.rows]))
        return replace(self.renamed(order), known=known)
