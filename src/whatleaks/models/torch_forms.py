"""Torch forms of the plain models: to train them, and to differentiate through them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.errors import UsageError
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear
from whatleaks.models.network import ACTIVATIONS, Network

if TYPE_CHECKING:
    import torch

    from whatleaks.models.additive import Additive, Bottom


def build(
    inputs: int,
    hidden: tuple[int, ...],
    outputs: int,
    activation: str,
    bias: bool,
    seed: int,
    joined: int | None = None,
) -> torch.nn.Sequential:
    """Build a float64 network (no hidden layer: a linear map) with weights drawn from ``seed``.

    Weights and biases are uniform in +-1/sqrt(fan-in), torch's own rule, but from a
    generator of our own, so that no global seed is read or moved. ``joined``: the fan-in of
    the first layer when this is a party's part of a layer over more columns than its own.
    """
    import torch

    if activation not in ACTIVATIONS:
        raise UsageError(f"unknown activation {activation!r}: use one of {', '.join(ACTIVATIONS)}")
    generator = torch.Generator().manual_seed(seed)
    sizes = [inputs, *hidden, outputs]
    layers: list[torch.nn.Module] = []
    for i, (fan_in, fan_out) in enumerate(pairwise(sizes)):
        layer = torch.nn.Linear(fan_in, fan_out, bias=bias or bool(hidden), dtype=torch.float64)
        bound = 1.0 / np.sqrt(joined if i == 0 and joined is not None else fan_in)
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
    return Layers(model, x.dtype)(x)


def log_scores(z: torch.Tensor) -> torch.Tensor:
    """Return the logarithms of the class scores: sigmoid for one output, softmax for several."""
    import torch

    if z.shape[1] == 1:
        return torch.nn.functional.logsigmoid(torch.cat([-z, z], dim=1))
    return torch.log_softmax(z, dim=1)


def activate(h: torch.Tensor, activation: str) -> torch.Tensor:
    """Apply an activation by name to every value."""
    import torch

    act = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}[activation]
    return act(h)


class Layers:
    """A plain model's numbers as tensors, copied once, to call as often as one likes."""

    def __init__(self, model: Bottom, dtype: torch.dtype) -> None:
        import torch

        if isinstance(model, Linear):
            model = Network((model.weights,), (model.bias,), "sigmoid")  # no layer to activate
        self._weights = [torch.tensor(w, dtype=dtype) for w in model.weights]
        self._biases = [torch.tensor(b, dtype=dtype) for b in model.biases]
        self._activation = model.activation

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs for every record."""
        import torch

        h = x
        for i, (w, b) in enumerate(zip(self._weights, self._biases, strict=True)):
            h = torch.addmm(b, h if i == 0 else activate(h, self._activation), w)
        return h


class GivenOwn:
    """A granted joint model with the adversary's own columns filled in.

    What remains is a differentiable function of the unknown columns. The own columns' part
    of the model is computed once, in double precision.
    """

    def __init__(
        self, model: Additive | JointNetwork, own: Floats, dtype: torch.dtype | None = None
    ) -> None:
        import torch

        dtype = dtype if dtype is not None else torch.float64
        self._known = torch.tensor(model.active.logits(own), dtype=dtype)
        self._passive = Layers(model.passive, dtype)
        joint = model if isinstance(model, JointNetwork) else None
        self._rest = None if joint is None else Layers(joint.rest, dtype)
        self._activation = "" if joint is None else joint.activation

    def outputs(self, unknown: torch.Tensor, rows: torch.Tensor | None = None) -> torch.Tensor:
        """Return the joint outputs of ``rows`` (all records by default) with these unknown values."""
        known = self._known if rows is None else self._known[rows]
        z = known + self._passive(unknown)
        return z if self._rest is None else self._rest(activate(z, self._activation))


def _activation_layer(activation: str) -> torch.nn.Module:
    import torch

    return {"sigmoid": torch.nn.Sigmoid, "tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}[activation]()
