"""The conditional mean of whoever knows some people and the whole model, where scores are released.

Ours: for networks, whose scores are no linear equations. On a linear model it answers what
null-space regression answers, less exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.told_blur import ToldBlur
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.additive import adjacent_differences, log_ratios
from whatleaks.models.conditional_mean import People, conditional_mean
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.known import KnownWhiteBoxView


@attack(
    "conditional-mean-known",
    title="The mean of likely values that the model scores as was seen",
    paper="whatleaks",
    needs="scores, the whole model, and complete records of some people",
)
@travels
@dataclass(frozen=True)
class ConditionalMeanKnown(ToldBlur):
    """Scores enter as log-ratios, which the model's outputs give without a link."""

    name: str = "conditional-mean-known"

    def infer(self, view: KnownWhiteBoxView, rng: np.random.Generator) -> ValueGuess:
        """Draw likely values for every record, keep and move those that fit its scores."""
        known, model = view.auxiliary, self.worked_out(view, rng).model

        def release(own: Floats, other: Floats) -> Floats:
            return adjacent_differences(model.logits(own, other))

        return ValueGuess(
            sealed(
                conditional_mean(
                    People(known.own, log_ratios(known.released)),
                    known.passive,
                    People(view.own, log_ratios(view.scores)),
                    release,
                    rng,
                )
            )
        )
