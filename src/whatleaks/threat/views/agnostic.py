"""The view of an attack that never sees its target's score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from whatleaks.arrays import Floats, Ints
from whatleaks.codec import travels
from whatleaks.models.additive import Additive
from whatleaks.threat.grants import EarlierScores, Grant, LinearModel, Ranges, Schema


@travels
@dataclass(frozen=True)
class AgnosticView:
    """Own columns of training and target records, the training labels, the model; no scores (A IV-B)."""

    needs: ClassVar[tuple[type[Grant], ...]] = (LinearModel,)

    training_own: Floats
    training_labels: Ints
    own: Floats
    unknown: int
    model: Additive
    ranges: Ranges | None = field(default=None, kw_only=True)
    schema: Schema | None = field(default=None, kw_only=True)

    def exchanged(self, order: Ints) -> AgnosticView:
        """Return the view itself: there is no message to exchange."""
        del order
        return self

    def evidence(self) -> Floats:
        """Return one row per record: without a score, only the own columns speak of it."""
        return self.own


@travels
@dataclass(frozen=True)
class EarlierView(AgnosticView):
    """The same, and scores of other records that were asked about before (A Eq 9)."""

    earlier: EarlierScores = field(kw_only=True)
