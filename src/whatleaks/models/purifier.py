"""An autoencoder on scores (J section 6.1.3.3, Eq 26 with its first term alone).

One hidden layer, half as wide as the scores. It is trained on scores, or on draws of the
standard normal distribution where no scores exist yet. Its randomness is fixed: a purifier for
so many classes that never saw a score is public, and whoever knows that it is used has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import UsageError
from whatleaks.models.torch_network import Layers, Optimiser, build

if TYPE_CHECKING:
    import torch

    from whatleaks.models.additive import Additive

SOURCES = ("real", "random")
RECORDS = 2000  # random ones to train on
STEPS = 1500
RATE = 0.02
FLOOR = 1e-6  # the least score that leaves: a linear decoder may say less than zero


@dataclass(frozen=True)
class Purifier:
    """A trained autoencoder; ``forward`` is differentiable, ``apply`` takes and gives arrays."""

    network: torch.nn.Sequential

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        """Code and decode; not in the paper: what is decoded is made positive and sums to one."""
        decoded: torch.Tensor = self.network(scores).clamp_min(FLOOR)
        return decoded / decoded.sum(dim=1, keepdim=True)

    def apply(self, scores: Floats) -> Floats:
        """Purify scores."""
        import torch

        with torch.no_grad():
            purified: Floats = self.forward(torch.tensor(scores, dtype=torch.float64)).numpy()
        return purified


def trained_purifier(classes: int, scores: Floats | None = None) -> Purifier:
    """Train on scores, or on random numbers if there are none (Eq 26: the squared distance)."""
    import torch

    rng = np.random.Generator(np.random.PCG64(classes))
    data = rng.standard_normal((RECORDS, classes)) if scores is None else scores
    network = build(classes, Layers((max(1, classes // 2),), classes, "sigmoid"), rng)
    inputs = torch.tensor(np.asarray(data), dtype=torch.float64)
    optimiser = Optimiser(network.parameters(), RATE, falls_over=STEPS)
    for _ in range(STEPS):
        optimiser.follow(((network(inputs) - inputs) ** 2).mean())
    return Purifier(network)


def copy_of_purifier(source: str, model: Additive, own: Floats, unknown: int) -> Purifier | None:
    """Return the purifier as an adversary who holds the model rebuilds it; "" means none.

    One trained on random numbers is public. One trained on real scores is imitated: trained on
    the scores that the model gives to the adversary's own columns beside drawn passive ones.
    """
    if not source:
        return None
    if source not in SOURCES:
        raise UsageError(f"a purifier is trained on one of {', '.join(SOURCES)}, got {source!r}")
    rng = np.random.Generator(np.random.PCG64(0))
    scores = model.scores(own, rng.random((len(own), unknown)))
    return trained_purifier(scores.shape[1], scores if source == "real" else None)
