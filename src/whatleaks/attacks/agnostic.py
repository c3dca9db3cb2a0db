"""The agnostic attack (Varasteh, section IV-B): guess the score, then solve with the guess.

The adversary fits a model of its own on its training columns and labels (Eq 8), reads the
target's score off that model, and goes on as if the score had been released (Eqs 15-17).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.equations import Equations, equations
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
@attack(
    "agnostic-weighted",
    title="Agnostic inference that trusts an estimated score as far as it is plausible",
    paper=f"whatleaks, after {VARASTEH}",
    needs="its own training columns and labels, the whole linear model; no score",
    settings={"weigh": True},
)
@travels
@dataclass(frozen=True)
class AgnosticInference:
    """The adversary model with half*; ``clip`` as the paper's first strategy.

    ``weigh``: not in the paper. Every estimated equation counts by its own expected error, the second
    term of Eq 21 (``plausible``).
    """

    clip: bool = True
    weigh: bool = False

    @property
    def name(self) -> str:
        """The adversary model (AM)."""
        name = "agnostic" if self.clip else "agnostic-raw"
        return f"{name}-weighted" if self.weigh else name

    def infer(self, view: AgnosticView, rng: np.random.Generator) -> ValueGuess:
        """Fit the adversary model, estimate the log-ratios, solve for every record at once."""
        del rng
        ratios = self.estimate_ratios(view)
        system = equations(view.own, ratios, view.model)
        values = nearest_to_half(plausible(system) if self.weigh else system)
        return ValueGuess(sealed(np.clip(values, 0.0, 1.0) if self.clip else values))

    def estimate_ratios(self, view: AgnosticView) -> Floats:
        """Estimate c' of the target records from the own columns alone (A Eqs 8 and 15)."""
        if not isinstance(view.model.active, Linear):
            raise AttackError(
                "the agnostic attack solves equations of a linear model: use another attack"
            )
        adversary_model = fit_logistic(view.training_own, view.training_labels, view.model.active)
        return adjacent_differences(adversary_model.logits(view.own))


def plausible(system: Equations) -> Equations:
    """Pull estimated right sides towards those of one half, as far as they vary too much.

    In the directions of A's singular vectors, A x of unrelated values at the ends of their range
    differs from its value at one half by s^2 / 4 in the mean square. What the estimates differ more
    is their error: the trace of K in the second term of A Eq 21, direction by direction. The best
    linear weight is then signal / (signal + error) = (s^2 / 4) / observed, and never more than one.
    Values spread evenly have s^2 / 12: with that, columns of yes and no and columns whose values
    lie near an end were distrusted for what they are.
    """
    left, sizes, _ = np.linalg.svd(system.matrix, full_matrices=False)
    centre = system.matrix @ np.full(system.matrix.shape[1], 0.5)
    off = (system.right - centre) @ left
    observed = (off**2).mean(axis=0)
    weights = np.minimum(1.0, sizes**2 / 4.0 / np.maximum(observed, 1e-300))
    return Equations(system.matrix, np.asarray(centre + (off * weights) @ left.T))
