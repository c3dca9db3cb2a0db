"""Laplace noise on the gradients that a passive party receives (Yao et al. VII, Table IX)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.catalog import defense
from whatleaks.defenses.protocol import MessageDefense
from whatleaks.errors import UsageError


@defense(
    "gradient-noise-0.5",
    title="Laplace noise on received gradients, epsilon 0.5",
    paper="Yao et al. 2025, Table IX",
    needs="passive parties that add noise to every answer before they learn from it",
    settings={"epsilon": 0.5},
    family=("gradient-noise", "epsilon"),
)
@dataclass(frozen=True)
class GradientNoise(MessageDefense):
    """Add Laplace noise of scale s / epsilon to every number of an answer.

    Yao et al. do not say what s is. Here it is the mean size of the answer's own numbers: at
    epsilon 1 noise and gradient are of one size. This is no differential privacy: nothing
    bounds what one record contributes, and s depends on the data.
    """

    kinds: ClassVar[frozenset[str]] = frozenset({"gradients"})
    epsilon: float = 0.5

    def __post_init__(self) -> None:
        """Refuse what is no noise."""
        if self.epsilon <= 0.0:
            raise UsageError(f"gradient-noise needs an epsilon above 0, got {self.epsilon}")

    @property
    def name(self) -> str:
        """The defense and its epsilon."""
        return f"gradient-noise-{self.epsilon:g}"

    def alter(self, sender: str, kind: str, values: Floats, rng: np.random.Generator) -> Floats:
        """Add the noise to gradients; an answer of no records stays what it is."""
        del sender
        if kind not in self.kinds or not values.size:
            return values
        scale = float(np.abs(values).mean()) / self.epsilon
        return values + rng.laplace(0.0, scale, values.shape)
