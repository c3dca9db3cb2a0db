"""Which columns the passive party holds, drawn for experiments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.errors import UsageError


def passive_count(columns: int, share: float) -> int:
    """Return how many of ``columns`` a ``share`` makes: at least 1, and 1 is left to the other."""
    if columns < 2:
        raise UsageError(f"two parties need at least 2 feature columns, got {columns}.")
    if not 0.0 <= share <= 1.0:
        raise UsageError(f"a passive share of {share} is not between 0 and 1.")
    return min(max(round(share * columns), 1), columns - 1)


def random_passive(
    columns: Sequence[str], share: float, rng: np.random.Generator
) -> tuple[str, ...]:
    """Draw the passive party's columns at random; they keep the order of the table."""
    count = passive_count(len(columns), share)
    chosen = np.sort(rng.choice(len(columns), size=count, replace=False))
    return tuple(columns[i] for i in chosen)
