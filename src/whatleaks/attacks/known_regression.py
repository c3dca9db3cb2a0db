"""The regression on known people: from own columns and scores to the passive columns.

The plainest attack of an adversary who has complete records of some people. Whatever else is
tried with the same records must beat it; the baseline ``auxiliary-regression`` is the same
without the scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.answer_range import kept_in_range
from whatleaks.attacks.possible_values import snapped_where_nearer
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.additive import log_ratios
from whatleaks.models.ridge import fitted
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.known import KnownView


@attack(
    "known-regression",
    title="Regression on known people, from own columns and scores",
    paper="whatleaks",
    needs="its own columns, scores, and complete records of some people",
)
@attack(
    "known-regression-snapped",
    title="Regression on known people, moved to possible values where people left out allow it",
    paper="whatleaks",
    needs="its own columns, scores, complete records of some people, and what values the columns "
    "can take",
    settings={"snap": True},
    again=False,
)
@travels
@dataclass(frozen=True)
class KnownRegression:
    """Ridge regression; scores enter as log ratios, in which additive models are linear.

    Answers are kept in the columns' range.
    ``snap`` moves a column to values that the schema allows if that meets people left out better.
    """

    snap: bool = False

    @property
    def name(self) -> str:
        """The attack, with or without the schema."""
        return "known-regression-snapped" if self.snap else "known-regression"

    def infer(self, view: KnownView, rng: np.random.Generator) -> ValueGuess:
        """Learn on the known people, answer for the targets."""
        del rng
        known = view.auxiliary
        line = fitted(_inputs(known.own, known.released), known.passive)
        values = kept_in_range(line(_inputs(view.own, view.scores)), view)
        if self.snap:
            left_out = kept_in_range(known.passive - line.left_out, view)
            values = snapped_where_nearer(values, left_out, known.passive, view)
        return ValueGuess(sealed(values))


def _inputs(own: Floats, scores: Floats) -> Floats:
    return np.concatenate([own, log_ratios(scores)], axis=1)
