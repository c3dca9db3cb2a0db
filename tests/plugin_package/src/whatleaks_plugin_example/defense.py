"""A defense: scores leave the house in quarters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.catalog import defense
from whatleaks.defenses.protocol import ReleaseDefense


@defense(
    "example-steps-4",
    title="Example: scores in quarters",
    paper="example",
    needs="a coordinator who rounds before it sends",
    settings={"steps": 4},
    family=("example-steps", "steps"),
)
@dataclass(frozen=True)
class Steps(ReleaseDefense):
    """Round every score to a multiple of 1 / ``steps``."""

    steps: int = 4

    @property
    def name(self) -> str:
        """The defense and its steps."""
        return f"example-steps-{self.steps}"

    def release(self, scores: Floats, rng: np.random.Generator) -> Floats:
        """Round."""
        del rng
        return np.round(scores * self.steps) / self.steps
