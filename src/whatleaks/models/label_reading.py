"""The other direction of L section 4.1: a passive party reads labels off its own gradient.

Its gradient g = X_A^T d + alpha W_A determines the residuals of a batch once it has as many
independent columns as the batch has records. In a logistic regression with the polynomial
sigmoid d = z / 4 + 1/2 - y, so while scores are small the sign of d is the label.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints
from whatleaks.errors import AttackError
from whatleaks.models.residuals import independent_records, residuals


def labels_from_gradients(
    x: Floats,
    gradients: Floats,
    first_weights: Floats,
    batches: Sequence[Ints],
    learning_rate: float,
    alpha: float,
) -> Bools:
    """Return for every record of the first pass whether its label is 1.

    ``batches`` are those of the first pass, and ``gradients`` has at least as many rows. The own
    weights follow from the first ones and the gradients.
    """
    labels = np.zeros(len(x), dtype=np.bool_)
    weights = np.array(first_weights)
    for rows, gradient in zip(batches, gradients, strict=False):
        rank = independent_records(x[rows])
        if rank < len(rows):
            raise AttackError(
                f"{x.shape[1]} columns of rank {rank} cannot determine the residuals of "
                f"{len(rows)} records: {len(rows) - rank} columns made up would"
            )
        d = residuals(x[rows], gradient[None], weights[None], alpha)[:, 0]
        labels[rows] = d < 0.0
        weights = weights - learning_rate * gradient
    return labels
