"""The regression of one who has auxiliary records and may ask the passive party's network about them.

The plainest attack on embeddings: whatever else is tried with the same grants must beat it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.answer_range import kept_in_range
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.ridge import learnt
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.split import QueryView


@attack(
    "embedding-regression",
    title="A regression on the auxiliary records and the passive party's answers to them",
    paper="whatleaks",
    needs="auxiliary records and the passive party's answers to them, embeddings",
)
@travels
@dataclass(frozen=True)
class EmbeddingRegression:
    """Ridge regression from own columns and embeddings side by side, kept in the columns' range."""

    name: str = "embedding-regression"

    def infer(self, view: QueryView, rng: np.random.Generator) -> ValueGuess:
        """Have the auxiliary records answered, regress, predict from what was received."""
        del rng
        records = view.auxiliary
        answers = view.model(self.name).answers(records.passive)
        known = np.concatenate([records.own, answers], axis=1)
        seen = np.concatenate([view.own, view.embeddings], axis=1)
        values = learnt(known, records.passive, seen)
        return ValueGuess(sealed(kept_in_range(values, view)))
