"""Pearson correlations between the columns of two tables, all pairs at once."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import UsageError


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
    a, b = _unit(left), _unit(right)
    return np.clip(a.T @ b, -1.0, 1.0)


def _unit(table: Floats) -> Floats:
    """Centre every column and scale it to length one; a constant column becomes zero."""
    centred = table - table.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    size = np.abs(table).max(axis=0) * np.sqrt(len(table))
    varies = length > 1e-12 * size
    return np.where(varies, centred / np.where(varies, length, 1.0), 0.0)
