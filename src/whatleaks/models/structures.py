"""What a bottom model can be made of, and trained networks that travel.

A structure is layers (tables) or convolutions (pictures): it says how many numbers come out
and builds a network whose first weights come from a random stream alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.codec import travels
from whatleaks.models.picture_networks import Convolutions, PictureDecoder
from whatleaks.models.torch_network import Layers, build, torch_dtype

if TYPE_CHECKING:
    import torch

Structure: TypeAlias = Layers | Convolutions | PictureDecoder
Bottoms: TypeAlias = Layers | Convolutions  # what a party may hold below the cut

AT_ONCE = 1024  # records that pass a network together


def made(
    structure: Structure, inputs: int, rng: np.random.Generator, precision: str = "float64"
) -> torch.nn.Module:
    """Build a network of any structure."""
    if isinstance(structure, Layers):
        return build(inputs, structure, rng, precision)
    return structure.build(inputs, rng, precision)


def outputs_of(structure: Bottoms, inputs: int) -> int:
    """Return how many numbers a bottom model gives for ``inputs`` columns."""
    return structure.output if isinstance(structure, Layers) else structure.outputs(inputs)


def decoder_of(bottom: Bottoms, halves: int, columns: int, hidden: tuple[int, ...]) -> Structure:
    """Return what leads from the embeddings of ``halves`` parties back to ``columns``."""
    if isinstance(bottom, Layers):
        return Layers(hidden, columns)
    return PictureDecoder(bottom, halves, columns)


@travels
@dataclass(frozen=True)
class Kept:
    """A trained network as plain arrays: it runs wherever it is built again."""

    structure: Structure
    inputs: int
    weights: tuple[Floats, ...]
    precision: str = "float64"

    def outputs(self, rows: Floats) -> Floats:
        """Return the network's outputs, one row per record."""
        import torch

        network, dtype = self.network(), torch_dtype(self.precision)
        parts = []
        with torch.no_grad():
            for start in range(0, len(rows), AT_ONCE):
                taken = torch.tensor(rows[start : start + AT_ONCE], dtype=dtype)
                parts.append(network(taken).numpy())
        if not parts:
            return sealed(np.zeros((0, 0)))
        return sealed(np.concatenate(parts))

    def network(self) -> torch.nn.Module:
        """Build the network with these weights."""
        import torch

        found = made(self.structure, self.inputs, np.random.default_rng(0), self.precision)
        with torch.no_grad():
            for parameter, weights in zip(found.parameters(), self.weights, strict=True):
                parameter.copy_(torch.tensor(weights, dtype=parameter.dtype))
        return found


def keep(
    network: torch.nn.Module, structure: Structure, inputs: int, precision: str = "float64"
) -> Kept:
    """Copy a trained network out of torch, without graph or optimiser."""
    weights = tuple(sealed(parameter.detach().numpy()) for parameter in network.parameters())
    return Kept(structure, inputs, weights, precision)
