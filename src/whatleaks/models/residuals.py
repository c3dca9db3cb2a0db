"""Linear algebra of a party's own gradients: which residuals they were made from.

In a linear regression over two parties the gradient of B is
``g = X_B^T d + alpha W_B`` with the residuals ``d = z_A + z_B - y`` (L Eq 1, section 4.1), or
``d = slope (z_A + z_B) + offset - y`` where a sigmoid is taken to first order.
"""

from __future__ import annotations

from collections.abc import Iterator

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


def passes(batches: tuple[Ints, ...], steps: int, records: int) -> int:
    """Return how often every record was used: batches are one pass, or all passes if shuffled."""
    return steps // len(batches) * (sum(len(rows) for rows in batches) // records)


def turns(
    batches: tuple[Ints, ...], steps: int, records: int
) -> Iterator[tuple[Ints, slice, slice]]:
    """Yield the rows of every batch, the steps that used them, and the passes these belong to."""
    rounds, used = steps // len(batches), 0
    if not rounds:
        return
    each = passes(batches, steps, records) // rounds
    for place, rows in enumerate(batches):
        first = used // records
        yield rows, slice(place, steps, len(batches)), slice(first, rounds * each, each)
        used += len(rows)


def partner_outputs(
    own: Floats,
    targets: Floats,
    gradients: Floats,
    weights: Floats,
    batches: tuple[Ints, ...],
    alpha: float,
    slope: float = 1.0,
    offset: float = 0.0,
) -> Floats:
    """Return the partner's z_A of every record (rows) in every epoch (columns).

    ``z_A = (d + y - offset) / slope - z_B``: with a polynomial sigmoid too (section 4.1).
    """
    outputs = np.empty((len(own), passes(batches, len(gradients), len(own))))
    for rows, steps, columns in turns(batches, len(gradients), len(own)):
        d = residuals(own[rows], gradients[steps], weights[steps], alpha)
        outputs[rows, columns] = (d + targets[rows, None] - offset) / slope - own[rows] @ weights[
            steps
        ].T
    return outputs
