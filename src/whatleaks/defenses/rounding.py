"""Rounding scores down to a number of digits (Luo et al., section VII)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.catalog import defense
from whatleaks.defenses.protocol import ReleaseDefense
from whatleaks.errors import UsageError


@defense(
    "rounding-3",
    title="Scores rounded down to 3 digits",
    paper="Luo et al. 2021",
    needs="a coordinator who rounds before it sends",
    settings={"digits": 3},
    family=("rounding", "digits"),
)
@defense(
    "rounding-1",
    title="Scores rounded down to 1 digit",
    paper="Luo et al. 2021",
    needs="a coordinator who rounds before it sends",
    settings={"digits": 1},
    family=("rounding", "digits"),
)
@dataclass(frozen=True)
class Rounding(ReleaseDefense):
    """Keep ``digits`` digits after the point and cut the rest. The scores need not sum to one any more."""

    compared: ClassVar[tuple[str, ...]] = ("rounding-2",)

    digits: int = 1

    def __post_init__(self) -> None:
        """Refuse a number of digits that means nothing."""
        if not 0 <= self.digits <= 12:
            raise UsageError(f"rounding keeps 0 to 12 digits, got {self.digits}")

    @property
    def name(self) -> str:
        """The defense and its digits."""
        return f"rounding-{self.digits}"

    def follows(self, other: ReleaseDefense) -> bool:
        """Fewer digits follow from more: the rest is cut off."""
        return isinstance(other, Rounding) and self.digits < other.digits

    def told(self) -> Mapping[str, Any]:
        """Return how many digits are left."""
        return {"cut": self.digits}

    def release(self, scores: Floats, rng: np.random.Generator) -> Floats:
        """Cut every score."""
        del rng
        scale = 10.0**self.digits
        # The tiny shift keeps a score of exactly 0.3 from being cut to 0.2 by its own last bit.
        return np.floor(scores * scale + 1e-9) / scale
