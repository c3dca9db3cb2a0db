"""half* (Varasteh, Eq 14): the solution of the score equations that is nearest to one half."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.equations import Equations, equations
from whatleaks.attacks.possible_values import snapped
from whatleaks.attacks.told_blur import ToldBlur
from whatleaks.catalog import attack
from whatleaks.citations import VARASTEH
from whatleaks.codec import travels
from whatleaks.models.additive import log_ratios
from whatleaks.models.box_solutions import half_star
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import WhiteBoxLinearView


def nearest_to_half(system: Equations) -> Floats:
    """Return A^+ b' + (I - A^+ A) 1/2 for every record (A Eq 14)."""
    return half_star(system.matrix, system.right)


@attack(
    "half-star",
    title="half*: the solution nearest to one half",
    paper=VARASTEH,
    needs="exact scores, the whole linear model and the columns' ranges",
)
@attack(
    "half-star-snapped",
    title="half*, moved to values that the columns can take",
    paper=f"whatleaks, after {VARASTEH}",
    needs="exact scores, the whole linear model and what values the columns can take",
    settings={"snap": True},
)
@travels
@dataclass(frozen=True)
class HalfStar(ToldBlur):
    """``clip`` moves values outside [0, 1] to its border: A section IV-C, the first strategy.

    ``snap``: not in the paper; moves values to the nearest ones that the schema allows.
    """

    clip: bool = True
    snap: bool = False

    @property
    def name(self) -> str:
        """half*, clipped as in the paper or raw as in its closed forms."""
        name = "half-star" if self.clip else "half-star-raw"
        return f"{name}-snapped" if self.snap else name

    @property
    def stream(self) -> str:
        """Where its luck comes from: moving the answers afterwards takes no luck of its own."""
        return replace(self, snap=False).name

    def infer(self, view: WhiteBoxLinearView, rng: np.random.Generator) -> ValueGuess:
        """Solve for every record at once."""
        view = self.worked_out(view, rng)
        system = equations(view.own, log_ratios(view.scores), view.model)
        values = nearest_to_half(system)
        values = np.clip(values, 0.0, 1.0) if self.clip else values
        return ValueGuess(sealed(snapped(values, view) if self.snap else values))
