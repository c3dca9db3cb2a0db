"""The view of an attack that never sees its target's score."""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.arrays import Floats, Ints
from whatleaks.codec import travels
from whatleaks.models.additive import Additive


@travels
@dataclass(frozen=True)
class AgnosticView:
    """Own columns of training and target records, the training labels, the model; no scores (A IV-B)."""

    training_own: Floats
    training_labels: Ints
    own: Floats
    unknown: int
    model: Additive

    def evidence(self) -> Floats:
        """Return one row per record: without a score, only the own columns speak of it."""
        return self.own
