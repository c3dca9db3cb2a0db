"""Groups of people by one column of the table: its words, or quarters of its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Ints, sealed_ints
from whatleaks.data.schema import read
from whatleaks.errors import UsageError, argument, nearest

if TYPE_CHECKING:
    import pandas as pd

MOST_GROUPS = 12
QUARTERS = ("lowest quarter", "second quarter", "third quarter", "highest quarter")


def grouped(frame: pd.DataFrame, by: str) -> tuple[Ints, tuple[str, ...]]:
    """Return every record's group and the groups' names; -1 where the value is missing."""
    names = [str(name) for name in frame.columns]
    if by not in names:
        raise UsageError(f"{argument('by')} {by!r} is no column of the table.{nearest(by, names)}")
    values = read(by, frame.iloc[:, names.index(by)])
    if values.numbers is None:
        codes, words = values.codes, values.vocabulary
        if len(words) > MOST_GROUPS:
            raise UsageError(
                f"{argument('by')} {by!r} has {len(words)} groups: name a column with at most "
                f"{MOST_GROUPS}"
            )
        return sealed_ints(codes), tuple(f"{by}: {word}" for word in words)
    known = np.isfinite(values.numbers)
    found, codes = np.unique(values.numbers[known], return_inverse=True)
    groups = np.full(len(known), -1, dtype=np.int64)
    if len(found) <= len(QUARTERS):
        groups[known] = codes
        return sealed_ints(groups), tuple(f"{by}: {value:g}" for value in found)
    cuts = np.quantile(values.numbers[known], [0.25, 0.5, 0.75])
    groups[known] = np.searchsorted(cuts, values.numbers[known], side="left")
    return sealed_ints(groups), tuple(f"{by}: {quarter}" for quarter in QUARTERS)
