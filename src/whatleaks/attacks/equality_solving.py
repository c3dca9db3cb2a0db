"""Equality solving (Luo et al. 2021, section IV-A): the pseudo-inverse of the score equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import seal
from whatleaks.attacks.equations import equations
from whatleaks.catalog import attack
from whatleaks.citations import LUO
from whatleaks.codec import travels
from whatleaks.models.additive import log_ratios
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import WhiteBoxLinearView


@attack(
    "equality-solving",
    title="Equality solving",
    paper=LUO,
    needs="exact scores and the whole linear model; 2 or more classes",
)
@attack(
    "equality-solving-clipped",
    title="Equality solving, clipped to the range",
    paper=LUO,
    needs="exact scores, the whole linear model and the columns' ranges",
    settings={"clip": True},
)
@travels
@dataclass(frozen=True)
class EqualitySolving:
    """Exact while the unknown columns are fewer than the classes; else the solution of least norm.

    ``clip``: not in the paper, which leaves the guess unclipped. On, it moves values to
    the public range [0, 1].
    """

    clip: bool = False

    @property
    def name(self) -> str:
        """Equality solving, raw or clipped."""
        return "equality-solving-clipped" if self.clip else "equality-solving"

    def infer(self, view: WhiteBoxLinearView, rng: np.random.Generator) -> ValueGuess:
        """Solve A x = b' for every record at once."""
        del rng
        system = equations(view.own, log_ratios(view.scores), view.model)
        values = system.right @ np.linalg.pinv(system.matrix).T  # U IV-A: x = Theta^+ a
        return ValueGuess(seal(values.clip(0.0, 1.0, out=values) if self.clip else values))
