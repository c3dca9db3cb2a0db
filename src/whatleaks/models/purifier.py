"""An autoencoder on scores (J section 6.1.3.3, Eq 26 with its first term alone).

One hidden layer, half as wide as the scores. It is trained on scores, or on draws of the
standard normal distribution where no scores exist yet. Its randomness is fixed: a purifier for
so many classes that never saw a score is public, and whoever knows that it is used has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import UsageError
from whatleaks.models.carry_back import CarryBack
from whatleaks.models.network import Network
from whatleaks.models.torch_forms import TorchForm
from whatleaks.models.torch_network import Layers, Optimiser, build, export

if TYPE_CHECKING:
    import torch

    from whatleaks.models.additive import Additive

SOURCES = ("real", "random")
RECORDS = 2000  # random ones to train on
MOST = 20_000  # real scores to train on: with three times as many it answered within 0.0002
STEPS = 1500
RATE = 0.02
FLOOR = 1e-6  # the least score that leaves: a linear decoder may say less than zero


@dataclass(frozen=True)
class Purifier:
    """A trained autoencoder as plain arrays."""

    network: Network

    def apply(self, scores: Floats) -> Floats:
        """Purify scores."""
        return PurifiedScores(self, scores).scores

    def differentiable(self) -> Callable[[torch.Tensor], torch.Tensor]:
        """Return the same map on tensors."""
        import torch

        form = TorchForm(self.network, torch.float64)

        def forward(scores: torch.Tensor) -> torch.Tensor:
            decoded = form(scores).clamp_min(FLOOR)
            return decoded / decoded.sum(dim=1, keepdim=True)

        return forward


class PurifiedScores:
    """Scores coded and decoded; not in the paper: the result is made positive and sums to one."""

    def __init__(self, purifier: Purifier, scores: Floats) -> None:
        self._way = CarryBack(purifier.network)
        decoded = self._way.outputs(scores)
        self._open = decoded >= FLOOR
        decoded = np.maximum(decoded, FLOOR)
        self._total = decoded.sum(axis=1, keepdims=True)
        self.scores: Floats = decoded / self._total

    def carry_back(self, gradient: Floats) -> Floats:
        """Return a gradient by the purified scores as one by the scores that came in."""
        mean = (gradient * self.scores).sum(axis=1, keepdims=True)
        return self._way.carry_back((gradient - mean) / self._total * self._open)


def trained_purifier(classes: int, scores: Floats | None = None) -> Purifier:
    """Train on scores, or on random numbers if there are none (Eq 26: the squared distance).

    Of more than ``MOST`` scores so many are drawn.
    """
    if scores is None:
        return _on_random(classes)
    if len(scores) > MOST:
        scores = scores[np.random.default_rng(0).permutation(len(scores))[:MOST]]
    return _on_scores(classes, np.asarray(scores, dtype=np.float64).tobytes())


@lru_cache(maxsize=4)  # an attack and its control copy the same one
def _on_scores(classes: int, scores: bytes) -> Purifier:
    return _trained(classes, np.frombuffer(scores).reshape(-1, classes))


@lru_cache(maxsize=8)
def _on_random(classes: int) -> Purifier:
    rng = np.random.Generator(np.random.PCG64(classes))
    data = rng.standard_normal((RECORDS, classes))
    return _trained(classes, data, rng)


def _trained(classes: int, data: Floats, rng: np.random.Generator | None = None) -> Purifier:
    import torch

    rng = rng or np.random.Generator(np.random.PCG64(classes))
    layers = Layers((max(1, classes // 2),), classes, "sigmoid")
    network = build(classes, layers, rng)
    inputs = torch.tensor(np.asarray(data), dtype=torch.float64)
    optimiser = Optimiser(network.parameters(), RATE, falls_over=STEPS)
    for _ in range(STEPS):
        optimiser.follow(((network(inputs) - inputs) ** 2).mean())
    trained = export(network, layers)
    assert isinstance(trained, Network)
    return Purifier(trained)


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
