"""A party's own steps as they would have been with other messages: weights and gradients that agree.

Whoever exchanges messages between records must not leave the true weights in place: the difference
of two of them is a true gradient.
"""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.models.adam import Adam
from whatleaks.models.residuals import turns


def replayed(
    own: Floats,
    first: Floats,
    batches: tuple[Ints, ...],
    steps: int,
    learning_rate: float,
    alpha: float,
    slope: float,
    rest: Floats,
    optimiser: str = "sgd",
) -> tuple[Floats, Floats]:
    """Return the weights before every step and its gradient, from the ``first`` weights on.

    ``rest`` (records x passes) is the part of the residuals that is not the party's own:
    d = slope X W + rest. Steps go along gradients, or along what an arbiter's ``optimiser`` makes
    of them.
    """
    used: list[tuple[Ints, int]] = [(batches[0], 0)] * steps
    for rows, taken, columns in turns(batches, steps, len(own)):
        passes = range(rest.shape[1])[columns]
        for step, column in zip(range(steps)[taken], passes, strict=True):
            used[step] = (rows, column)
    weights, gradients = np.empty((steps, own.shape[1])), np.empty((steps, own.shape[1]))
    held, state = np.array(first, dtype=np.float64), Adam(np.zeros(own.shape[1]), 1.0)
    for step, (rows, column) in enumerate(used):
        d = slope * (own[rows] @ held) + rest[rows, column]
        weights[step] = held
        gradients[step] = own[rows].T @ d + alpha * held
        along = gradients[step] if optimiser == "sgd" else state.direction(gradients[step])
        held = held - learning_rate * along
    return sealed(weights), sealed(gradients)
