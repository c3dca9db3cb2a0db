"""Ways to guess a column: what one is, and those that need no message: one value for all, own columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.stats.columns import CATEGORY, Column

WITHOUT, WITH = "without", "with"  # joining
POINTS = (0.1, 0.3, 0.5, 0.7, 0.9)  # of the public range, or quantiles of known records


@dataclass(frozen=True)
class Way:
    """One way to guess one column: a value for every row, and perhaps a ranking of its own.

    A message is a way as it stands: it is read as a value and as a ranking, either way round.
    ``ranking``: one number for each row, the higher the more unusual; for categories rows x codes.
    """

    name: str
    side: str
    guess: Floats
    ranking: Floats | None = None


def one_value(column: Column, rows: int, records: Floats | None = None) -> tuple[Way, ...]:
    """Guess the same for everybody; ``records`` are values of people whom the partner knows."""
    if column.kind == CATEGORY:
        values = {f"{code:g} for everybody": code for code in column.common}
    else:
        width = column.high - column.low
        values = {f"{p:.0%} of the range": column.low + p * width for p in POINTS}
        if records is not None and len(records):
            quantiles = np.quantile(records, POINTS).tolist()
            values |= {
                f"{p:.0%} of known people": q for p, q in zip(POINTS, quantiles, strict=True)
            }
    return tuple(Way(name, WITHOUT, np.full(rows, value)) for name, value in values.items())


def own_columns(
    column: Column,
    own: Mapping[str, Floats],
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> tuple[Way, ...]:
    """Guess by what the partner holds (own columns, its own model's score, formulas) in place of the column.

    As it stands, and mapped from its range onto the public one, rising and falling. ``ranges``:
    where an own column's range is wider than among the rows that are guessed.
    """
    ways = []
    for name, values in own.items():
        ways.append(Way(name, WITHOUT, values))
        low, high = (ranges or {}).get(name) or (float(values.min()), float(values.max()))
        if high > low:
            part = (values - low) / (high - low) * (column.high - column.low)
            ways.append(Way(f"{name}, rising", WITHOUT, column.low + part))
            ways.append(Way(f"{name}, falling", WITHOUT, column.high - part))
    return tuple(ways)
