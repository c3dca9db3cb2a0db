"""half* (Varasteh, Eq 14): the solution of the score equations that is nearest to one half."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.equations import Equations, equations
from whatleaks.codec import travels
from whatleaks.models.additive import log_ratios
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import WhiteBoxPredictionView


def nearest_to_half(system: Equations) -> Floats:
    """Return A^+ b' + (I - A^+ A) 1/2 for every record (A Eq 14)."""
    inverse = np.linalg.pinv(system.matrix)
    centre = np.full(system.matrix.shape[1], 0.5)
    values: Floats = system.right @ inverse.T + (centre - inverse @ (system.matrix @ centre))
    return values


@travels
@dataclass(frozen=True)
class HalfStar:
    """``clip`` moves values outside [0, 1] to its border: A section IV-C, the first strategy."""

    clip: bool = True

    @property
    def name(self) -> str:
        """half*, clipped as in the paper or raw as in its closed forms."""
        return "half-star" if self.clip else "half-star-raw"

    def infer(self, view: WhiteBoxPredictionView, rng: np.random.Generator) -> ValueGuess:
        """Solve for every record at once."""
        del rng
        values = nearest_to_half(equations(view.own, log_ratios(view.scores), view.model))
        return ValueGuess(sealed(np.clip(values, 0.0, 1.0) if self.clip else values))
