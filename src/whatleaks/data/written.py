"""Numbers as people write them: 7,57 and 7.570 and 1 234,5 and $7 and 7 %, and words among numbers.

A column of words that all read as numbers in one way of writing is taken as numbers, and a
note says so. Where both ways fit (7,570 is seven and a half or seven thousand), the user's word
decides, or else the rest of the table; where that is silent too, or where decimals would stand
beside whole numbers (4.925 beside 788), nothing is assumed: the user is asked.
"""

from __future__ import annotations

import re
import unicodedata
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
_SPACES = " \u00a0\u202f'\u2019_"  # what groups digits and never marks decimals
_MARKS = (".", ",")
_MINUS = "\u2212"  # as typesetters write it
_SIGNS = "".join(c for c in map(chr, range(0x20C1)) if unicodedata.category(c) == "Sc")
_SIGN = rf"%|[{re.escape(_SIGNS)}]|EUR|USD|GBP|CHF"
_WITH_UNIT = re.compile(  # before a number only signs: a letter there begins a code such as A12
    rf"\s*([+-]?)\s*(?:({_SIGN})\s*([+-]?[\d.,].*)|([\d.,].*?)\s*({_SIGN}|[^\W\d_]{{1,4}}))\s*"
)


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


def chosen_styles(decimal: str | None, thousands: str | None) -> tuple[Style, ...]:
    """Return the ways of writing that the user's marks leave; none where nothing was said."""
    for name, mark, known in (
        ("decimal", decimal, _MARKS),
        ("thousands", thousands, (*_MARKS, *_SPACES)),
    ):
        if mark is not None and mark not in known:
            more = ", \"'\" or ' '" if name == "thousands" else ""
            raise UsageError(f"{argument(name)} {mark!r} is unknown: use '.' or ','{more}.")
    if decimal is None and thousands is None:
        return ()
    if decimal == thousands:
        raise UsageError(f"{argument('decimal')} and {argument('thousands')} are the same mark.")
    decimals = [
        mark for mark in _MARKS if mark == decimal or (decimal is None and mark != thousands)
    ]
    return tuple(Style(mark, thousands or ("," if mark == "." else ".")) for mark in decimals)


@dataclass(frozen=True)
class Written:
    """A column of words: the distinct ones, which style reads which, and how often each occurs.

    ``plain`` are the words without the ``unit`` that all numbers of the column have. ``several``:
    numbers with different signs, or some with one and some without.
    """

    words: tuple[str, ...]
    plain: tuple[str, ...]
    unit: str
    several: tuple[str, ...]
    counts: tuple[int, ...]
    reads: dict[Style, tuple[bool, ...]]

    def fits(self, style: Style) -> bool:
        """Say whether all words are numbers in a style."""
        return bool(self.words) and all(self.reads[style])

    @property
    def marked(self) -> bool:
        """Whether any word shows that it is a number: by more than digits."""
        return bool(self.unit) or not all(word.strip().isdecimal() for word in self.plain)

    @property
    def counted(self) -> bool:
        """Whether words of digits alone are many and repeat: counts rather than codes or ids."""
        many = FEW_NUMBERS < len(self.plain) < sum(self.counts)
        return many and not any(len(w.strip()) > 1 and w.strip()[0] == "0" for w in self.plain)

    @property
    def mark(self) -> str:
        """The first mark that a word holds and that may stand before decimals, if any."""
        return next((m for m in _MARKS if any(m in word for word in self.plain)), "")

    def beside_whole(self, style: Style) -> bool:
        """Say whether some words have decimals in a style and some have none: 4.925 beside 788."""
        marks = [style.decimal in word for word in self.plain]
        return any(marks) and not all(marks)


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
    told = chosen_styles(decimal, thousands)
    frame, notes = _without_words(frame, na)
    looked = {name: _looked(frame.iloc[:, i], told) for i, name in enumerate(frame.columns)}
    wordy = {name: seen for name, seen in looked.items() if seen is not None and seen.words}
    known = told or _styles_seen(frame, wordy)
    problems: list[Problem] = []
    changed: dict[Any, Floats] = {}
    obeyed = False
    for name, seen in wordy.items():
        fitting = [s for s in told if seen.fits(s)] or [s for s in STYLES if seen.fits(s)]
        if seen.several and not encode_text:
            problems.append(_several(str(name), seen))
            continue
        if not fitting or not (seen.marked or seen.counted or na):
            problems += [] if encode_text else _mixed(str(name), seen, known)
            continue
        both = len(fitting) == 2 and _differ(seen)
        style = next((s for s in fitting if s in known), None if both else fitting[0])
        if style is None or (both and (len(known) > 1 or seen.beside_whole(style))):
            problems.append(_ambiguous(str(name), seen))
            continue
        changed[name] = _numbers(frame[name], seen, style)
        obeyed = obeyed or style in told
        if both or style.decimal == "," or _grouped(seen, style) or seen.unit or not seen.marked:
            notes.append(_said(str(name), seen, style, doubtful=both))
    if told and not obeyed:
        notes.append(_idle(decimal, thousands))
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
    numbers = {POINT.number(word) for word in wanted if _fits(POINT, word)}
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


