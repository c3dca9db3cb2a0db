"""Trainable networks: the one builder, the one export and the one optimiser of the package.

First weights come from a named random stream alone; what is trained leaves torch as sealed
arrays. torch is imported inside the functions: nothing here costs its start-up time until a
network is built. No global seed is touched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import cos, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.codec import travels
from whatleaks.errors import UsageError
from whatleaks.models.adam import FIRST, SECOND, SMALLEST
from whatleaks.models.linear import Linear
from whatleaks.models.network import ACTIVATIONS, Network
from whatleaks.models.torch_draws import TorchDraws
from whatleaks.seeds import torch_seed

if TYPE_CHECKING:
    import torch

    from whatleaks.models.additive import Bottom

PRECISIONS = ("float64", "float32")


@travels
@dataclass(frozen=True)
class Layers:
    """The structure of a network: hidden widths, output width, the activation between layers.

    ``last`` says whether the output passes the activation as well.
    """

    hidden: tuple[int, ...]
    output: int
    activation: str = "relu"
    last: bool = False

    def __post_init__(self) -> None:
        """Refuse widths that hold nothing and unknown activations."""
        if min((*self.hidden, self.output)) < 1:
            raise UsageError(
                f"every layer needs at least 1 unit, got {(*self.hidden, self.output)}"
            )
        if self.activation not in ACTIVATIONS:
            raise UsageError(
                f"unknown activation {self.activation!r}: use one of {', '.join(ACTIVATIONS)}"
            )


TWO_LAYERS = Layers((64,), 16)


def torch_dtype(precision: str) -> torch.dtype:
    """Return torch's type for ``float64`` or ``float32``."""
    import torch

    if precision not in PRECISIONS:
        raise UsageError(f"unknown precision {precision!r}: use one of {', '.join(PRECISIONS)}")
    return torch.float64 if precision == "float64" else torch.float32


