"""A fully connected network as plain arrays: no graph, no optimiser, nothing to leak."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from whatleaks.arrays import Floats
from whatleaks.codec import travels
from whatleaks.errors import UsageError

ACTIVATIONS = ("sigmoid", "tanh", "relu")


@travels
@dataclass(frozen=True)
class Network:
    """Layers of ``x @ weights[i] + biases[i]`` with an activation between them."""

    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]
    activation: str

    def logits(self, x: Floats) -> Floats:
        """Return the last layer's outputs for every record, before any link function."""
        h = x
        for i, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            h = h @ w + b
            if i + 1 < len(self.weights):
                h = activate(h, self.activation)
        return h


def activate(h: Floats, activation: str) -> Floats:
    """Apply an activation by name to every value."""
    if activation == "sigmoid":
        out: Floats = expit(h)
    elif activation == "tanh":
        out = np.tanh(h)
    elif activation == "relu":
        out = np.maximum(h, 0.0)
    else:
        raise UsageError(f"unknown activation {activation!r}: use one of {', '.join(ACTIVATIONS)}")
    return out
