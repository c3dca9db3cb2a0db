"""Rows of a table that are no records: units under the names, a total at the bottom."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.data.naming import listed
from whatleaks.data.written import is_number, read_written

if TYPE_CHECKING:
    import pandas as pd

TOTALS = (
    *("total", "totals", "grand total", "sum", "summe", "gesamt", "insgesamt", "gesamtsumme"),
    *("somme", "suma", "totale", "average", "mean", "mittelwert", "durchschnitt"),
)
_PLAIN = re.compile(r"\s*-?\d+(?:\.\d+)?\s*")
ADDENDS = 10  # with fewer a value may be the sum of the others by chance


def unit_row(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the units that stand between the names and the records; none where a record stands.

    ``rows`` are cells: the names, the row in question, a few more. In a row of units no column of
    numbers has a number and at least two have a word, or one where nothing else stands in it.
    """
    if len(rows) < 4:
        return []
    first, below = rows[1], rows[2:]
    units, others = [], 0
    for place, cell in enumerate(first):
        column = [row[place].strip() for row in below if place < len(row) and row[place].strip()]
        word = cell.strip()
        if column and all(is_number(value) for value in column):
            if is_number(word) or word in column:
                return []
            units += [word] if word else []
        else:
            others += bool(word)
    return units if len(units) > 1 or (units and not others) else []


def values_as_names(names: Sequence[str]) -> bool:
    """Say whether most names are numbers, and not a row of counted ones: a record without names above.

    Columns may well be called 0, 1, 2 or 2019, 2020.
    """
    numbers = [float(name) for name in names if _PLAIN.fullmatch(name)]
    counted = all(n.is_integer() for n in numbers) and all(a < b for a, b in pairwise(numbers))
    return len(numbers) > len(names) / 2 and not counted


def total_row(frame: pd.DataFrame) -> str:
    """Say why the last row is a total of the others; nothing where it may be a record.

    It is one if a cell is empty or says so, and if a number in it is the sum of all above. One that
    says so may have means, or nothing else.
    """
    if len(frame) <= ADDENDS or not frame.columns.is_unique:
        return ""
    last = frame.iloc[-1]
    said = [c for c in last if isinstance(c, str) and c.strip(" :.").casefold() in TOTALS]
    if not said and not bool(last.isna().any()):
        return ""
    read = read_written(frame)[0]
    numbers = {
        str(name): _floats(read.iloc[:, i])
        for i, name in enumerate(read.columns)
        if getattr(read.dtypes.iloc[i], "kind", "") in "iuf"
    }
    sums = [name for name, values in numbers.items() if _is_sum(values)]
    if sums:
        return f"in {listed(sums)} it is the sum of the others"
    if said and all(np.isnan(values[-1]) or _is_mean(values) for values in numbers.values()):
        return f"it says {said[0]!r}"
    return ""


def _floats(column: pd.Series[Any]) -> Floats:
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _is_sum(values: Floats) -> bool:
    above, last = values[:-1][np.isfinite(values[:-1])], float(values[-1])
    if np.count_nonzero(above) < ADDENDS or not abs(last) > np.abs(above).max():
        return False
    return bool(np.isclose(last, above.sum(), rtol=1e-9, atol=0.0))


def _is_mean(values: Floats) -> bool:
    above = values[:-1][np.isfinite(values[:-1])]
    return above.size > 0 and abs(float(values[-1]) - above.mean()) <= 0.01 * above.std()
