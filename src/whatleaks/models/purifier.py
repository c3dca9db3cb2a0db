"""An autoencoder on scores (J section 6.1.3.3, Eq 26 with its first term alone).

One hidden layer, half as wide as the scores. It is trained on scores, or on draws of the
standard normal distribution where no scores exist yet. Its randomness is fixed: a purifier for
so many classes that never saw a score is public, and whoever knows that it is used has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from whatleaks.arrays import Floats, sealed
from whatleaks.errors import UsageError
from whatleaks.models.adam import Adam, falling
from whatleaks.models.carry_back import CarryBack
from whatleaks.models.network import Network
from whatleaks.models.torch_forms import TorchForm
from whatleaks.models.torch_network import Layers, first_weights

if TYPE_CHECKING:
    import torch

    from whatleaks.models.additive import Additive

SOURCES = ("real", "random")
RECORDS = 2000  # random ones to train on
MOST = 20_000  # real scores to train on: with three times as many it answered within 0.0002
STEPS = 1500
RATE = 0.02
HALVED = 60  # times: to the last place of a score
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
    """Train on plain arrays: a network this small costs torch ten times as long in calls as in arithmetic.

    First weights, steps and rates are those of ``torch_network``; a test compares the two.
    """
    rng = rng or np.random.Generator(np.random.PCG64(classes))
    hidden = max(1, classes // 2)
    layers = Layers((hidden,), classes, "sigmoid")
    first = first_weights(classes, layers, rng)
    assert isinstance(first, Network)
    parts = [first.weights[0], first.biases[0], first.weights[1], first.biases[1]]
    adam = Adam(np.concatenate([part.ravel() for part in parts]), RATE)
    slopes = np.empty_like(adam.values)
    # Weights and slopes by layer, each in its place of the one array that Adam moves.
    coder, code_bias, decoder, bias = _in_place(adam.values, parts)
    by_coder, by_code_bias, by_decoder, by_bias = _in_place(slopes, parts)
    inputs = np.ascontiguousarray(data, dtype=np.float64)
    for step in range(STEPS):
        code = expit(inputs @ coder + code_bias)
        missed = (code @ decoder + bias - inputs) * (2.0 / inputs.size)
        back = (missed @ decoder.T) * (code * (1.0 - code))
        np.matmul(code.T, missed, out=by_decoder)
        missed.sum(axis=0, out=by_bias)
        np.matmul(inputs.T, back, out=by_coder)
        back.sum(axis=0, out=by_code_bias)
        adam.rate = falling(RATE, step, STEPS)
        adam.follow(slopes)
    weights, biases = (sealed(coder), sealed(decoder)), (sealed(code_bias), sealed(bias))
    return Purifier(Network(weights, biases, layers.activation))


def undone(purifier: Purifier, released: Floats) -> Floats:
    """Return the scores that a purifier of two classes was given, by halving where they can lie.

    Two scores that sum to one are one number, and so is the code: the map rises or falls throughout. Of
    more classes the code holds fewer numbers than the scores, and they stay as they were released.
    """
    if released.shape[1] != 2:
        return released
    ends = purifier.apply(np.array([[1.0, 0.0], [0.0, 1.0]]))[:, 1]
    low, high = np.zeros(len(released)), np.ones(len(released))
    for _ in range(HALVED):
        middle = 0.5 * (low + high)
        over = purifier.apply(np.column_stack([1.0 - middle, middle]))[:, 1] > released[:, 1]
        above = over == (ends[1] > ends[0])
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    found = 0.5 * (low + high)
    return sealed(np.column_stack([1.0 - found, found]))


def _in_place(values: Floats, parts: Sequence[Floats]) -> list[Floats]:
    """Return views of consecutive pieces of one array, in the shapes of ``parts``."""
    cuts = np.cumsum([part.size for part in parts])[:-1]
    pieces = np.split(values, cuts)
    return [piece.reshape(part.shape) for piece, part in zip(pieces, parts, strict=True)]


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
