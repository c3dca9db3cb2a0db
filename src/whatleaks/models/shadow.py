"""A shadow of the partner's part of an additive model, learnt from known people (J Algorithm 2)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.errors import UsageError
from whatleaks.models.adam import Adam, falling
from whatleaks.models.linear import Linear
from whatleaks.models.missed import Missed
from whatleaks.models.network import Network
from whatleaks.models.torch_forms import log_scores
from whatleaks.models.torch_network import Layers, Optimiser, build, export, first_weights

if TYPE_CHECKING:
    import torch

    from whatleaks.models.additive import Bottom


def distance(kind: str, released: torch.Tensor, logs: torch.Tensor) -> torch.Tensor:
    """Return every record's distance of released scores and the logarithms of guessed ones."""
    import torch

    if kind == "mse":
        return ((released - logs.exp()) ** 2).mean(dim=1)  # Eq 18
    # Eq 19 as printed is minus the divergence it names: the logarithm is turned over here.
    return (torch.xlogy(released, released) - released * logs).sum(dim=1)


def hidden_layers(structure: str, own: Bottom) -> tuple[int, ...]:
    """Read a structure: ``own`` (as the own part), ``linear``, or widths such as ``8-8``."""
    if structure == "own":
        return () if isinstance(own, Linear) else tuple(w.shape[1] for w in own.weights[:-1])
    if structure == "linear":
        return ()
    widths = structure.split("-")
    if not all(width.isdigit() for width in widths):
        raise UsageError(f"a shadow's structure is own, linear or widths as 8-8, got {structure!r}")
    return tuple(int(width) for width in widths)


def enough_records(columns: int, hidden: tuple[int, ...], outputs: int) -> int:
    """Return tau: as many records as give one equation for every weight (Eqs 21, 22)."""
    if not hidden:
        return columns  # Eq 21
    widths = (columns, *hidden, outputs)
    weights = sum((a + 1) * b for a, b in pairwise(widths))
    return ceil(weights / outputs)  # Eq 22


def shadow(
    own_outputs: Floats,
    passive: Floats,
    released: Floats,
    layers: Layers,
    rng: np.random.Generator,
    *,
    kind: str = "mse",
    steps: int = 2000,
    rate: float = 0.01,
) -> Linear | Network:
    """Fit a part on the known people so that, with the own outputs, it scores them as released.

    Algorithm 2 with Adam; the paper's rate for inputs (0.001) is not said to be that of shadows:
    ours is 0.01, falling, which fits in fewer rounds.
    """
    if layers.hidden:
        module = build(passive.shape[1], layers, rng)
        fit_by_torch(module, own_outputs, passive, released, kind, steps, rate)
        return export(module, layers)
    # A linear one on plain arrays: for a few dozen people torch's calls cost the most.
    start = first_weights(passive.shape[1], layers, rng, bias=False)
    assert isinstance(start, Linear)
    missed = Missed(released, kind)
    adam = Adam(np.array(start.weights), rate)
    for step in range(steps):
        adam.rate = falling(rate, step, steps)
        slopes = missed.slopes(own_outputs + passive @ adam.values)
        adam.follow(passive.T @ slopes / len(passive))
    return replace(start, weights=sealed(adam.values))


def fit_by_torch(
    module: torch.nn.Sequential,
    own_outputs: Floats,
    passive: Floats,
    released: Floats,
    kind: str,
    steps: int,
    rate: float,
) -> None:
    """Fit a shadow of any structure in place."""
    import torch

    known = torch.tensor(own_outputs, dtype=torch.float64)
    inputs = torch.tensor(passive, dtype=torch.float64)
    wanted = torch.tensor(released, dtype=torch.float64)
    optimiser = Optimiser(module.parameters(), rate, falls_over=steps)
    for _ in range(steps):
        logs = log_scores(known + module(inputs))
        optimiser.follow(distance(kind, wanted, logs).mean())
