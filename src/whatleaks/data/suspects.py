"""Values that are not what they look like: codes for "missing" among numbers, and dates and times.

A number such as -999 that stands for a missing value stretches the range of its column, and
every leak in it looks smaller. Nobody but the user can know: it is said, with the argument that
reads it as missing. Dates are read where one order of day, month and year fits all of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.data.naming import listed
from whatleaks.errors import choice

if TYPE_CHECKING:
    import pandas as pd

# What surveys, sensors and databases write for "missing".
_NINES = {float(f"{k}" * n) for k in (7, 8, 9) for n in range(2, 10)}
_LAST = {10.0**n - k for n in range(2, 6) for k in (2, 3, 4)}  # 98, 97, 96 beside 99
_LIMITS = {32767.0, 65535.0, 2147483647.0, 4294967295.0}
_FAR = _NINES | _LAST | _LIMITS | {32768.0, 2147483648.0}
_NEAR = {-1.0, -7.0, -8.0, -9.0}  # the only ones below zero
_DAYS = ("9999-12-31", "2999-12-31", "1900-01-01", "1899-12-30", "1800-01-01")
_FEWEST = 5  # other values of a column in which a code can stand out
_TWICE = 2  # a code near the others occurs more than once

_PARTED = re.compile(
    r"(?:\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})|\d{4}([./-])\d{1,2}\2\d{1,2})(?: \d.*)?"
)
_ORDERS = {
    "day, month, year": "%d{0}%m{0}%Y",
    "month, day, year": "%m{0}%d{0}%Y",
    "year, month, day": "%Y{0}%m{0}%d",
}
_HOURS = ("", " %H:%M", " %H:%M:%S")
_IN_LETTERS = re.compile(
    r"\d{1,2}([ ./-]?)[A-Za-z]{3,9}\1\d{4}(?: \d.*)?|[A-Za-z]{3,9} \d{1,2}, ?\d{4}(?: \d.*)?"
)
_LETTERED = (
    *(f"%d{mark}{month}{mark}%Y" for mark in ("", " ", ".", "/", "-") for month in ("%b", "%B")),
    *("%b %d, %Y", "%B %d, %Y"),
)
DATE = re.compile(r"\s*(?:\d{1,2}([./-])\d{1,2}\1\d{4}|\d{4}([./-])\d{1,2}\2\d{1,2})(?:[ T].*)?")
TIME = re.compile(r"\s*([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?\s*")
_LOOKED_AT = 1000
_ENOUGH = 20  # values that are all possible dates by chance are fewer


def missing_codes(numbers: Floats) -> dict[float, int]:
    """Return the values of a column that may stand for "missing", and how often each occurs.

    Either they are the only values below zero and usual codes; or usual codes that are farther from
    all others than those are from each other.
    """
    known = numbers[np.isfinite(numbers)]
    if known.size == 0 or not _may_be_code(float(known.min()), float(known.max())):
        return {}
    levels, counts = np.unique(known, return_counts=True)
    count = dict(zip(levels.tolist(), counts.tolist(), strict=True))
    negative = levels[levels < 0.0].tolist()
    usual = all(v in _NEAR or -v in _NINES for v in negative)
    if negative and usual and levels.size - len(negative) >= _FEWEST:
        found = [v for v in negative if v not in _NEAR or count[v] >= _TWICE]
        if len(found) == len(negative):
            return {**_isolated(levels[len(negative) :], count), **{v: count[v] for v in found}}
    return _isolated(levels, count)


def _may_be_code(low: float, high: float) -> bool:
    return high in _FAR or -low in _FAR or low in _NEAR


def _isolated(levels: Floats, count: dict[float, int]) -> dict[float, int]:
    """Take usual codes from both ends, where they leave the others far behind."""
    found: dict[float, int] = {}
    for sign in (-1.0, 1.0):
        ordered = np.sort(sign * levels)
        codes = 0
        while codes < ordered.size and ordered[-1 - codes] in _FAR:
            codes += 1
        rest = ordered[: ordered.size - codes]
        if not codes or rest.size < _FEWEST:
            continue
        if ordered[rest.size] - rest[-1] > rest[-1] - rest[0]:
            found |= {sign * v: count[sign * v] for v in ordered[rest.size :].tolist()}
            levels = np.sort(sign * rest)
    return found


def about_missing_codes(frame: pd.DataFrame, label: str, drop: Collection[str]) -> list[str]:
    """Say which values may stand for a missing one, with the arguments that read them so."""
    said = []
    for place, name in enumerate(map(str, frame.columns)):
        column = frame.iloc[:, place]
        kind = "" if name in drop else getattr(column.dtype, "kind", "")
        codes: dict[str, int] = {}
        if kind in ("i", "u", "f"):
            found = missing_codes(column.to_numpy(dtype=np.float64, na_value=np.nan))
            codes = {str(int(value)): count for value, count in found.items()}
        elif kind == "M":
            days = (str(day.date()) for day in (column.min(), column.max()) if day == day)
            codes = {d: int((column == d).sum()) for d in days if d in _DAYS}
        if codes:
            shown = " and ".join(f"{value} in {count}" for value, count in codes.items())
            flags = " ".join(choice("na", [f"{name}={value}"]) for value in codes)
            rest = choice("missing", "drop-rows" if name == label else "median")
            said.append(
                f"column {name!r} has the value {shown} of {len(column)} rows, unlike all others: if it "
                f"means that the value is missing, say {flags} {rest}"
            )
    return said


def day_and_month(numbers: Floats) -> str:
    """Say whether numbers with two decimals are days and months (31.12) or hours and minutes."""
    if not _two_decimals(numbers[:_LOOKED_AT]):
        return ""
    known = numbers[np.isfinite(numbers)]
    if known.size < _ENOUGH or not _two_decimals(known):
        return ""
    hundredths = np.rint(100.0 * known).astype(np.int64)
    whole, part = hundredths // 100, hundredths % 100
    wholes, parts = np.unique(whole).size, np.unique(part).size
    if whole.min() >= 1 and whole.max() <= 31 and part.min() >= 1 and part.max() <= 12:
        return "days and months" if wholes >= 6 and parts >= 3 else ""
    hours = whole.min() >= 0 and whole.max() <= 23 and part.max() <= 59
    return "hours and minutes" if hours and known.size >= 50 and wholes >= 6 and parts >= 12 else ""


def _two_decimals(numbers: Floats) -> bool:
    """Say whether all numbers are small, none has more than two decimals, and some have two."""
    known = numbers[np.isfinite(numbers)]
    if known.size == 0 or known.min() < 0.0 or known.max() >= 32.0:
        return False
    hundredfold, tenfold = 100.0 * known, 10.0 * known
    within = np.abs(hundredfold - np.rint(hundredfold)) < 1e-9
    return bool(within.all() and (np.abs(tenfold - np.rint(tenfold)) > 1e-3).any())


def digits_as_dates(series: pd.Series[Any]) -> pd.Series[Any] | None:
    """Read whole numbers such as 20201231 as dates; nothing where one of them is none."""
    import pandas as pd

    known = series.dropna()
    if len(known) < _ENOUGH or not 18000101 <= float(known.min()) <= float(known.max()) <= 21001231:
        return None
    numbers = known.to_numpy(dtype=np.float64)
    if not (numbers == np.floor(numbers)).all():
        return None
    levels = np.unique(numbers)
    words = pd.Series(levels.astype(np.int64).astype(str))
    dates = pd.to_datetime(words, format="%Y%m%d", errors="coerce")
    if levels.size < _ENOUGH / 2 or bool(dates.isna().any()):
        return None
    return series.map(dict(zip(levels.tolist(), dates, strict=True)))


def words_as_dates(series: pd.Series[Any]) -> tuple[pd.Series[Any] | None, str]:
    """Read dates such as 31.12.2020; return how they were read, or why not ("" if they are none)."""
    import pandas as pd

    first = series.dropna().iloc[:_LOOKED_AT]
    if not first.empty and all(_IN_LETTERS.fullmatch(str(word).strip()) for word in first):
        return _lettered(series)
    if first.empty or not all(_PARTED.fullmatch(str(word).strip()) for word in first):
        return None, ""
    words = pd.Series(series.dropna().unique()).astype("object")
    plain = words.map(lambda word: str(word).strip())
    if len(words) < 2 or not all(_PARTED.fullmatch(word) for word in plain):
        return None, ""
    mark = next(char for char in plain.iloc[0] if not char.isdecimal())
    fitting = {}
    for order, parts in _ORDERS.items():
        for hours in _HOURS:
            dates = pd.to_datetime(plain, format=parts.format(mark) + hours, errors="coerce")
            if not bool(dates.isna().any()):
                fitting[order] = dates
    if len(fitting) == 2 and mark == ".":  # nobody who writes points puts the month first
        fitting.pop("month, day, year", None)
    if len(fitting) != 1:
        return (
            None,
            f"{listed(list(fitting))} fit"
            if fitting
            else "no order of day, month and year fits all",
        )
    ((order, dates),) = fitting.items()
    return series.map(dict(zip(words, dates, strict=True))), order


def _lettered(series: pd.Series[Any]) -> tuple[pd.Series[Any] | None, str]:
    """Read dates such as 31-Dec-2020, whose order is clear; "" where one of them is none."""
    import pandas as pd

    words = pd.Series(series.dropna().unique()).astype("object")
    plain = words.map(lambda word: str(word).strip())
    for days in _LETTERED:
        for hours in _HOURS:
            dates = pd.to_datetime(plain, format=days + hours, errors="coerce")
            if not bool(dates.isna().any()):
                return series.map(dict(zip(words, dates, strict=True))), "the month in letters"
    return None, ""


def words_as_times(series: pd.Series[Any]) -> pd.Series[Any]:
    """Return the seconds since midnight of words that are all times such as 8:30."""
    parts = series.astype("object").str.extract(TIME).astype(np.float64)
    return 3600.0 * parts[0] + 60.0 * parts[1] + parts[2].fillna(0.0)
