"""Solutions of the score equations chosen by another rule than half*'s, within the range.

From Rassouli, Varasteh and Gunduz (arXiv 2207.11788), whose work the agnostic attack builds on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.equations import equations
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.errors import UsageError, nearest
from whatleaks.models.additive import log_ratios
from whatleaks.models.box_solutions import ESTIMATORS, TREATMENTS
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import WhiteBoxLinearView


@attack(
    "nearest-in-range",
    title="The solution within the range that is nearest to one half",
    paper="Rassouli, Varasteh and Gunduz 2022",
    needs="exact scores, the whole linear model and the columns' ranges",
)
@travels
@dataclass(frozen=True)
class BoxSolution:
    """``estimator``: a name of ``models.box_solutions``; ``outside``: what is done beyond the range."""

    estimator: str = "nearest"
    outside: str = "clamp"

    def __post_init__(self) -> None:
        """Refuse names that do not exist."""
        for given, known in ((self.estimator, ESTIMATORS), (self.outside, TREATMENTS)):
            if given not in known:
                raise UsageError(
                    f"there is no {given!r} among {', '.join(known)}.{nearest(given, known)}"
                )

    @property
    def name(self) -> str:
        """The rule; the default has the catalog's name."""
        rule = "nearest-in-range" if self.estimator == "nearest" else f"box-{self.estimator}"
        return rule if self.outside == "clamp" else f"{rule}-{self.outside}"

    def infer(self, view: WhiteBoxLinearView, rng: np.random.Generator) -> ValueGuess:
        """Solve for every record at once."""
        del rng
        system = equations(view.own, log_ratios(view.scores), view.model)
        values = ESTIMATORS[self.estimator](system.matrix, system.right)
        return ValueGuess(sealed(TREATMENTS[self.outside](values)))
