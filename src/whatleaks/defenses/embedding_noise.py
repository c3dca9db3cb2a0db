"""Noise on the embeddings that a passive party sends (He et al. 2020; Yao et al. VII)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.catalog import defense
from whatleaks.defenses.protocol import MessageDefense
from whatleaks.errors import UsageError


@defense(
    "embedding-noise-0.5",
    title="Normal noise on embeddings, deviation 0.5",
    paper="He et al. 2020, as in Yao et al. 2025, Table VIII",
    needs="passive parties that add noise to what they send, in training and in prediction",
    settings={"sigma": 0.5},
    family=("embedding-noise", "sigma"),
)
@dataclass(frozen=True)
class EmbeddingNoise(MessageDefense):
    """Add N(0, sigma^2) to every number of an embedding.

    Nothing bounds an embedding, so sigma carries no guarantee: a network may grow its
    embeddings until the noise no longer matters.
    """

    kinds: ClassVar[frozenset[str]] = frozenset({"embeddings", "target-embeddings"})
    sigma: float = 0.5

    def __post_init__(self) -> None:
        """Refuse what is no noise."""
        if self.sigma <= 0.0:
            raise UsageError(f"embedding-noise needs a deviation above 0, got {self.sigma}")

    @property
    def name(self) -> str:
        """The defense and its deviation."""
        return f"embedding-noise-{self.sigma:g}"

    def alter(self, sender: str, kind: str, values: Floats, rng: np.random.Generator) -> Floats:
        """Add the noise to embeddings; leave the rest alone."""
        del sender
        return values + rng.normal(0.0, self.sigma, values.shape) if kind in self.kinds else values
