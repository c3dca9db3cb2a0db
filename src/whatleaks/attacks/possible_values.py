"""Guesses moved to values that a column can take: the schema is granted, so no guess need miss it."""

from __future__ import annotations

from typing import Any

import numpy as np

from whatleaks.arrays import Bools, Floats
from whatleaks.models.grids import Grid, Grids


def snapped(values: Floats, view: Any) -> Floats:
    """Move every guess to the nearest possible value; without a schema it stays as it is."""
    schema = getattr(view, "schema", None)
    return values if schema is None else np.asarray(schema.grids.snap(values))


def snapped_where_nearer(values: Floats, left_out: Floats, truth: Floats, view: Any) -> Floats:
    """Move guesses to possible values where known people, each left out, would be met better.

    ``left_out``: the answers on known people who were left out, beside their ``truth``. A value
    that is known to half a step is met exactly; one that is not is worse off when it is moved, so
    every unknown (a column, or a one-hot group as a whole) is decided by itself.
    """
    schema = getattr(view, "schema", None)
    if schema is None:
        return values
    grids: Grids = schema.grids
    plain = ((left_out - truth) ** 2).sum(axis=0)
    moved = ((grids.snap(left_out) - truth) ** 2).sum(axis=0)
    for group in grids.one_hot:
        plain[list(group)], moved[list(group)] = plain[list(group)].sum(), moved[list(group)].sum()
    return np.where(moved < plain, grids.snap(values), values)


def middle(grid: Grid, low: Floats, high: Floats) -> Floats:
    """Return the mean of a column's possible values in (low, high], interval by interval.

    A free column has its middle; where no value of the grid is left the middle stands too, for
    then the grid is wrong for this record.
    """
    plain = 0.5 * (low + high)
    if grid.free:
        return plain
    points = np.array(grid.values) if grid.values else None
    if points is None:
        first = np.maximum(np.floor((low - grid.low) / grid.step + 1e-9) + 1.0, 0.0)
        # The border of the public range is itself a value: nothing was tested there.
        first = np.where(low <= grid.low, 0.0, first)
        last = np.minimum(np.floor((high - grid.low) / grid.step + 1e-9), grid.levels - 1.0)
        inside: Bools = last >= first
        return np.where(inside, grid.low + grid.step * 0.5 * (first + last), plain)
    within = (points > low[..., None]) & (points <= high[..., None])
    within |= (points == points.min()) & (low[..., None] <= points.min())
    count = within.sum(axis=-1)
    total = (within * points).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), plain)
