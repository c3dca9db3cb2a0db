"""Pearson correlations between the columns of two tables, all pairs at once."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import UsageError

BLOCK = 65_536  # records at a time: a large table is not held twice


def correlations(left: Floats, right: Floats) -> Floats:
    """Return r(left_i, right_j) for every pair of columns: left columns x right columns.

    A column that does not vary has no correlation with anything; it is given 0, since
    nothing can be inferred from it or for it by a linear rule. "Does not vary" means that
    its deviations are within rounding of its size.
    """
    if len(left) != len(right):
        raise UsageError(
            f"correlations need the same records on both sides, got {len(left)} and {len(right)}"
        )
    if len(left) < 2:
        raise UsageError(f"correlations need at least 2 records, got {len(left)}")
    means = left.mean(axis=0), right.mean(axis=0)
    products = np.zeros((left.shape[1], right.shape[1]))
    squares = np.zeros(left.shape[1]), np.zeros(right.shape[1])
    for start in range(0, len(left), BLOCK):
        part = slice(start, start + BLOCK)
        a, b = left[part] - means[0], right[part] - means[1]
        products += a.T @ b
        for square, centred in zip(squares, (a, b), strict=True):
            square += (centred**2).sum(axis=0)
    lengths = [_length(*of) for of in zip((left, right), squares, strict=True)]
    return np.clip(products * np.outer(*lengths), -1.0, 1.0)


def _length(table: Floats, square: Floats) -> Floats:
    """Return one over the length of every centred column; of a constant one zero."""
    length = np.sqrt(square)
    size = np.maximum(-table.min(axis=0), table.max(axis=0)) * np.sqrt(len(table))
    varies = length > 1e-12 * size
    return np.where(varies, 1.0 / np.where(varies, length, 1.0), 0.0)
