"""An attack: the likelier the first class, the larger every unknown value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import PredictionView


@attack(
    "example-follow-score",
    title="Example: values that follow the first score",
    paper="example",
    needs="the scores",
)
@travels
@dataclass(frozen=True)
class FollowScore:
    """``weight`` says how closely the values follow the score; the rest is one half."""

    weight: float = 1.0
    name: str = "example-follow-score"

    def infer(self, view: PredictionView, rng: np.random.Generator) -> ValueGuess:
        """Answer for all records at once."""
        del rng
        value = 0.5 + self.weight * (view.scores[:, :1] - 0.5)
        return ValueGuess(sealed(np.repeat(value, view.unknown, axis=1)))