def activation_layer(activation: str) -> torch.nn.Module:
    """Return an activation by name, as a layer of its own."""
    import torch

    return {"sigmoid": torch.nn.Sigmoid, "tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}[activation]()


def build(
    inputs: int,
    layers: Layers,
    rng: np.random.Generator,
    precision: str = "float64",
    *,
    bias: bool = True,
    joined: int | None = None,
) -> torch.nn.Sequential:
    """Build a network (no hidden layer: a linear map) whose first weights come from ``rng`` alone.

    Weights and biases are uniform in +-1/sqrt(fan-in), torch's own rule. ``joined``: the
    fan-in of the first layer when this is a party's part of a layer over more columns than
    its own.
    """
    import torch

    generator = torch.Generator().manual_seed(torch_seed(rng))
    dtype = torch_dtype(precision)
    widths = (inputs, *layers.hidden, layers.output)
    parts: list[torch.nn.Module] = []
    for i, (size_in, size_out) in enumerate(pairwise(widths)):
        # Torch draws first weights too, which are not kept; skip_init would load its compiler's rooms.
        with torch.random.fork_rng(devices=[]):
            linear = torch.nn.Linear(size_in, size_out, bias=bias, dtype=dtype)
        bound = 1.0 / sqrt(joined if i == 0 and joined is not None else size_in)
        with torch.no_grad():
            for parameter in linear.parameters():  # the weights first, then the bias
                parameter.uniform_(-bound, bound, generator=generator)
        parts.append(linear)
        if layers.last or i + 2 < len(widths):
            parts.append(activation_layer(layers.activation))
    return torch.nn.Sequential(*parts)


def first_weights(
    inputs: int,
    layers: Layers,
    rng: np.random.Generator,
    *,
    bias: bool = True,
    joined: int | None = None,
) -> Bottom:
    """Return what ``build`` begins with in double precision, as plain arrays: no torch is needed."""
    draws = TorchDraws(torch_seed(rng))
    weights, biases = [], []
    for i, (size_in, size_out) in enumerate(pairwise((inputs, *layers.hidden, layers.output))):
        bound = 1.0 / sqrt(joined if i == 0 and joined is not None else size_in)
        weights.append(sealed(draws.uniform((size_out, size_in), bound).T))
        biases.append(sealed(draws.uniform((size_out,), bound) if bias else np.zeros(size_out)))
    if not layers.hidden:
        return Linear(weights[0], biases[0])
    return Network(tuple(weights), tuple(biases), layers.activation)


def export(network: torch.nn.Sequential, layers: Layers) -> Bottom:
    """Copy a network out of torch as sealed arrays, without graph or optimiser."""
    import torch

    if layers.last:
        raise UsageError("a network with an activation after its last layer cannot be exported")
    linears = [part for part in network if isinstance(part, torch.nn.Linear)]
    weights = tuple(sealed(part.weight.detach().numpy().T) for part in linears)
    biases = tuple(
        sealed(np.zeros(part.out_features) if part.bias is None else part.bias.detach().numpy())
        for part in linears
    )
    if len(linears) == 1:
        return Linear(weights[0], biases[0])
    return Network(weights, biases, layers.activation)


class FusedAdam:
    """Adam on tensors, as ``torch.optim.Adam`` with ``fused`` takes its steps, number by number.

    torch's own class loads its compiler when it is first used, which nothing here needs: that
    costs every process more than a second. A test compares the two.
    """

    def __init__(
        self, parameters: Iterable[torch.nn.Parameter], rate: float, l2: float = 0.0
    ) -> None:
        import torch

        self.rate, self._l2 = rate, l2
        self._parameters: list[torch.Tensor] = list(parameters)
        self._means = [torch.zeros_like(p) for p in self._parameters]
        self._squares = [torch.zeros_like(p) for p in self._parameters]
        self._taken = [torch.zeros(()) for _ in self._parameters]

    def forget(self) -> None:
        """Drop the gradients that were carried back last."""
        for parameter in self._parameters:
            parameter.grad = None

    def step(self) -> None:
        """Take one step along the gradients."""
        import torch

        with torch.no_grad():
            torch._foreach_add_(self._taken, 1)
            torch._fused_adam_(
                self._parameters,
                [p.grad for p in self._parameters if p.grad is not None],
                self._means,
                self._squares,
                [],
                self._taken,
                lr=self.rate,
                beta1=FIRST,
                beta2=SECOND,
                weight_decay=self._l2,
                eps=SMALLEST,
                amsgrad=False,
                maximize=False,
            )


class Optimiser:
    """Adam; with ``falls_over`` steps its rate falls to a hundredth along a cosine."""

    def __init__(
        self,
        parameters: Iterable[torch.nn.Parameter],
        rate: float,
        l2: float = 0.0,
        falls_over: int | None = None,
    ) -> None:
        self._adam = FusedAdam(parameters, rate, l2)
        self._least, self._falls_over, self._taken = rate * 1e-2, falls_over or 0, 0

    def carry_back(self, outputs: torch.Tensor, gradient: torch.Tensor | None = None) -> None:
        """Carry a gradient by ``outputs`` (none: they are a loss) back to the parameters."""
        self._adam.forget()
        outputs.backward(gradient)  # type: ignore[no-untyped-call]

    def update(self) -> None:
        """Take one step along the gradient carried back last."""
        self._adam.step()
        if self._taken < self._falls_over:
            # From step to step, as torch's own schedule does: the digits are the same.
            before, after = (
                1 + cos(pi * taken / self._falls_over) for taken in (self._taken, self._taken + 1)
            )
            left = self._adam.rate - self._least
            self._adam.rate = after / before * left + self._least
            self._taken += 1

    def follow(self, outputs: torch.Tensor, gradient: torch.Tensor | None = None) -> None:
        """Carry a gradient back and take one step along it."""
        self.carry_back(outputs, gradient)
        self.update()
