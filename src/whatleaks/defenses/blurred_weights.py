"""Blurred weights (Varasteh, section V-B): disclose misleading weights near the true ones.

The federation keeps the true weights, so every delivered score stays as it was. What the active
party is told about the passive party's weights is chosen to mislead half* most at a given distance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.catalog import defense
from whatleaks.citations import VARASTEH
from whatleaks.defenses.protocol import ParameterDefense
from whatleaks.errors import UsageError, argument
from whatleaks.models.additive import Additive
from whatleaks.models.blurring import blurred
from whatleaks.models.closed_errors import moments
from whatleaks.models.linear import Linear
from whatleaks.models.unblurring import SECRETS
from whatleaks.threat.grants import LinearModel


@defense(
    "blurred-weights-25",
    title="Misleading weights, 25 % of their mean square away",
    paper=VARASTEH,
    needs="a coordinator who keeps the true weights; an active party who accepts others",
    settings={"percent": 25},
    family=("blurred-weights", "percent"),
)
@dataclass(frozen=True)
class BlurredWeights(ParameterDefense):
    """``percent`` of the weights' mean square is the distance g (Eq 33), or ``epsilon`` itself if given.

    ``secret``: Remarks 10 and 13. ``epsilon``: a smaller one is drawn and not told; ``sign``: the true
    weights or their negative, by the toss of a coin.
    """

    percent: int = 25
    epsilon: float = 0.0
    secret: str = ""

    def __post_init__(self) -> None:
        """Refuse distances and secrets that do not exist."""
        if not 0 <= self.percent <= 400:
            raise UsageError(
                f"{argument('percent')} is 0 to 400 percent of the weights' mean square, got "
                f"{self.percent}"
            )
        if not 0.0 <= self.epsilon < math.inf:
            raise UsageError(
                f"{argument('epsilon')} must be a number of at least 0, got {self.epsilon:g}"
            )
        if self.secret not in SECRETS:
            raise UsageError(
                f"{argument('secret')} is epsilon or empty, or sign in a study, got {self.secret!r}"
            )

    @property
    def name(self) -> str:
        """The defense, its distance and its secret."""
        far = f"epsilon-{self.epsilon:g}" if self.epsilon else f"{self.percent}"
        return f"blurred-weights-{far}" + (f"-secret-{self.secret}" if self.secret else "")

    def fits(self, kind: type[Any]) -> bool:
        """Only linear parts have weights that solve to values."""
        return issubclass(kind, LinearModel)

    def told(self) -> Mapping[str, Any]:
        """Return how far the weights were moved, and what of that is secret: the scheme is public."""
        return {
            "blur_percent": float(self.percent),
            "blur_epsilon": self.epsilon,
            "blur_secret": self.secret,
        }

    def distance(self, weights: Floats) -> float:
        """Return epsilon for these weights."""
        return self.epsilon or self.percent / 100.0 * float((weights**2).mean())

    def disclose(self, grant: Any, columns: Floats, rng: np.random.Generator) -> Any:
        """Blur the passive part's weights; its bias stays."""
        assert isinstance(grant, LinearModel)
        part = grant.model.passive
        assert isinstance(part, Linear)
        epsilon = self.distance(part.weights)
        if self.secret == "sign":
            weights = part.weights if rng.random() < 0.5 else -part.weights
        else:
            if self.secret == "epsilon":
                epsilon *= float(rng.random())
            weights = blurred(part.weights, moments(columns), epsilon, rng).weights
        moved = Linear(sealed(weights), part.bias)
        return LinearModel(Additive(grant.model.active, moved))
