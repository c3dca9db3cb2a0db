"""The regression on known people where trees release classes or votes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.answer_range import kept_in_range
from whatleaks.attacks.possible_values import snapped_where_nearer
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.ridge import fitted
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.known_trees import KnownVotesView


@attack(
    "known-regression-votes",
    title="Regression on known people, from own columns and votes",
    paper="whatleaks",
    needs="its own columns, classes or votes, and complete records of some people",
)
@attack(
    "known-regression-votes-snapped",
    title="Regression on known people and votes, moved to possible values where people left out allow it",
    paper="whatleaks",
    needs="its own columns, classes or votes, complete records of some people, and what values the "
    "columns can take",
    settings={"snap": True},
    again=False,
)
@travels
@dataclass(frozen=True)
class KnownVotesRegression:
    """Ridge regression on own columns and released votes, learnt on the known people.

    Answers are kept in the columns' range.
    ``snap`` moves a column to values that the schema allows if that meets people left out better.
    """

    snap: bool = False

    @property
    def name(self) -> str:
        """The attack, with or without the schema."""
        return "known-regression-votes-snapped" if self.snap else "known-regression-votes"

    def infer(self, view: KnownVotesView, rng: np.random.Generator) -> ValueGuess:
        """Learn on the known people, answer for the targets."""
        del rng
        known = view.auxiliary
        line = fitted(np.concatenate([known.own, known.released], axis=1), known.passive)
        values = kept_in_range(line(view.evidence()), view)
        if self.snap:
            left_out = kept_in_range(known.passive - line.left_out, view)
            values = snapped_where_nearer(values, left_out, known.passive, view)
        return ValueGuess(sealed(values))
