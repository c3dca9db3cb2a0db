"""The agnostic attack (Varasteh, section IV-B): guess the score, then solve with the guess.

The adversary fits a model of its own on its training columns and labels (Eq 8), reads the
target's score off that model, and goes on as if the score had been released (Eqs 15-17).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.equations import equations
from whatleaks.attacks.half_star import nearest_to_half
from whatleaks.catalog import attack
from whatleaks.citations import VARASTEH
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.models.additive import adjacent_differences
from whatleaks.models.linear import Linear
from whatleaks.models.logistic import fit_logistic
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.agnostic import AgnosticView


@attack(
    "agnostic",
    title="Agnostic inference: adversary model and half*",
    paper=VARASTEH,
    needs="its own training columns and labels, the whole linear model; no score",
)
@travels
@dataclass(frozen=True)
class AgnosticInference:
    """The adversary model with half*; ``clip`` as the paper's first strategy."""

    clip: bool = True

    @property
    def name(self) -> str:
        """The adversary model (AM)."""
        return "agnostic" if self.clip else "agnostic-raw"

    def infer(self, view: AgnosticView, rng: np.random.Generator) -> ValueGuess:
        """Fit the adversary model, estimate the log-ratios, solve for every record at once."""
        del rng
        ratios = self.estimate_ratios(view)
        values = nearest_to_half(equations(view.own, ratios, view.model))
        return ValueGuess(sealed(np.clip(values, 0.0, 1.0) if self.clip else values))

    def estimate_ratios(self, view: AgnosticView) -> Floats:
        """Estimate c' of the target records from the own columns alone (A Eqs 8 and 15)."""
        if not isinstance(view.model.active, Linear):
            raise AttackError(
                "the agnostic attack solves equations of a linear model: use another attack"
            )
        adversary_model = fit_logistic(view.training_own, view.training_labels, view.model.active)
        return adjacent_differences(adversary_model.logits(view.own))
