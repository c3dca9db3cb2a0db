"""The exact score from coarse ones: asked again with other own parts until the class flips (ours).

The class alone, or a digit, tells on which side of a border a sum of two parts lies. Whoever
chooses one part at will finds the other by halving (``models.asked_otherwise``). Then it holds an
exact score, whatever was released, and answers as attacks on exact scores do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.equations import equations
from whatleaks.attacks.half_star import nearest_to_half
from whatleaks.attacks.lattice_decoding import decoded
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.errors import AttackError, UsageError
from whatleaks.models.grid_priors import flat_prior
from whatleaks.models.linear import Linear
from whatleaks.models.readings import SUMS, sum_readings
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.asked import AskedLinearView

HALF_STAR, LATTICE = "half-star", "lattice"
ASKED = "answers with own parts of its choice, the whole linear model"


@attack(
    "bisected-score",
    title="The exact score by asking until the class flips, then half*",
    paper="whatleaks",
    needs=f"{ASKED} and the columns' ranges",
)
@attack(
    "bisected-score-lattice",
    title="The exact score by asking until the class flips, then lattice decoding",
    paper="whatleaks",
    needs=f"{ASKED} and what values the columns can take",
    settings={"then": LATTICE},
)
@travels
@dataclass(frozen=True)
class BisectedScore:
    """``then``: how the exact score is read, by half* (A Eq 14) or by lattice decoding."""

    then: str = HALF_STAR

    def __post_init__(self) -> None:
        """Refuse a way that does not exist."""
        if self.then not in (HALF_STAR, LATTICE):
            raise UsageError(f"then is {HALF_STAR} or {LATTICE}, got {self.then!r}")

    @property
    def name(self) -> str:
        """The attack, and how it goes on."""
        return "bisected-score" if self.then == HALF_STAR else f"bisected-score-{self.then}"

    def infer(self, view: AskedLinearView, rng: np.random.Generator) -> ValueGuess:
        """Narrow down the log-odds of every record, then solve for all at once."""
        del rng
        own = view.model.active
        assert isinstance(own, Linear)  # so the view says
        low, high = view.told()
        system = equations(view.own, 0.5 * (low + high), view.model)
        if self.then == HALF_STAR:
            return ValueGuess(sealed(np.clip(nearest_to_half(system), 0.0, 1.0)))
        if view.schema is None:
            raise AttackError("lattice decoding needs the schema: what values a column can take")
        grids = view.schema.grids
        readings = sum_readings(system.right, system.matrix.T, grids)
        # What the answers leave open, and the rounding of the own part and of what was added to it.
        terms = np.abs(view.own) @ np.abs(own.weights) + np.abs(high).max()
        reach = 0.5 * (high - low) + 2.0 * SUMS * 2.0**-53 * float(terms.max())
        readings = replace(readings, low=readings.low - reach, high=readings.high + reach)
        return ValueGuess(sealed(decoded(readings, grids, flat_prior(grids))[0]))
