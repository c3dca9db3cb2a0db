"""Outputs of a differentiable model for many candidates of every record at once."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.models.additive import Additive, Bottom
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear
from whatleaks.models.network import activate


class ScoredByNetwork:
    """What the own columns give is computed once; of a sum of parts, what candidates give too."""

    redrawn = True

    def __init__(self, model: Additive | JointNetwork, own: Floats) -> None:
        self._model, self._known = model, model.active.logits(own)

    @property
    def cost(self) -> float:
        """Multiplications for one candidate of one record; a sum of parts takes an addition."""
        model = self._model
        return float(_products(model.rest)) if isinstance(model, JointNetwork) else 1.0

    @property
    def wide(self) -> int:
        """Numbers held for one candidate of one record."""
        model = self._model
        outputs = int(self._known.shape[1])
        return 2 * max(outputs, _widest(model.rest)) if isinstance(model, JointNetwork) else outputs

    def shared(self, rows: Ints, values: Floats) -> Floats:
        """Return the outputs of some records with all candidates."""
        return self._above(self._known[rows][:, None, :] + self._model.passive.logits(values)[None])

    def each(self, rows: Ints, values: Floats) -> Floats:
        """Return the outputs of some records, each with candidates of its own."""
        flat = self._model.passive.logits(values.reshape(-1, values.shape[2]))
        return self._above(self._known[rows][:, None, :] + flat.reshape(*values.shape[:2], -1))

    def _above(self, sums: Floats) -> Floats:
        model = self._model
        if not isinstance(model, JointNetwork):
            return sums
        inner = activate(sums.reshape(-1, sums.shape[2]), model.activation)
        return np.asarray(model.rest.logits(inner).reshape(*sums.shape[:2], -1))


def _products(part: Bottom) -> int:
    return (
        int(part.weights.size)
        if isinstance(part, Linear)
        else sum(int(w.size) for w in part.weights)
    )


def _widest(part: Bottom) -> int:
    layers = (part.weights,) if isinstance(part, Linear) else part.weights
    return max(int(w.shape[1]) for w in layers)
