"""Numbers as people write them: 7,57 and 7.570 and 1 234,5, and words among numbers.

A column of words that all read as numbers in one way of writing is taken as numbers, and a
note says so. Where both ways fit (7,570 is seven and a half or seven thousand), the rest of the
table decides; where that is silent too, nothing is assumed: the user is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.arrays import Bools, Floats
from whatleaks.data.naming import listed
from whatleaks.data.problems import Problem
from whatleaks.errors import UsageError, argument, choice

if TYPE_CHECKING:
    import pandas as pd

MOSTLY = 0.5  # a column with this share of numbers has words among numbers
FEW_NUMBERS = 20  # fewer distinct ones are codes of a category, not measurements
MOST_WORDS = 30  # a column with more distinct words is no column of numbers
_SPACES = " \u00a0\u202f'\u2019"  # what groups digits and never marks decimals
_MARKS = (".", ",")


@dataclass(frozen=True)
class Style:
    """One way of writing numbers."""

    decimal: str
    thousands: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """What a number looks like; groups are of three digits."""
        group = f"[{re.escape(self.thousands)}{_SPACES}]"
        point = re.escape(self.decimal)
        whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:{group}\d{{3}})+)"
        return re.compile(rf"\s*[+-]?(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?\s*")

    def number(self, word: str) -> float:
        """Read a word that fits the pattern."""
        plain = word.strip()
        for mark in (self.thousands, *_SPACES):
            plain = plain.replace(mark, "")
        return float(plain.replace(self.decimal, "."))


POINT = Style(".", ",")
COMMA = Style(",", ".")
STYLES = (POINT, COMMA)


def chosen_style(decimal: str | None, thousands: str | None) -> Style | None:
    """Return the way of writing that the user names, by either mark."""
    for name, mark in (("decimal", decimal), ("thousands", thousands)):
        if mark is not None and mark not in (*_MARKS, *(_SPACES if name == "thousands" else "")):
            raise UsageError(f"{argument(name)} {mark!r} is unknown: use '.' or ','.")
    if decimal is not None and decimal == thousands:
        raise UsageError(f"{argument('decimal')} and {argument('thousands')} are the same mark.")
    if decimal is not None:
        return POINT if decimal == "." else COMMA
    if thousands in _MARKS:
        return COMMA if thousands == "." else POINT
    return None


@dataclass(frozen=True)
class Written:
    """A column of words: its distinct words, which style reads which, and how often each occurs."""

    words: tuple[str, ...]
    counts: tuple[int, ...]
    reads: dict[Style, tuple[bool, ...]]

    def fits(self, style: Style) -> bool:
        """Say whether all words are numbers in a style."""
        return bool(self.words) and all(self.reads[style])

    @property
    def marked(self) -> bool:
        """Whether any word holds a mark whose meaning matters."""
        return any(mark in word for word in self.words for mark in (*_MARKS, *_SPACES))


def read_written(
    frame: pd.DataFrame,
    decimal: str | None = None,
    thousands: str | None = None,
    na: Sequence[str] = (),
    encode_text: bool = False,
) -> tuple[pd.DataFrame, tuple[str, ...], tuple[Problem, ...]]:
    """Read columns of words that are numbers; return the table, what was done, and what to ask.

    ``na`` are words (or numbers) that stand for a missing value, whatever the column. With
    ``encode_text`` numbers with words among them are words.
    """
    told = chosen_style(decimal, thousands)
    frame, notes = _without_words(frame, na)
    looked = {name: _looked(frame.iloc[:, i]) for i, name in enumerate(frame.columns)}
    wordy = {name: seen for name, seen in looked.items() if seen is not None and seen.words}
    known = [told] if told is not None else _styles_seen(frame, wordy)
    problems: list[Problem] = []
    changed: dict[Any, Floats] = {}
    for name, seen in wordy.items():
        fitting = [style for style in STYLES if seen.fits(style)]
        if not seen.marked and fitting and na:
            fitting = [POINT]  # whole numbers that a word kept from being read
        elif not seen.marked or not fitting:
            problems += [] if encode_text else _mixed(str(name), seen, known)
            continue
        both = len(fitting) == 2 and _differ(seen)
        style = next((s for s in fitting if s in known), None if both else fitting[0])
        if style is None or (both and len(known) > 1):
            problems.append(_ambiguous(str(name), seen))
            continue
        changed[name] = _numbers(frame[name], style)
        if style is COMMA or _grouped(seen, style):
            notes.append(_said(str(name), seen, style))
    if changed:
        frame = frame.copy()
        for name, numbers in changed.items():
            frame[name] = numbers
    return frame, tuple(notes), tuple(problems)


def _without_words(frame: pd.DataFrame, na: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """Make the given words missing values, and say how many there were."""
    if not na:
        return frame, []
    frame = frame.copy()
    wanted = {word.strip() for word in na}
    numbers = {float(word) for word in wanted if POINT.pattern.fullmatch(word)}
    total = 0
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place]
        if _is_words(column):
            hit = column.map(lambda v: isinstance(v, str) and v.strip() in wanted, na_action=None)
        elif numbers and column.dtype.kind in "iuf":
            hit = column.isin(numbers)
        else:
            continue
        mask = hit.to_numpy(dtype=bool)
        if mask.any():
            total += int(mask.sum())
            frame[name] = column.mask(mask)
    told = ", ".join(repr(word) for word in na)
    return frame, [f"{total} values {told} were read as missing"] if total else []


def _is_words(series: pd.Series[Any]) -> bool:
    import pandas as pd

    if isinstance(series.dtype, pd.StringDtype):
        return True
    return series.dtype == object and pd.api.types.infer_dtype(series, skipna=True) == "string"


def _looked(series: pd.Series[Any]) -> Written | None:
    """Look at the distinct words of a column; a first look at a few spares long ones the rest."""
    if not _is_words(series):
        return None
    if not any(_any_style(word) for word in series.dropna().iloc[:1000]):
        return None
    counted = series.value_counts(dropna=True)
    words = tuple(str(word) for word in counted.index)
    reads = {style: tuple(_fits(style, word) for word in words) for style in STYLES}
    return Written(words, tuple(int(n) for n in counted), reads)


def _fits(style: Style, word: str) -> bool:
    return style.pattern.fullmatch(word) is not None


def _any_style(word: Any) -> bool:
    return any(_fits(style, str(word)) for style in STYLES)


def _styles_seen(frame: pd.DataFrame, wordy: dict[Any, Written]) -> list[Style]:
    """Return the styles that some column of the table can only be read in."""
    seen = []
    only = [[s for s in STYLES if w.fits(s)] for w in wordy.values() if w.marked]
    if [POINT] in only or _has_fractions(frame):
        seen.append(POINT)
    if [COMMA] in only:
        seen.append(COMMA)
    return seen


def _has_fractions(frame: pd.DataFrame) -> bool:
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        if getattr(dtype, "kind", "") != "f":
            continue
        values: Floats = frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        finite = values[np.isfinite(values)]
        if bool((finite != np.floor(finite)).any()):
            return True
    return False


def _differ(seen: Written) -> bool:
    """Say whether the two styles read different numbers."""
    return any(POINT.number(word) != COMMA.number(word) for word in seen.words)


def _grouped(seen: Written, style: Style) -> bool:
    return any(mark in word for word in seen.words for mark in (style.thousands, *_SPACES))


def _numbers(series: pd.Series[Any], style: Style) -> Floats:
    known = {word: style.number(str(word)) for word in series.dropna().unique()}
    numbers: Floats = series.map(known).to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def _shape(seen: Written, *styles: Style) -> str:
    """Show how a column's numbers are written without showing one: every digit is a 9."""
    marked = [w for w in seen.words if any(mark in w for mark in (*_MARKS, *_SPACES))]
    return repr(re.sub(r"\d", "9", (marked or list(seen.words))[0].strip())[:20])


