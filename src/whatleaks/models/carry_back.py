"""Gradients carried back through a plain model to its inputs, by the chain rule."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.models.additive import Additive, Bottom
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear
from whatleaks.models.network import activate


class CarryBack:
    """A model's outputs for some records, and then what a gradient by them is by the inputs."""

    def __init__(self, model: Bottom) -> None:
        linear = isinstance(model, Linear)
        self._weights = (model.weights,) if isinstance(model, Linear) else model.weights
        self._biases = (model.bias,) if isinstance(model, Linear) else model.biases
        self._activation = "" if linear else getattr(model, "activation", "")
        self._back = tuple(np.ascontiguousarray(w.T) for w in self._weights)
        self._passed: list[Floats] = []

    def outputs(self, x: Floats) -> Floats:
        """Return the outputs of every record; what the way back needs is remembered."""
        self._passed = []
        h = x
        for i, (w, b) in enumerate(zip(self._weights, self._biases, strict=True)):
            if i:
                h = activate(h, self._activation)
                self._passed.append(h)
            h = h @ w + b
        return h

    def carry_back(self, gradient: Floats) -> Floats:
        """Return the gradient by the inputs that ``outputs`` saw last."""
        g = gradient
        for i in reversed(range(len(self._back))):
            g = g @ self._back[i]
            if i:
                g = g * slope(self._passed[i - 1], self._activation)
        return g


class KnownOwn:
    """A joint model with one side's columns filled in: a function of the other side's."""

    def __init__(self, model: Additive | JointNetwork, own: Floats) -> None:
        self._known = model.active.logits(own)
        self._passive = CarryBack(model.passive)
        joint = model if isinstance(model, JointNetwork) else None
        self._rest = None if joint is None else CarryBack(joint.rest)
        self._activation = "" if joint is None else joint.activation

    def outputs(self, unknown: Floats) -> Floats:
        """Return the joint outputs of every record with these unknown values."""
        z = self._known + self._passive.outputs(unknown)
        if self._rest is None:
            return z
        self._passed = activate(z, self._activation)
        return self._rest.outputs(self._passed)

    def carry_back(self, gradient: Floats) -> Floats:
        """Return the gradient by the unknown values that ``outputs`` saw last."""
        if self._rest is not None:
            gradient = self._rest.carry_back(gradient) * slope(self._passed, self._activation)
        return self._passive.carry_back(gradient)


def slope(passed: Floats, activation: str) -> Floats:
    """Return an activation's derivative, from what it returned."""
    if activation == "sigmoid":
        return passed * (1.0 - passed)
    if activation == "tanh":
        return 1.0 - passed * passed
    return np.asarray(passed > 0.0, dtype=np.float64)
