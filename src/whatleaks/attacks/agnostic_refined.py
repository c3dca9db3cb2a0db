"""The agnostic attack with a refined adversary model (Varasteh, Eq 9).

Scores that were released on other records say what the joint model does with the adversary's own
columns; the adversary's model is fitted to them as well as to the training labels. The target's
score is still guessed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.equations import equations
from whatleaks.attacks.half_star import nearest_to_half
from whatleaks.catalog import attack
from whatleaks.citations import VARASTEH
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.models.additive import adjacent_differences
from whatleaks.models.adversary_model import Seen, refined
from whatleaks.models.linear import Linear
from whatleaks.models.logistic import chosen_strength, fit_logistic
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.agnostic import EarlierView

MOST_RECORDS = 100_000  # that the model is fitted on: its few weights need no more


@attack(
    "agnostic-refined",
    title="Agnostic inference, the adversary model refined by scores seen before",
    paper=VARASTEH,
    needs="its own training columns and labels, the whole linear model, scores of other records",
)
@travels
@dataclass(frozen=True)
class AgnosticRefined:
    """``alpha`` weighs the scores seen; where only classes were released, ``beta`` weighs these.

    The paper sets (1, 0) with scores and (0, 1) with classes. A release with a score of zero has no
    ratios and is read as classes.
    """

    alpha: float = 1.0
    beta: float = 1.0
    clip: bool = True
    name: str = "agnostic-refined"

    def infer(self, view: EarlierView, rng: np.random.Generator) -> ValueGuess:
        """Fit Eq 8, refine it by Eq 9, estimate the log-ratios, solve for every record at once."""
        del rng
        model, step = view.model.active, -(-len(view.training_own) // MOST_RECORDS)
        own, labels = view.training_own[::step], view.training_labels[::step]
        if not isinstance(model, Linear):
            raise AttackError(
                "the agnostic attack solves equations of a linear model: use another attack"
            )
        seen = view.earlier
        if not len(seen.scores):
            raise AttackError("no score was seen before: the agnostic attack is all that is left")
        strength = chosen_strength(own, labels)
        first = fit_logistic(own, labels, model, strength)
        exact = float(seen.scores.min()) > 0.0
        found = refined(
            first,
            own,
            labels,
            Seen(
                seen.own,
                scores=seen.scores if exact else None,
                classes=None if exact else seen.scores.argmax(axis=1),
            ),
            alpha=self.alpha if exact else 0.0,
            beta=0.0 if exact else self.beta,
            penalty=0.5 / (strength * len(own)),  # the one that the first model has
        )
        ratios = adjacent_differences(found.logits(view.own))
        values = nearest_to_half(equations(view.own, ratios, view.model))
        return ValueGuess(sealed(np.clip(values, 0.0, 1.0) if self.clip else values))
