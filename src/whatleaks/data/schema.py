"""What kind of values each column of a table holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.arrays import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("number", "integer", "boolean", "category", "date", "text", "constant", "id", "nested")

# Free text: many values and few repeats, or long ones.
_TEXT_DISTINCT = 50
_TEXT_SHARE = 0.2
_TEXT_LENGTH = 40.0
# Below this many rows distinct values are no sign of an identifier.
_ID_ROWS = 20
_EXACT = 2.0**53  # larger whole numbers are not all told apart

_ID_NAME = re.compile(r"(^|[^a-z])(id|uuid|guid)$|^(idx|index|key|row|unnamed.*)$", re.I)
_CAMEL_ID = re.compile(r"[a-z](ID|Id)$")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Column:
    """One column: its kind, how many distinct values it has and how many are missing."""

    name: str
    kind: str
    distinct: int
    missing: int


@dataclass(frozen=True)
class Values:
    """A column read as ``numbers`` (NaN where missing) or, where that is None, as words.

    ``codes`` index ``vocabulary``, -1 where missing; the vocabulary is sorted, or in the order
    that an ordered categorical declares.
    """

    column: Column
    numbers: Floats | None
    codes: Ints
    vocabulary: tuple[str, ...]


def infer(frame: pd.DataFrame) -> tuple[Column, ...]:
    """Return the kind of every column."""
    return tuple(
        read(str(name), frame.iloc[:, position]).column for position, name in enumerate(frame)
    )


def read(name: str, series: pd.Series[Any]) -> Values:
    """Read one column as numbers or as words, and say what kind it is."""
    if is_nested(series):
        nothing = np.full(len(series), -1, dtype=np.int64)
        return Values(Column(name, "nested", 0, int(series.isna().sum())), None, nothing, ())
    numbers, dated = _numbers(series)
    if numbers is not None and _too_long(series, numbers):
        series, numbers = series.map(str, na_action="ignore").astype("object"), None
    if numbers is not None:
        return Values(_numeric(name, numbers, dated), numbers, np.empty(0, np.int64), ())
    codes, vocabulary = _words(series)
    return Values(_wordy(name, codes, vocabulary), None, codes, vocabulary)


def _too_long(series: pd.Series[Any], numbers: Floats) -> bool:
    """Say whether whole numbers have so many digits that some can no longer be told apart."""
    if not np.any(np.abs(numbers) > _EXACT) or series.dtype.kind == "f":
        return False
    known = numbers[np.isfinite(numbers)]
    return int(series.nunique()) > np.unique(known).size or int(series.nunique()) == numbers.size


def is_nested(series: pd.Series[Any]) -> bool:
    """Say whether a column holds lists, records, maps or complex numbers: several values in a row."""
    if getattr(series.dtype, "kind", "") == "c":
        return True
    if series.dtype != object:
        return False
    import pandas as pd

    # Words, numbers and dates are recognised fast, so that few columns are walked through.
    if pd.api.types.infer_dtype(series, skipna=True) not in ("mixed", "mixed-integer", "complex"):
        return False
    several = (list, tuple, dict, set, frozenset, np.ndarray, complex)
    return any(isinstance(value, several) for value in series)


def _numbers(series: pd.Series[Any]) -> tuple[Floats | None, bool]:
    """Return the column as floats where it holds numbers or dates, and whether it holds dates."""
    import pandas as pd
    from pandas.api import types

    if isinstance(series.dtype, pd.CategoricalDtype):
        return None, False
    if types.is_bool_dtype(series.dtype) or types.is_numeric_dtype(series.dtype):
        if types.is_complex_dtype(series.dtype):
            return None, False
        return series.to_numpy(dtype=np.float64, na_value=np.nan), False
    if types.is_datetime64_any_dtype(series.dtype):
        return _seconds(pd.to_datetime(series, utc=True)), True
    if types.is_timedelta64_dtype(series.dtype):
        return series.dt.total_seconds().to_numpy(dtype=np.float64), False
    return _objects(series)


def _objects(series: pd.Series[Any]) -> tuple[Floats | None, bool]:
    """Read numbers and dates that hide in a column of Python objects or of words."""
    import pandas as pd

    content = pd.api.types.infer_dtype(series, skipna=True)
    if content in ("integer", "floating", "decimal", "boolean", "mixed-integer-float"):
        missing = series.isna().to_numpy()
        numbers = np.full(len(series), np.nan)
        try:
            numbers[~missing] = [float(value) for value in series[~missing]]
        except (OverflowError, ValueError):  # an integer beyond the floats, a signalling decimal
            return None, False
        return numbers, False
    if content == "time":
        return _times(series), False
    if content in ("datetime", "datetime64", "date"):
        return _dates(series)
    if content == "string":
        first = series.dropna()
        if len(first) and _ISO_DATE.match(str(first.iloc[0])):
            return _dates(series)
    return None, False


def _dates(series: pd.Series[Any]) -> tuple[Floats | None, bool]:
    """Parse dates in ISO form; a single one that is none makes the column words."""
    import pandas as pd

    try:
        parsed = pd.to_datetime(series, format="ISO8601", utc=True, errors="coerce")
    except (ValueError, OverflowError):
        return None, False
    if bool((parsed.isna() & ~series.isna()).any()):
        return None, False
    return _seconds(parsed), True


def _times(series: pd.Series[Any]) -> Floats:
    """Return seconds since midnight, NaN where missing."""
    seconds = series.map(
        lambda t: 3600 * t.hour + 60 * t.minute + t.second + t.microsecond / 1e6, na_action="ignore"
    )
    return seconds.to_numpy(dtype=np.float64, na_value=np.nan)


def _seconds(dates: pd.Series[Any]) -> Floats:
    """Return seconds since 1970, NaN where missing."""
    numbers: Floats = dates.to_numpy(dtype="datetime64[us]").astype(np.int64) / 1e6
    numbers[dates.isna().to_numpy()] = np.nan
    return numbers


def _numeric(name: str, numbers: Floats, dated: bool) -> Column:
    # Infinities are no values: preparation refuses them or treats them as missing.
    ordered = np.sort(numbers[np.isfinite(numbers)])
    missing = int(np.count_nonzero(np.isnan(numbers)))
    distinct = int(ordered.size > 0) + int(np.count_nonzero(ordered[1:] != ordered[:-1]))
    if distinct <= 1:
        return Column(name, "constant", distinct, missing)
    if dated:
        return Column(name, "date", distinct, missing)
    if distinct == 2 and ordered[0] == 0.0 and ordered[-1] == 1.0:
        return Column(name, "boolean", distinct, missing)
    if bool((np.floor(ordered) != ordered).any()):
        return Column(name, "number", distinct, missing)
    unique = distinct == numbers.size and distinct >= _ID_ROWS
    running = ordered[-1] == ordered[0] + (distinct - 1)
    kind = "id" if unique and (running or _named_id(name)) else "integer"
    return Column(name, kind, distinct, missing)


def _words(series: pd.Series[Any]) -> tuple[Ints, tuple[str, ...]]:
    """Return codes into a sorted vocabulary; a value that is no word is written as one."""
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        kept = series.cat.remove_unused_categories()
        if not kept.cat.ordered and kept.cat.categories.dtype.kind in "iuf":  # 9 before 10
            kept = kept.cat.set_categories(np.sort(kept.cat.categories), ordered=True)
        words = [str(category) for category in kept.cat.categories]
        codes: Ints = np.asarray(kept.cat.codes, dtype=np.int64)
        if kept.cat.ordered and len(set(words)) == len(words):
            return codes, tuple(words)
        return _sorted_codes(codes, words)
    if not isinstance(series.dtype, pd.StringDtype):
        series = series.map(str, na_action="ignore").astype("object")
    found, distinct = pd.factorize(series, use_na_sentinel=True)
    return _sorted_codes(np.asarray(found, dtype=np.int64), [str(word) for word in distinct])


def _sorted_codes(codes: Ints, words: list[str]) -> tuple[Ints, tuple[str, ...]]:
    """Renumber codes so that the vocabulary is sorted and without repeats; -1 stays missing."""
    vocabulary = sorted(set(words))
    place = {word: number for number, word in enumerate(vocabulary)}
    table = np.array([*(place[word] for word in words), -1], dtype=np.int64)
    return table[codes], tuple(vocabulary)


def _wordy(name: str, codes: Ints, vocabulary: tuple[str, ...]) -> Column:
    rows = int(codes.size)
    distinct = len(vocabulary)
    missing = int(np.count_nonzero(codes < 0))
    if distinct <= 1:
        return Column(name, "constant", distinct, missing)
    lengths = np.array([len(word) for word in vocabulary], dtype=np.float64)
    mean_length = float(lengths[codes[codes >= 0]].mean())
    single_words = not any(" " in word for word in vocabulary)
    short = mean_length <= _TEXT_LENGTH
    if distinct == rows >= _ID_ROWS and short and (single_words or _named_id(name)):
        return Column(name, "id", distinct, missing)
    many = distinct > _TEXT_DISTINCT and distinct > _TEXT_SHARE * rows
    kind = "text" if many or not short else "category"
    return Column(name, kind, distinct, missing)


def _named_id(name: str) -> bool:
    return bool(_ID_NAME.search(name) or _CAMEL_ID.search(name))
