"""Releasing the predicted class alone (Jiang et al., section 6.1.3.1, rounding to integers)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.catalog import defense
from whatleaks.defenses.protocol import ReleaseDefense
from whatleaks.defenses.rounding import Rounding


@defense(
    "label-only-once",
    title="The class alone, and the first answer again to whoever asks again",
    paper="whatleaks",
    needs="an active party that can work without scores, a coordinator that remembers its answers",
    settings={"once": True},
)
@defense(
    "label-only",
    title="Only the predicted class is released",
    paper="Jiang et al. 2022",
    needs="an active party that can work without scores",
)
@dataclass(frozen=True)
class LabelOnly(ReleaseDefense):
    """One for the predicted class, zero for the others. Accuracy does not change.

    ``once``: asked about a person again, with whatever own columns, the first answer is repeated.
    """

    once: bool = False

    @property
    def name(self) -> str:
        """The defense."""
        return "label-only-once" if self.once else "label-only"

    @property
    def answers_once(self) -> bool:
        """Whether the first answer about a person is the only one."""
        return self.once

    def follows(self, other: ReleaseDefense) -> bool:
        """The class is that of the largest rounded score, up to ties; one answer is among many."""
        again = isinstance(other, LabelOnly) and self.once and not other.once
        return again or isinstance(other, Rounding)

    def release(self, scores: Floats, rng: np.random.Generator) -> Floats:
        """Keep only which score is largest."""
        del rng
        out = np.zeros_like(scores)
        out[np.arange(len(scores)), scores.argmax(axis=1)] = 1.0
        return out
