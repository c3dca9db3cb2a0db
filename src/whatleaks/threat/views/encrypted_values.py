"""The view of the active party in an encrypted regression who knows some elements of the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from whatleaks.codec import travels
from whatleaks.threat.grants import Grant, KnownValues
from whatleaks.threat.views.encrypted import EncryptedLinearView


@travels
@dataclass(frozen=True)
class EncryptedValuesView(EncryptedLinearView):
    """Own gradients of the training, and single elements of the partner's table (L 4.3, 4.4)."""

    needs: ClassVar[tuple[type[Grant], ...]] = (KnownValues,)

    known: KnownValues = field(kw_only=True)
