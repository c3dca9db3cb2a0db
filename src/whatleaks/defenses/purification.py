"""Scores passed through an autoencoder before they leave (Jiang et al., section 6.1.3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.catalog import defense
from whatleaks.defenses.protocol import ReleaseDefense
from whatleaks.errors import UsageError
from whatleaks.models.purifier import SOURCES, Purifier, trained_purifier


@defense(
    "purifier-real",
    title="Scores through an autoencoder that was trained on scores",
    paper="Jiang et al. 2022",
    needs="a coordinator who trains an autoencoder on the training records' scores",
    settings={"source": "real"},
)
@defense(
    "purifier-random",
    title="Scores through an autoencoder that was trained on random numbers",
    paper="Jiang et al. 2022",
    needs="a coordinator with an autoencoder",
    settings={"source": "random"},
)
@dataclass(frozen=True)
class Purification(ReleaseDefense):
    """``source``: what it is trained on. Real: the scores of the records that trained the model."""

    learns: ClassVar[bool] = True

    source: str = "random"
    fitted: Purifier | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a source that does not exist."""
        if self.source not in SOURCES:
            raise UsageError(f"a purifier is trained on one of {', '.join(SOURCES)}")

    @property
    def name(self) -> str:
        """The defense and what it is trained on."""
        return f"purifier-{self.source}"

    def told(self) -> Mapping[str, Any]:
        """Return what the autoencoder was trained on."""
        return {"purifier": self.source}

    def learnt(self, scores: Floats) -> Purification:
        """Train on the training records' scores, where that is what it is trained on."""
        if self.source == "random":
            return self
        return replace(self, fitted=trained_purifier(scores.shape[1], scores))

    def release(self, scores: Floats, rng: np.random.Generator) -> Floats:
        """Purify; one that was never shown training scores learns on those at hand."""
        del rng
        if self.source == "random":
            return trained_purifier(scores.shape[1]).apply(scores)
        found = self.fitted or trained_purifier(scores.shape[1], scores)
        return found.apply(scores)
