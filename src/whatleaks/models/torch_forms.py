"""Torch forms of the plain models: to train them, and to differentiate through them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.errors import UsageError
from whatleaks.models.linear import Linear
from whatleaks.models.network import ACTIVATIONS, Network

if TYPE_CHECKING:
    import torch

    from whatleaks.models.additive import Bottom


def build(
    inputs: int, hidden: tuple[int, ...], outputs: int, activation: str, bias: bool, seed: int
) -> torch.nn.Sequential:
    """Build a float64 network (no hidden layer: a linear map) with weights drawn from ``seed``.

    Weights and biases are uniform in +-1/sqrt(fan-in), torch's own rule, but from a
    generator of our own, so that no global seed is read or moved.
    """
    import torch

    if activation not in ACTIVATIONS:
        raise UsageError(f"unknown activation {activation!r}: use one of {', '.join(ACTIVATIONS)}")
    generator = torch.Generator().manual_seed(seed)
    sizes = [inputs, *hidden, outputs]
    layers: list[torch.nn.Module] = []
    for i, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        layer = torch.nn.Linear(fan_in, fan_out, bias=bias or bool(hidden), dtype=torch.float64)
        bound = 1.0 / np.sqrt(fan_in)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.uniform_(-bound, bound, generator=generator)
        layers.append(layer)
        if i + 2 < len(sizes):
            layers.append(_activation_layer(activation))
    return torch.nn.Sequential(*layers)


def export(module: torch.nn.Sequential, activation: str) -> Bottom:
    """Copy a trained module's numbers into a plain, sealed model."""
    import torch

    linears = [layer for layer in module if isinstance(layer, torch.nn.Linear)]
    weights = tuple(sealed(layer.weight.detach().numpy().T) for layer in linears)
    biases = tuple(
        sealed(np.zeros(layer.out_features) if layer.bias is None else layer.bias.detach().numpy())
        for layer in linears
    )
    if len(linears) == 1:
        return Linear(weights[0], biases[0])
    return Network(weights, biases, activation)


def logits(model: Bottom, x: torch.Tensor) -> torch.Tensor:
    """Return the model's outputs as a differentiable function of ``x``."""
    import torch

    if isinstance(model, Linear):
        return x @ _tensor(model.weights) + _tensor(model.bias)
    activate = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}[model.activation]
    h = x
    for i, (w, b) in enumerate(zip(model.weights, model.biases, strict=True)):
        h = h @ _tensor(w) + _tensor(b)
        if i + 1 < len(model.weights):
            h = activate(h)
    return h


def _tensor(array: Floats) -> torch.Tensor:
    import torch

    return torch.tensor(array, dtype=torch.float64)


def _activation_layer(activation: str) -> torch.nn.Module:
    import torch

    return {"sigmoid": torch.nn.Sigmoid, "tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}[activation]()
