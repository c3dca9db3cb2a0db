"""How a party scales its own columns before a network sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.codec import travels
from whatleaks.errors import UsageError

SCALINGS = ("none", "standard", "pixels")


@travels
@dataclass(frozen=True)
class Scale:
    """(x - centre) / spread, column by column."""

    centre: Floats
    spread: Floats

    def apply(self, columns: Floats) -> Floats:
        """Return the columns as a network sees them."""
        return sealed((columns - self.centre) / self.spread)

    def undo(self, columns: Floats) -> Floats:
        """Return columns of a network in the units of the table."""
        return sealed(columns * self.spread + self.centre)


def scale_of(kind: str, columns: Floats) -> Scale:
    """Learn a scale from the columns that a party holds.

    ``standard``: mean 0 and variance 1 (Yao et al. VI-A; a constant column is only centred);
    ``pixels``: 0 to 1 becomes -1 to 1; ``none``: as they are.
    """
    if kind not in SCALINGS:
        raise UsageError(f"unknown scaling {kind!r}: use one of {', '.join(SCALINGS)}")
    width = columns.shape[1]
    if kind == "standard":
        spread = columns.std(axis=0)
        return Scale(sealed(columns.mean(axis=0)), sealed(np.where(spread > 0.0, spread, 1.0)))
    centre, spread = (0.5, 0.5) if kind == "pixels" else (0.0, 1.0)
    return Scale(sealed(np.full(width, centre)), sealed(np.full(width, spread)))
