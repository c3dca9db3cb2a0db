"""A party's part of a model while it trains: outputs of a batch, then a step along their gradient.

A linear part is trained on plain arrays: its arithmetic takes microseconds, and torch's calls
around it ten times as long. It needs no torch at all: first weights, steps and rates are the same as
torch's, so the numbers agree up to rounding; a test compares the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.models.adam import Adam, falling
from whatleaks.models.linear import Linear
from whatleaks.models.torch_network import Layers, Optimiser, build, export, first_weights

if TYPE_CHECKING:
    from whatleaks.models.additive import Bottom


class Trainable(Protocol):
    """What a party does with its part of the model."""

    def outputs(self, rows: Ints) -> Floats:
        """Return the outputs of some training records."""
        ...

    def follow(self, gradient: Floats) -> None:
        """Take one step along the gradient by the outputs that were returned last."""
        ...

    def emit(self, features: Floats) -> Floats:
        """Return the outputs of any records with the part as it stands."""
        ...

    def export(self) -> Bottom:
        """Copy the part out as plain numbers."""
        ...


def trainable(
    features: Floats,
    layers: Layers,
    rng: np.random.Generator,
    rate: float,
    l2: float,
    steps: int,
    *,
    bias: bool = True,
    joined: int | None = None,
    kinds: tuple[type[LinearPart], type[TorchPart]] | None = None,
) -> Trainable:
    """Return a part over the training records' ``features``, with first weights from ``rng``.

    ``bias`` and ``joined`` as in ``build``; the rate falls over ``steps`` as ``Optimiser``'s does.
    ``kinds``: other classes for a linear part and for a network.
    """
    linear, network = kinds or (LinearPart, TorchPart)
    made = network if layers.hidden or layers.last else linear
    return made(features, layers, rng, rate, l2, steps, bias=bias, joined=joined)


class TorchPart:
    """A network, trained by torch."""

    def __init__(
        self,
        features: Floats,
        layers: Layers,
        rng: np.random.Generator,
        rate: float,
        l2: float,
        steps: int,
        *,
        bias: bool = True,
        joined: int | None = None,
    ) -> None:
        import torch

        self._layers = layers
        self._features = torch.tensor(features, dtype=torch.float64)
        self._module = build(features.shape[1], layers, rng, bias=bias, joined=joined)
        self._optimiser = Optimiser(self._module.parameters(), rate, l2, steps)

    def outputs(self, rows: Ints) -> Floats:
        """Return the outputs of some training records."""
        import torch

        self._last = self._module(self._features[torch.tensor(rows)])
        return np.asarray(self._last.detach().numpy())

    def follow(self, gradient: Floats) -> None:
        """Carry the gradient back and take one step."""
        import torch

        self._optimiser.follow(self._last, torch.tensor(gradient))

    def emit(self, features: Floats) -> Floats:
        """Return the outputs of any records."""
        import torch

        with torch.no_grad():
            return sealed(self._module(torch.tensor(features, dtype=torch.float64)).numpy())

    def export(self) -> Bottom:
        """Copy the network out of torch."""
        return export(self._module, self._layers)


class LinearPart:
    """Weights and a bias, one row below the other, trained by Adam on plain arrays."""

    def __init__(
        self,
        features: Floats,
        layers: Layers,
        rng: np.random.Generator,
        rate: float,
        l2: float,
        steps: int,
        *,
        bias: bool = True,
        joined: int | None = None,
    ) -> None:
        first = first_weights(features.shape[1], layers, rng, bias=bias, joined=joined)
        assert isinstance(first, Linear)
        self._bias = bias
        self._features = np.asarray(features, dtype=np.float64)
        rows = [first.weights, first.bias[None]] if bias else [first.weights]
        self._adam = Adam(np.concatenate(rows), rate)
        self._gradient = np.empty_like(self._adam.values)
        self._rate, self._l2, self._steps, self._taken = rate, l2, steps, 0

    def outputs(self, rows: Ints) -> Floats:
        """Return the outputs of some training records."""
        self._last = self._features[rows]
        return self._mapped(self._last)

    def follow(self, gradient: Floats) -> None:
        """Take one step along the gradient by the outputs."""
        slopes = self.slopes(gradient)
        if self._l2:
            slopes += self._l2 * self._adam.values
        self._adam.rate = falling(self._rate, self._taken, self._steps)
        self._adam.follow(slopes)
        self._taken += 1

    def slopes(self, gradient: Floats) -> Floats:
        """Return what the gradient by the outputs is by the weights."""
        columns = self._last.shape[1]
        np.matmul(self._last.T, gradient, out=self._gradient[:columns])
        if self._bias:
            self._gradient[columns] = gradient.sum(axis=0)
        return self._gradient

    def emit(self, features: Floats) -> Floats:
        """Return the outputs of any records."""
        return sealed(self._mapped(np.asarray(features, dtype=np.float64)))

    def export(self) -> Bottom:
        """Copy the weights out."""
        columns = self._features.shape[1]
        held = self._adam.values.copy()
        bias = held[columns] if self._bias else np.zeros(held.shape[1])
        return Linear(sealed(held[:columns]), sealed(bias))

    def _mapped(self, x: Floats) -> Floats:
        columns = x.shape[1]
        z = x @ self._adam.values[:columns]
        if self._bias:
            z += self._adam.values[columns]
        return z
