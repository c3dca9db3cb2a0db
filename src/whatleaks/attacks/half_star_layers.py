"""half* layer by layer (Varasteh, Remark 4): every layer of a network is solved as a linear model.

From the log-ratios down: the layer's inputs nearest to their middle that give its outputs, then
back through the activation, until the passive columns are reached. With one linear layer it is
half* itself.

The paper has no more than the remark. Ours: a hidden value's middle is that of its activation's
range (one half for sigmoid, zero for tanh); relu has no range, so it is the value that passive
columns of one half give. Hidden values are moved into their range before the activation is turned
back; where relu gave zero, what went in is taken as for one half, and not above zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logit

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.possible_values import snapped
from whatleaks.catalog import attack
from whatleaks.citations import VARASTEH
from whatleaks.codec import travels
from whatleaks.models.additive import Bottom, adjacent_differences, log_ratios
from whatleaks.models.box_solutions import minimum_norm
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network, activate
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import WhiteBoxLinearView, WhiteBoxPredictionView

NEAR = 1e-6  # how near to the end of its range a hidden value may be


@attack(
    "half-star-layers",
    title="half*, layer by layer",
    paper=f"{VARASTEH}, Remark 4",
    needs="scores and the whole model",
)
@travels
@dataclass(frozen=True)
class HalfStarLayers:
    """``clip`` moves values outside [0, 1] to its border, ``snap`` to those that the schema allows."""

    leaves_out: ClassVar[tuple[type, ...]] = (WhiteBoxLinearView,)  # there it is half* itself

    clip: bool = True
    snap: bool = False
    name: str = "half-star-layers"

    def infer(self, view: WhiteBoxPredictionView, rng: np.random.Generator) -> ValueGuess:
        """Go down through the layers, all records at once."""
        del rng
        model, half = view.model, np.full((len(view.own), view.unknown), 0.5)
        told, known = log_ratios(view.scores), model.active.logits(view.own)
        if isinstance(model, JointNetwork):
            sums = known + model.passive.logits(half)
            inner = activate(sums, model.activation)
            above = solved(model.rest, told, _centre(inner, model.activation), top=True)
            wanted = _turned_back(above, sums, model.activation) - known
            values = solved(model.passive, wanted, half, top=False)
        else:
            values = solved(model.passive, told - adjacent_differences(known), half, top=True)
        values = np.clip(values, 0.0, 1.0) if self.clip else values
        return ValueGuess(sealed(snapped(values, view) if self.snap else values))


def solved(part: Bottom, outputs: Floats, start: Floats, *, top: bool) -> Floats:
    """Return the inputs of a part, near ``start``, that give these outputs.

    ``top``: the outputs are adjacent differences, which is all that scores tell.
    """
    whole = Network((part.weights,), (part.bias,), "") if isinstance(part, Linear) else part
    weights, biases, activation = whole.weights, whole.biases, whole.activation
    # What the middle of the inputs gives at every layer.
    before: list[Floats] = []
    h = start
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        before.append(h @ w + b)
        h = activate(before[-1], activation)
    wanted = outputs
    for i in reversed(range(len(weights))):
        middle = start if i == 0 else _centre(activate(before[i - 1], activation), activation)
        last = top and i == len(weights) - 1
        w = adjacent_differences(weights[i]) if last else weights[i]
        b = adjacent_differences(biases[i]) if last else biases[i]
        # A Eq 14, about any middle: m + A^+ (b' - A m).
        inputs = middle + minimum_norm(w.T, wanted - b - middle @ w)
        if i == 0:
            return np.asarray(inputs)
        wanted = _turned_back(inputs, before[i - 1], activation)
    raise AssertionError("a part has at least one layer")


def _centre(at_half: Floats, activation: str) -> Floats:
    middles = {"sigmoid": 0.5, "tanh": 0.0}
    return np.full_like(at_half, middles[activation]) if activation in middles else at_half


def _turned_back(inner: Floats, at_half: Floats, activation: str) -> Floats:
    """Return what went into an activation that gave ``inner``."""
    if activation == "sigmoid":
        return np.asarray(logit(np.clip(inner, NEAR, 1.0 - NEAR)))
    if activation == "tanh":
        return np.asarray(np.arctanh(np.clip(inner, NEAR - 1.0, 1.0 - NEAR)))
    return np.where(inner > 0.0, inner, np.minimum(at_half, 0.0))
