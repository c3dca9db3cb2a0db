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
@travels
@dataclass(frozen=True)
class KnownRegression:
    """Ridge regression; scores enter as log ratios, in which additive models are linear.

    Answers are kept in the columns' range.
    """

    name: str = "known-regression"

    def infer(self, view: KnownView, rng: np.random.Generator) -> ValueGuess:
        """Learn on the known people, answer for the targets."""
        del rng
        known = view.auxiliary
        line = fitted(_inputs(known.own, known.released), known.passive)
        return ValueGuess(sealed(kept_in_range(line(_inputs(view.own, view.scores)), view)))


def _inputs(own: Floats, scores: Floats) -> Floats:
    return np.concatenate([own, log_ratios(scores)], axis=1)
