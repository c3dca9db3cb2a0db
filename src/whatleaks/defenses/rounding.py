"""Rounding scores down to a number of digits (Luo et al., section VII)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import UsageError


@dataclass(frozen=True)
class Rounding:
    """Keep ``digits`` digits after the point and cut the rest. The scores need not sum to one any more."""

    digits: int = 1

    def __post_init__(self) -> None:
        """Refuse a number of digits that means nothing."""
        if not 0 <= self.digits <= 12:
            raise UsageError(f"rounding keeps 0 to 12 digits, got {self.digits}")

    @property
    def name(self) -> str:
        """The defense and its digits."""
        return f"rounding-{self.digits}"

    def release(self, scores: Floats, rng: np.random.Generator) -> Floats:
        """Cut every score."""
        del rng
        scale = 10.0**self.digits
        # The tiny shift keeps a score of exactly 0.3 from being cut to 0.2 by its own last bit.
        return np.floor(scores * scale + 1e-9) / scale
