"""A linear score: one weight per column and output."""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.arrays import Floats
from whatleaks.codec import travels


@travels
@dataclass(frozen=True)
class Linear:
    """``x @ weights + bias``; ``weights`` is columns x outputs."""

    weights: Floats
    bias: Floats

    def logits(self, x: Floats) -> Floats:
        """Return the outputs for every record, before any link function."""
        z: Floats = x @ self.weights + self.bias
        return z
