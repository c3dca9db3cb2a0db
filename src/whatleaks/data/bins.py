"""Quantile bins: a number becomes one of a few classes of about equal size."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.errors import TableError, UsageError, argument


def quantile_bins(values: Floats, count: int, column: str) -> tuple[Ints, tuple[str, ...]]:
    """Cut ``values`` at its ``count``-quantiles; return codes and the name of each bin.

    Equal values always share a bin, so ties can leave fewer bins than asked for.
    """
    if count < 2:
        raise UsageError(
            f"{argument('bins')} {count} is too few: column {column!r} needs at least 2 bins."
        )
    inner = np.quantile(values, np.arange(1, count) / count)
    # A cut at the minimum would leave the first bin empty.
    inner = np.unique(inner[inner > values.min()])
    if inner.size == 0:
        raise TableError(
            f"column {column!r} has too many equal values for {argument('bins')} {count}: "
            "more than that share of its rows hold the same number."
        )
    codes: Ints = np.searchsorted(inner, values, side="right").astype(np.int64)
    used, codes = np.unique(codes, return_inverse=True)
    edges = [float(values.min()), *(float(cut) for cut in inner), float(values.max())]
    names = tuple(
        f"[{edges[i]:.6g}, {edges[i + 1]:.6g}{']' if i == inner.size else ')'}" for i in used
    )
    return codes.astype(np.int64), names
