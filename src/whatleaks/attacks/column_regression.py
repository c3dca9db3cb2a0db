"""Column regression: each column learnt on known people, then moved to fit the scores.

Not in the paper. ``null_space_regression`` learns the part that the equations A x = b' leave open
(A Eq 6), all of it in one way. Where columns differ much in how they vary and in what tells them, each
is better learnt by itself, from the own columns alone; what the scores add then follows from the
equations: with S the covariance of what people left out miss and R what their scores are off by
(rounded, noisy, or weights that are not the true ones), the best linear correction of a guess g is
S A' (A S A' + R)^-1 (b' - A g).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.answer_range import kept_in_range
from whatleaks.attacks.equations import equations
from whatleaks.attacks.told_blur import ToldBlur
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.additive import log_ratios
from whatleaks.models.few_records import learnt_each, spread_along
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.known import KnownLinearView


@attack(
    "column-regression",
    title="Each column learnt on known people, then moved to fit the scores",
    paper="whatleaks",
    needs="scores, the whole linear model, and complete records of some people",
)
@travels
@dataclass(frozen=True)
class ColumnRegression(ToldBlur):
    """Answers are kept in the columns' range before and after they are moved."""

    name: str = "column-regression"

    def infer(self, view: KnownLinearView, rng: np.random.Generator) -> ValueGuess:
        """Learn on the known people, answer for the targets, move the answers to the equations."""
        view = self.worked_out(view, rng)
        known = view.auxiliary
        system = equations(view.own, log_ratios(view.scores), view.model)
        theirs = equations(known.own, log_ratios(known.released), view.model)
        learnt = learnt_each(known.own, known.passive, view.own)
        guess = kept_in_range(learnt.values, view)
        across = spread_along(learnt.left_out, system.matrix.T)
        off = theirs.right - known.passive @ system.matrix.T
        told = system.matrix @ across + np.diag((off**2).mean(axis=0))
        move = (system.right - guess @ system.matrix.T) @ np.linalg.pinv(told) @ across.T
        return ValueGuess(sealed(kept_in_range(guess + move, view)))
