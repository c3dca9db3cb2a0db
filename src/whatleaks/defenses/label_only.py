"""Releasing the predicted class alone (Jiang et al., section 6.1.3.1, rounding to integers)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.catalog import defense
from whatleaks.defenses.protocol import ReleaseDefense
from whatleaks.defenses.rounding import Rounding


@defense(
    "label-only",
    title="Only the predicted class is released",
    paper="Jiang et al. 2022",
    needs="an active party that can work without scores",
)
@dataclass(frozen=True)
class LabelOnly(ReleaseDefense):
    """One for the predicted class, zero for the others. Accuracy does not change."""

    @property
    def name(self) -> str:
        """The defense."""
        return "label-only"

    def follows(self, other: ReleaseDefense) -> bool:
        """The class is that of the largest rounded score, up to ties."""
        return isinstance(other, Rounding)

    def release(self, scores: Floats, rng: np.random.Generator) -> Floats:
        """Keep only which score is largest."""
        del rng
        out = np.zeros_like(scores)
        out[np.arange(len(scores)), scores.argmax(axis=1)] = 1.0
        return out
