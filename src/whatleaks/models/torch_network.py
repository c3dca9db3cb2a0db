"""Trainable networks: built from a named random stream, exported as plain arrays.

torch is imported inside the functions: nothing here costs its start-up time until a
network is built. No global seed is touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.codec import travels
from whatleaks.errors import UsageError
from whatleaks.models.network import ACTIVATIONS, Network
from whatleaks.seeds import torch_seed

if TYPE_CHECKING:
    import torch

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


def build(
    inputs: int, layers: Layers, rng: np.random.Generator, precision: str = "float64"
) -> torch.nn.Sequential:
    """Build a network whose first weights come from ``rng`` alone (torch's usual uniform start)."""
    import torch

    between = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh, "sigmoid": torch.nn.Sigmoid}
    generator = torch.Generator().manual_seed(torch_seed(rng))
    widths = (inputs, *layers.hidden, layers.output)
    parts: list[torch.nn.Module] = []
    for i, (size_in, size_out) in enumerate(pairwise(widths)):
        linear = torch.nn.utils.skip_init(  # type: ignore[no-untyped-call]
            torch.nn.Linear, size_in, size_out, dtype=torch_dtype(precision)
        )
        bound = 1.0 / sqrt(size_in)
        with torch.no_grad():
            linear.weight.uniform_(-bound, bound, generator=generator)
            linear.bias.uniform_(-bound, bound, generator=generator)
        parts.append(linear)
        if layers.last or i + 2 < len(widths):
            parts.append(between[layers.activation]())
    return torch.nn.Sequential(*parts)


def exported(network: torch.nn.Sequential, layers: Layers) -> Network:
    """Copy a network out of torch as sealed arrays, without graph or optimiser."""
    import torch

    if layers.last:
        raise UsageError("a network with an activation after its last layer cannot be exported")
    linears = [part for part in network if isinstance(part, torch.nn.Linear)]
    return Network(
        weights=tuple(sealed(part.weight.detach().numpy().T) for part in linears),
        biases=tuple(sealed(part.bias.detach().numpy()) for part in linears),
        activation=layers.activation,
    )