def _said(name: str, seen: Written, style: Style) -> str:
    how = f"{argument('decimal')} {style.decimal!r} and {argument('thousands')} {style.thousands!r}"
    return f"column {name!r}: numbers such as {_shape(seen)} were read with {how}"


def _ambiguous(name: str, seen: Written) -> Problem:
    mark = next(m for m in _MARKS if any(m in word for word in seen.words))
    other = "," if mark == "." else "."
    return Problem(
        f"column {name!r} holds numbers such as {_shape(seen)}, in which {mark!r} may mark "
        f"thousands or decimals: say {choice('thousands', mark)} or {choice('decimal', mark)}.",
        {"thousands": mark} if mark == "," else {"decimal": other},
        column=name,
    )


def _mixed(name: str, seen: Written, known: Sequence[Style]) -> list[Problem]:
    """Report words among numbers: how many values, and which words."""
    styles = known or STYLES
    read: Bools = np.any([seen.reads[style] for style in styles], axis=0)
    counts = np.array(seen.counts)
    words = [word for word, number in zip(seen.words, read, strict=True) if not number]
    share = counts[read].sum() / counts.sum()
    if not words or share < MOSTLY or int(read.sum()) <= FEW_NUMBERS or len(words) > MOST_WORDS:
        return []
    values = int(counts[~read].sum())
    return [
        Problem(
            f"column {name!r} holds numbers and {values} {'value' if values == 1 else 'values'} that "
            f"are words ({listed(words)}): say {choice('na', words[:1])} for each word that means "
            "that the value is missing, or correct them.",
            {"na": tuple(words), "missing": "median"},
            column=name,
        )
    ]