def _looked(series: pd.Series[Any], told: Sequence[Style]) -> Written | None:
    """Look at the distinct words of a column; a first look at a few spares long ones the rest."""
    if not _is_words(series):
        return None
    styles = dict.fromkeys((*told, *STYLES))
    first = (_bare(str(word))[1] for word in series.dropna().iloc[:1000])
    if not any(_fits(style, word) for word in first for style in styles):
        return None
    counted = series.value_counts(dropna=True)
    words = tuple(str(word) for word in counted.index)
    bare = [_bare(word) for word in words]
    units = sorted({unit for unit, word in bare if any(c.isdecimal() for c in word)})
    unit = units[0] if len(units) == 1 else ""
    signs = all(not u or re.fullmatch(_SIGN, u) for u in units)
    mixed = len(units) > 1 and signs and len(words) > FEW_NUMBERS
    plain = tuple(
        rest if found == unit else word.replace(_MINUS, "-")
        for word, (found, rest) in zip(words, bare, strict=True)
    )
    reads = {style: tuple(_fits(style, word) for word in plain) for style in styles}
    return Written(
        words, plain, unit, tuple(units) if mixed else (), tuple(int(n) for n in counted), reads
    )


def _bare(word: str) -> tuple[str, str]:
    """Return the currency or percent sign of a word, if it has one, and what is left without it."""
    word = word.replace(_MINUS, "-")
    found = _WITH_UNIT.fullmatch(word)
    if found is None:
        return "", word
    sign, before, first, second, after = found.groups()
    return before or after, sign + (first or second)


def _fits(style: Style, word: str) -> bool:
    return style.pattern.fullmatch(word) is not None


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
    return any(POINT.number(word) != COMMA.number(word) for word in seen.plain)


def _grouped(seen: Written, style: Style) -> str:
    """Return the mark between thousands, if there is one."""
    marks = (style.thousands, *_SPACES)
    inside = [word.strip() for word in seen.plain]
    return next((mark for mark in marks if any(mark in word for word in inside)), "")


def _numbers(series: pd.Series[Any], seen: Written, style: Style) -> Floats:
    known: dict[Any, Any] = {
        w: style.number(bare) for w, bare in zip(seen.words, seen.plain, strict=True)
    }
    numbers: Floats = series.map(known).to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def _shape(seen: Written) -> str:
    """Show how a column's numbers are written without showing one: every digit is a 9."""
    marked = [w for w in seen.words if any(mark in w.strip() for mark in (*_MARKS, *_SPACES))]
    return repr(re.sub(r"\d", "9", (marked or list(seen.words))[0].strip())[:20])


def _said(name: str, seen: Written, style: Style, doubtful: bool) -> str:
    """Say how a column was read, and how to have it read otherwise where that is possible."""
    between = _grouped(seen, style) or style.thousands
    how = f"{argument('decimal')} {style.decimal!r} and {argument('thousands')} {between!r}"
    without = f", without {seen.unit!r}" if seen.unit else ""
    otherwise = "decimal" if seen.mark == style.thousands else "thousands"
    said = f"column {name!r}: numbers such as {_shape(seen)} were read with {how}{without}"
    if not doubtful:
        return said
    marks = "decimals" if otherwise == "decimal" else otherwise
    return f"{said} (if {seen.mark!r} marks {marks}: {choice(otherwise, seen.mark)})"


def _idle(decimal: str | None, thousands: str | None) -> str:
    given = (("decimal", decimal), ("thousands", thousands))
    flags = " with ".join(f"{argument(name)} {mark!r}" for name, mark in given if mark is not None)
    return f"{flags} changes nothing: no column of words holds numbers written so"


def _ambiguous(name: str, seen: Written) -> Problem:
    mark = seen.mark
    mixed = seen.beside_whole(Style(mark, ""))
    what = f"numbers such as {_shape(seen)}{' beside whole numbers' if mixed else ''}"
    return Problem(
        f"column {name!r} holds {what}, in which {mark!r} may mark thousands or decimals: "
        f"{choice('thousands', mark)} or {choice('decimal', mark)} says which.",
        {"thousands": mark} if mixed or mark == "," else {"decimal": mark},
        column=name,
    )


def _several(name: str, seen: Written) -> Problem:
    found = " and ".join(repr(unit) if unit else "none" for unit in reversed(seen.several))
    return Problem(
        f"column {name!r} holds numbers with different signs ({found}): write all alike, or leave "
        f"it out with {choice('drop', [name])}.",
        {"drop": (name,)},
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
    # No words for a missing value, as those of a spreadsheet are that begin with #.
    if any(char.isdecimal() for word in words if word[:1] != "#" for char in word):
        shapes = list(dict.fromkeys(re.sub(r"\d", "9", word.strip())[:20] for word in words))
        return [
            Problem(
                f"column {name!r} holds numbers and {values} values that are written otherwise "
                f"({listed(shapes)}): correct them, or leave it out with {choice('drop', [name])}.",
                {"drop": (name,)},
                column=name,
            )
        ]
    return [
        Problem(
            f"column {name!r} holds numbers and {values} {'value' if values == 1 else 'values'} that "
            f"are words ({listed(words)}): say {choice('na', words[:1])} for each word that means "
            "that the value is missing, or correct them.",
            {"na": tuple(words), "missing": "median"},
            column=name,
        )
    ]
