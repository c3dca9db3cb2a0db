"""The regression on known people where trees release classes or votes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.ridge import learnt
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.known_trees import KnownVotesView


@attack(
    "known-regression-votes",
    title="Regression on known people, from own columns and votes",
    paper="whatleaks",
    needs="its own columns, classes or votes, and complete records of some people",
)
@travels
@dataclass(frozen=True)
class KnownVotesRegression:
    """Ridge regression on own columns and released votes, learnt on the known people."""

    name: str = "known-regression-votes"

    def infer(self, view: KnownVotesView, rng: np.random.Generator) -> ValueGuess:
        """Learn on the known people, answer for the targets."""
        del rng
        known = view.auxiliary
        inputs = np.concatenate([known.own, known.released], axis=1)
        return ValueGuess(sealed(learnt(inputs, known.passive, view.evidence())))
