"""The view of an active party that asks about people again with own parts of its choice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.codec import travels
from whatleaks.models.additive import adjacent_differences
from whatleaks.models.asked_otherwise import OtherAnswers, log_odds
from whatleaks.models.linear import Linear
from whatleaks.threat.grants import ChosenParts, Grant, LinearModel
from whatleaks.threat.views.prediction import WhiteBoxLinearView


@travels
@dataclass(frozen=True)
class AskedLinearView(WhiteBoxLinearView):
    """Scores, the linear model, and the answers to further questions about the same records."""

    needs: ClassVar[tuple[type[Grant], ...]] = (LinearModel, ChosenParts)

    asked: OtherAnswers

    def exchanged(self, order: Ints) -> Self:
        """Return the view with every record's answers taken from another; own columns stay."""
        held = self.asked
        asked = OtherAnswers(sealed(held.shifts[:, order]), sealed(held.answers[:, order]))
        return replace(super().exchanged(order), asked=asked)

    def told(self) -> tuple[Floats, Floats]:
        """Return between which log-odds each pair of adjacent classes lies, asked honestly.

        The ranges and the model say where they can lie at all.
        """
        own, theirs = self.model.active.logits(self.own), self.model.passive
        assert isinstance(theirs, Linear)
        weights = adjacent_differences(theirs.weights)
        low = np.zeros(self.unknown) if self.ranges is None else self.ranges.low
        high = np.ones(self.unknown) if self.ranges is None else self.ranges.high
        least, most = (
            adjacent_differences(own + theirs.bias)
            + np.maximum(weights, 0.0).T.dot(up)
            + np.minimum(weights, 0.0).T.dot(down)
            for up, down in ((low, high), (high, low))
        )
        first, last = log_odds(self.asked)
        return np.clip(first, least, most), np.clip(last, least, most)

    def evidence(self) -> Floats:
        """Return one row per record: what a single answer tells, and what all tell together."""
        low, high = self.told()
        return np.concatenate([super().evidence(), 0.5 * (low + high)], axis=1)
