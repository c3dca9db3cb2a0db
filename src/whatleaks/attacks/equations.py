"""The linear equations that released scores put on the passive party's columns.

Shared by equality solving, half* and the agnostic attack: A x = b' with
A = J W_pas and b' = c' - J W_act y - J b (A Eqs 3-6; U Eqs 3 and 8; J Eqs 13-15).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import AttackError
from whatleaks.models.additive import Additive, adjacent_differences
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear


@dataclass(frozen=True)
class Equations:
    """``matrix @ x = right[i]`` for the unknown columns x of record i."""

    matrix: Floats
    right: Floats


def equations(own: Floats, ratios: Floats, model: Additive | JointNetwork) -> Equations:
    """Write down the equations that adjacent log-ratios impose on the unknown columns."""
    if (
        isinstance(model, JointNetwork)
        or not isinstance(model.active, Linear)
        or not isinstance(model.passive, Linear)
    ):
        raise AttackError("equations exist for a linear model only: attack a network by inversion")
    if ratios.shape[1] < 1:
        raise AttackError(
            "the equations need at least 2 classes, got 1: a single score carries no ratio"
        )
    matrix = adjacent_differences(model.passive.weights).T  # A Eq 6: A = J W_pas
    # J is applied to the weights, not to the outputs: one column less per record to carry along.
    known = own @ adjacent_differences(model.active.weights)
    known += adjacent_differences(model.active.bias + model.passive.bias)
    return Equations(matrix, np.subtract(ratios, known, out=known))
