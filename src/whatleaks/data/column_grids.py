"""The grid of every encoded column, as its schema says: what values it can take.

The schema is public among partners (they agree on columns, kinds and encodings), so the grid is
granted like the range. It is read off the whole table here, which stands for a schema that
somebody wrote down: whole numbers from a to b, steps of a cent, one of five categories.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.models.grids import BOOLEAN, Grid, Grids, decimal_step, free, listed, stepped

MOST_LEVELS = 2**40  # beyond, a column is an ordinary real number for every purpose
EXACT = 2.0**53
FEW = 4096  # records that are looked at first: most real numbers show there


def column_grid(raw: Floats, low: float, high: float, *, means: bool = False) -> Grid:
    """Return the grid of one column that is scaled so that ``low`` to ``high`` is 0 to 1.

    ``means``: the column holds a mean per category, so its values are few and in no steps.
    """
    if not high > low or not np.isfinite([low, high]).all():
        return free()
    if means:
        return listed(tuple(float(v) for v in np.unique(raw)), low, high)
    least, most = float(raw.min()), float(raw.max())
    # Beyond this size floats have gaps of more than one: whatever the column is, it has no step.
    exact = max(abs(least), abs(most)) < EXACT
    step = exact and decimal_step(raw[:FEW]) and decimal_step(raw)
    if not step or (most - least) / step > MOST_LEVELS:
        span = high / 4 - low / 4  # quarters: the difference of two huge numbers stays finite
        return free((least / 4 - low / 4) / span, (most / 4 - low / 4) / span)
    return stepped(round(least / step) * step, round(most / step) * step, step, low, high)


def table_grids(
    columns: Mapping[str, Floats],
    sources: Mapping[str, str],
    low: Floats,
    high: Floats,
    means: Sequence[str] = (),
) -> Grids:
    """Return the grids of encoded columns; those of one source are a one-hot group."""
    names = list(columns)
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        groups.setdefault(sources[name], []).append(place)
    hot = {place for group in groups.values() if len(group) > 1 for place in group}
    # A category that no training row has is scaled on all rows: every one-hot column is 0 or 1.
    grids = tuple(
        BOOLEAN
        if place in hot
        else column_grid(
            columns[name], float(low[place]), float(high[place]), means=sources[name] in means
        )
        for place, name in enumerate(names)
    )
    return Grids(grids, tuple(tuple(group) for group in groups.values() if len(group) > 1))
