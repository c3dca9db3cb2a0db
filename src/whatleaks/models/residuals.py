"""Linear algebra of a party's own gradients: which residuals they were made from.

In a linear regression over two parties the gradient of B is
``g = X_B^T d + alpha W_B`` with the residuals ``d = z_A + z_B - y`` (L Eq 1, section 4.1).
"""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats, Ints


def independent_records(own: Floats) -> int:
    """Return the rank of the own columns: how many residuals of the batch they determine."""
    return int(np.linalg.matrix_rank(own))


def residuals(own: Floats, gradients: Floats, weights: Floats, alpha: float) -> Floats:
    """Solve ``X_B^T d = g - alpha W_B`` for every step of one batch: records x steps.

    With as many independent own columns as records the residuals are exact; with fewer
    this is their projection on the own columns, the most that the gradients say.
    """
    right = (gradients - alpha * weights).T
    return np.asarray(np.linalg.lstsq(own.T, right, rcond=None)[0], dtype=np.float64)


def partner_outputs(
    own: Floats,
    targets: Floats,
    gradients: Floats,
    weights: Floats,
    batches: tuple[Ints, ...],
    alpha: float,
) -> Floats:
    """Return the partner's ``z_A = d - z_B + y`` of every record (rows) in every epoch (columns)."""
    epochs = len(gradients) // len(batches)
    outputs = np.empty((len(own), epochs))
    for place, rows in enumerate(batches):
        steps = slice(place, epochs * len(batches), len(batches))
        d = residuals(own[rows], gradients[steps], weights[steps], alpha)
        outputs[rows] = d - own[rows] @ weights[steps].T + targets[rows, None]
    return outputs
