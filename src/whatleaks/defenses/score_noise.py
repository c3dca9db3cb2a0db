"""Gaussian noise on the scores (Jiang et al., section 6.1.3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.catalog import defense
from whatleaks.defenses.protocol import ReleaseDefense
from whatleaks.errors import UsageError

ASKED = 10  # times: a bank that scores a customer every month has as many in a year


@defense(
    "noise-0.1",
    title="Gaussian noise of 0.1 on scores",
    paper="Jiang et al. 2022",
    needs="a coordinator who adds noise before it sends",
    settings={"sigma": 0.1},
    family=("noise", "sigma"),
)
@dataclass(frozen=True)
class ScoreNoise(ReleaseDefense):
    """Add N(0, sigma^2) to every score.

    Not in the paper: scores below zero are set to zero and each record's scores are scaled
    to sum to one, so that what is released is still a set of scores.
    """

    compared: ClassVar[tuple[str, ...]] = ("noise-0.01", "noise-1")

    sigma: float = 0.1

    def __post_init__(self) -> None:
        """Refuse a negative scale."""
        if self.sigma < 0:
            raise UsageError(f"the noise's sigma must not be negative, got {self.sigma}")

    @property
    def name(self) -> str:
        """The defense and its scale."""
        return f"noise-{self.sigma:g}"

    @property
    def asked(self) -> int:
        """Every answer has noise of its own: whoever asks again averages it away."""
        return ASKED

    def told(self) -> Mapping[str, Any]:
        """Return the noise's scale, as averaging over all answers leaves it."""
        return {"noise": self.sigma / sqrt(self.asked)}

    def release(self, scores: Floats, rng: np.random.Generator) -> Floats:
        """Disturb, cut at zero, scale to one; a record whose scores all vanish gets equal ones."""
        noisy = np.maximum(scores + rng.normal(0.0, self.sigma, scores.shape), 0.0)
        total = noisy.sum(axis=1, keepdims=True)
        equal = np.full_like(noisy, 1.0 / noisy.shape[1])
        return np.where(total > 0, noisy / np.where(total > 0, total, 1.0), equal)
