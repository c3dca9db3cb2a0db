"""Several parties' parts as one model over their columns side by side, and the own part as kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.codec import travels
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network


@travels
@dataclass(frozen=True)
class OwnPart:
    """What a party of an additive federation keeps of the training: its own part of the model."""

    part: Linear | Network


def joined_part(parts: list[Linear | Network]) -> Linear | Network:
    """Return one model over several parties' columns, side by side, with the sum of their outputs."""
    if len(parts) == 1:
        return parts[0]
    linear = [part for part in parts if isinstance(part, Linear)]
    if len(linear) == len(parts):
        return Linear(
            sealed(np.concatenate([part.weights for part in linear])),
            sealed(np.sum([part.bias for part in linear], axis=0)),
        )
    networks = [part for part in parts if isinstance(part, Network)]
    assert len(networks) == len(parts)  # all parties train with the same settings
    last = len(networks[0].weights) - 1
    return Network(
        tuple(
            sealed(
                np.concatenate([part.weights[i] for part in networks])
                if i == last
                else diagonal([part.weights[i] for part in networks])
            )
            for i in range(last + 1)
        ),
        tuple(
            sealed(
                np.sum([part.biases[i] for part in networks], axis=0)
                if i == last
                else np.concatenate([part.biases[i] for part in networks])
            )
            for i in range(last + 1)
        ),
        networks[0].activation,
    )


def diagonal(tables: list[Floats]) -> Floats:
    """Put tables along the diagonal of one that is zero elsewhere."""
    whole = np.zeros(np.sum([table.shape for table in tables], axis=0))
    row = column = 0
    for table in tables:
        height, width = table.shape
        whole[row : row + height, column : column + width] = table
        row, column = row + height, column + width
    return whole
