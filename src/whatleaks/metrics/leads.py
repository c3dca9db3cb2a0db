"""What a guess has over the best of its rivals, by column: over records, and over seeds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints
from whatleaks.metrics.association import UNIT
from whatleaks.metrics.column_association import Followed, Gained
from whatleaks.metrics.intervals import seeds_of_columns
from whatleaks.metrics.measurement import Measurement


def lead_over(gained: Sequence[Gained], chosen: Ints) -> Gained:
    """Return what is gained over the chosen rival of every column.

    The chosen one is the best of several by luck too. So the upper end is the farthest over all
    rivals that may be the best, and the chance is the largest: who knows more than all of them
    leads each beyond luck (an intersection-union test).
    """
    columns = np.arange(len(chosen))
    values, lows, highs, chances = (
        np.stack([getattr(one, name) for one in gained])
        for name in ("value", "low", "high", "chance")
    )
    value, low = (found[chosen, columns] for found in (values, lows))
    high = np.where(lows <= value, highs, highs[chosen, columns]).max(axis=0)
    return Gained(value, low, high, chances.max(axis=0), gained[0].n)


def widened(
    found: Followed | Gained,
    by_seed: Floats,
    lowest: float = 0.0,
    unit: str = UNIT,
    told: Bools | None = None,
) -> list[Measurement]:
    """Widen every column's interval over pooled records to cover the t interval over seeds too.

    Seeds share records and train different models, so records alone would say too much.
    ``by_seed`` is seeds x columns. ``told``: where a seed says anything of a column; where nobody
    attacked in it differs it does not, and is no seed in which nothing was followed.
    """
    low, high, over = found.low, found.high, "records"
    if len(by_seed) > 1:
        centre, half = seeds_of_columns(by_seed, told)
        several = True if told is None else told.sum(axis=0) > 1
        low = np.where(several, np.minimum(low, np.clip(centre - half, lowest, 1.0)), low)
        high = np.where(several, np.maximum(high, np.clip(centre + half, lowest, 1.0)), high)
        over = "records and seeds"
    ends = zip(found.value.tolist(), low.tolist(), high.tolist(), strict=True)
    return [Measurement(*three, found.n, unit, over) for three in ends]
