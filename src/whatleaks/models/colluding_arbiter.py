"""A victim's table from its own gradients, as an arbiter sees them (L section 4.1, multi-party).

Every gradient of the victim is g_t = X_b^T d_t + alpha W_t, and W_t = W_0 - eta sum of the
gradients before. With the residuals d_t known (the arbiter decrypts them too) this is linear
in the table and in W_0. The paper takes differences of two gradients on one batch; the whole
system needs no batch twice, so shuffling does not help against it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.errors import AttackError


def table_from_gradients(
    gradients: Floats,
    residuals: Sequence[Floats],
    batches: Sequence[Ints],
    records: int,
    learning_rate: float,
    alpha: float,
    cutoff: float | None = None,
    directions: Floats | None = None,
    centre: Floats | None = None,
) -> Floats:
    """Solve for the table; one row of ``gradients``, one batch and its residuals for every step.

    ``directions``: what the weights moved along, where it is not the gradients.
    ``centre``: with too few steps, the values that the table is then taken to lie near.
    Singular values below ``cutoff`` of the largest count as none; None: those of rounding.
    """
    steps = len(gradients)
    design = np.zeros((steps, records + 1))
    for step, (rows, d) in enumerate(zip(batches, residuals, strict=True)):
        design[step, rows] = d
    design[:, -1] = alpha
    moved = gradients if directions is None else directions
    before = np.cumsum(moved, axis=0) - moved
    if alpha == 0.0:
        design = design[:, :-1]  # W_0 leaves no trace, and none is needed
    few = steps < design.shape[1]
    if few and centre is None:
        raise AttackError(
            f"{steps} gradients cannot determine {design.shape[1]} unknowns of every column: "
            "train for more epochs"
        )
    right = gradients + alpha * learning_rate * before
    near = np.zeros((design.shape[1], gradients.shape[1]))
    if few and centre is not None:
        near[:records] = centre
    solved = near + np.linalg.lstsq(design, right - design @ near, rcond=cutoff)[0]
    return np.asarray(solved[:records], dtype=np.float64)
