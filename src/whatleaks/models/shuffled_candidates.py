"""Candidate splits that come without names: which column each splits, and what it says of records.

Who lies left of every candidate is known, and the values of a few people. A column can be that of
a candidate only if all known people on its left lie below all on its right. And splits of one
column contain each other: a candidate that has people whom a split of this column lacks, and lacks
people whom it has, is of another column. Nothing is guessed, so what is named is named rightly.
"""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed, sealed_ints
from whatleaks.models.threshold_search import Thresholds, record_intervals


def possible_columns(
    known: Bools, values: Floats, low: Floats, high: Floats
) -> tuple[Bools, Floats, Floats]:
    """Say which columns can be split by each candidate (rows), and between which known values.

    ``known``: people x candidates, true on the left; ``values``: people x columns.
    """
    sides = known[:, :, None]
    below = np.where(sides, values[:, None, :], -np.inf).max(axis=0, initial=-np.inf)
    above = np.where(sides, np.inf, values[:, None, :]).min(axis=0, initial=np.inf)
    least, most = np.maximum(below, low), np.minimum(above, high)
    return least < most, least, most


def named_columns(possible: Bools, left: Bools) -> Bools:
    """Strike columns out whose splits a candidate crosses, until nothing changes.

    ``left``: candidates x records. A candidate with one column left is named, and names others.
    """
    more = (left.astype(np.int32) @ ~left.T) > 0  # someone is left of the one and not of the other
    crosses = (more & more.T).astype(np.int32)
    found = possible.copy()
    while True:
        named = found & (found.sum(axis=1, keepdims=True) == 1)
        kept = found & ~(crosses @ named > 0)
        if (kept == found).all():
            return found
        found = kept


def bounds_of_candidates(
    left: Bools, people: Ints, values: Floats, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Return every record's bounds in every column; ``people`` are those records that are known."""
    possible, least, most = possible_columns(left[:, people].T, values, low, high)
    found = named_columns(possible, left)
    one = np.flatnonzero(found.sum(axis=1) == 1)
    column = found[one].argmax(axis=1)
    splits = Thresholds(
        sealed_ints(column), sealed(least[one, column]), sealed(most[one, column]), 0, 0
    )
    return record_intervals(left[one].T.astype(np.float64), splits, low, high)
