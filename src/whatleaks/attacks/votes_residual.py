"""Votes residual: the score residual where trees release classes or votes (ours).

Trees add nothing up, so what a linear regression on own columns leaves of the votes is the partner's
doing only in part; the order of people is read off it all the same. No tree is needed, and nobody is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.attacks.score_residual import in_order
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.additive import adjacent_differences
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.tree import VotesView


@attack(
    "votes-residual",
    title="What own columns do not explain of the votes, as an order of people",
    paper="whatleaks",
    needs="its own columns and classes or votes",
    again=False,
)
@attack(
    "votes-residual-falling",
    title="The same order of people, more votes for later classes taken for lower values",
    paper="whatleaks",
    needs="its own columns and classes or votes",
    again=False,
    settings={"falling": True},
)
@travels
@dataclass(frozen=True)
class VotesResidual:
    """Every unknown column gets the same answer; ``falling``: turned round."""

    falling: bool = False

    @property
    def name(self) -> str:
        """The attack and its convention."""
        return "votes-residual-falling" if self.falling else "votes-residual"

    def infer(self, view: VotesView, rng: np.random.Generator) -> ValueGuess:
        """Regress the votes of all records on their own columns."""
        del rng
        return in_order(view, adjacent_differences(view.released), self.falling)
