"""What a defense is. What it acts on is its type; this file has the type that acts on releases."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from whatleaks.arrays import Floats


class ReleaseDefense(Protocol):
    """Changes scores before they leave the coordinator, so the transcript holds only the changed ones."""

    @property
    def name(self) -> str:
        """The short name under which results are stored."""
        ...

    def release(self, scores: Floats, rng: np.random.Generator) -> Floats:
        """Return the scores that leave the house."""
        ...
