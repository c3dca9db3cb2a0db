"""Numbers as people write them: 7,57 and 7.570 and 1 234,5 and $7 and 7 %, and words among numbers.

A column of words that all read as numbers in one way of writing is taken as numbers, and a
note says so. Where both ways fit (7,570 is seven and a half or seven thousand), the user's word
decides, or else the rest of the table; where that is silent too, or where decimals would stand
beside whole numbers (4.925 beside 788), nothing is assumed: the user is asked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.arrays import Bools, Floats
from whatleaks.data.naming import listed
from whatleaks.data.problems import Problem
from whatleaks.data.sheets import as_word
from whatleaks.data.suspects import (
    DATE,
    TIME,
    day_and_month,
    digits_as_dates,
    words_as_dates,
    words_as_times,
)
from whatleaks.errors import UsageError, argument, choice

if TYPE_CHECKING:
    import pandas as pd

MOSTLY = 0.5  # a column with this share of numbers has words among numbers
FEW_NUMBERS = 20  # fewer distinct ones are codes of a category, not measurements
MOST_WORDS = 30  # a column with more distinct words is no column of numbers
_SPACES = " \u00a0\u2009\u202f'\u2019_"  # what groups digits and never marks decimals
_MARKS = (".", ",")
_YES = {"yes", "y", "true", "t", "1", "ja", "j", "wahr", "oui", "si", "sí", "on"}
_NO = {"no", "n", "false", "f", "0", "nein", "falsch", "non", "off"}
_DIGITS = {"0", "1"}
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_FRACTION = re.compile(r"\s*\d+\s*/\s*\d+\s*")
_MINUS = re.compile("[\u2010\u2011\u2012\u2013\u2212\uff0d]")  # as typesetters write it
_DIGITS_ALONE = re.compile(r"\s*\d+\s*")
_POWER = re.compile(r"\s*\d+[eE]\d+\s*")  # computers write a point or a sign: 2.6E9, 1e+05
_NO_LETTERS = re.compile(r"(?i)(?=.*\d)(?:[\W\d_]|\b[ap]\.?m\b)+")  # but those of 8:30 am
_SIGNS = "".join(c for c in map(chr, range(0x20C1)) if unicodedata.category(c) == "Sc")
_CODES = "EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|AUD|CAD|BRL|ZAR"
_SIGN = rf"%|[A-Z]{{0,2}}[{re.escape(_SIGNS)}]|Rs\.?|{_CODES}"
_BEGINS = re.compile(rf"(?s)\W*(?:{_SIGN})?\W*\d.*")
_UNIT = r"(?:[^\W\d_]|°|\([^\W\d_])(?:[^\W\d_]|[ .()/·°²³-]){0,19}"  # km, km/h, °C, (ml), years
_WITH_UNIT = re.compile(  # before a number only signs: a letter there begins a code such as A12
    rf"\s*([+-]?)\s*(?:({_SIGN})\s*([+-]?[\d.,].*)|([\d.,].*?)\s*({_SIGN}|{_UNIT}))\s*"
)


@dataclass(frozen=True)
class Style:
    """One way of writing numbers."""

    decimal: str
    thousands: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """What a number looks like; groups are of three digits, or as in 12,34,567 of India."""
        group = f"[{re.escape(self.thousands)}{_SPACES}]"
        point = re.escape(self.decimal)
        lakhs = r"|[1-9]\d?(?:,\d{2})+,\d{3}" if self.thousands == "," else ""
        whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:{group}\d{{3}})+{lakhs})"
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
    def coded(self) -> bool:
        """Whether digits alone have zeros in front, as in postcodes: no amounts."""
        plain = [word.strip() for word in self.plain]
        return all(w.isdecimal() for w in plain) and any(len(w) > 1 and w[0] == "0" for w in plain)

    @property
    def powers(self) -> bool:
        """Whether some words are like 26E8, which may be a code, and no other mark says numbers.

        Nobody is asked about 26e8: codes are written in capitals.
        """
        bare = [not word.strip().isdecimal() for word in self.plain]
        return (
            not self.unit
            and any(bare)
            and all(
                _POWER.fullmatch(word)
                for word, marked in zip(self.plain, bare, strict=True)
                if marked
            )
        )

    @property
    def counted(self) -> bool:
        """Whether words of digits alone are many and repeat: counts rather than codes or ids."""
        return FEW_NUMBERS < len(self.plain) < sum(self.counts) and not self.coded

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
    as_is: Collection[str] = (),
) -> tuple[pd.DataFrame, tuple[str, ...], tuple[Problem, ...]]:
    """Read columns of words that are numbers; return the table, what was done, and what to ask.

    ``na`` are words (or numbers) that stand for a missing value, whatever the column, or in one
    column: ``income=-999``. With ``encode_text`` numbers with words among them are words. Columns
    ``as_is`` keep their words, or numbers that could be dates: a model knows them so.
    """
    told = chosen_styles(decimal, thousands)
    frame, notes = _without_words(_one_kind(frame), na)
    known_words = [n for n in frame.columns if str(n) in as_is and not _is_numeric(frame[n])]
    if known_words and frame.columns.is_unique:
        rest = frame.drop(columns=known_words)
        read, said, found = read_written(rest, decimal, thousands, na, encode_text, as_is)
        return read.join(frame[known_words])[list(frame.columns)], (*notes, *said), found
    problems: list[Problem] = []
    if frame.columns.is_unique:  # others are refused, by name
        frame, spelled = _spelled_alike(frame)
        plain = [n for n in frame.columns if decimal == "." or str(n) in as_is]
        frame, dated, asked = _dates(frame, encode_text, plain)
        notes, problems = [*notes, *spelled, *dated], asked
    looked = {name: _looked(frame.iloc[:, i], told) for i, name in enumerate(frame.columns)}
    wordy = {name: seen for name, seen in looked.items() if seen is not None and seen.words}
    known = told or _styles_seen(frame, wordy)
    changed: dict[Any, Floats] = {}
    obeyed = False
    for name, seen in wordy.items():
        fitting = [s for s in told if seen.fits(s)] or [s for s in STYLES if seen.fits(s)]
        if seen.several and not encode_text:
            problems.append(_several(str(name), seen))
            continue
        if seen.powers and "E" in "".join(seen.words) and decimal != ".":
            problems += [] if encode_text else [_power(str(name), seen)]
            continue
        if seen.coded and not seen.unit:
            notes.append(
                f"column {str(name)!r} holds numbers with zeros in front: they were read as codes, "
                "not as amounts"
            )
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
        odd = _grouped(seen, style) or seen.unit or not seen.marked or seen.powers
        if both or style.decimal == "," or odd:
            notes.append(_said(str(name), seen, style, doubtful=both))
    if changed:
        frame = frame.copy()
        for name, numbers in changed.items():
            frame[name] = numbers
    if frame.columns.is_unique:
        times = [one for one in _points_of_time(frame) if one.column not in as_is]
        problems += times if decimal != "." else []
        obeyed = obeyed or (decimal == "." and bool(times or _has_digit_dates(frame)))
    if told and not obeyed:
        notes.append(_idle(decimal, thousands))
    notes += _left_as_words(frame, looked, {problem.column for problem in problems})
    return frame, tuple(notes), tuple(problems)


def _one_kind(frame: pd.DataFrame) -> pd.DataFrame:
    """Write numbers as words where words stand among them, as a file would."""
    import pandas as pd

    changed = {}
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if column.dtype == object and str(pd.api.types.infer_dtype(column, skipna=True)) in (
            "mixed",
            "mixed-integer",
        ):
            plain = column.dropna()
            if all(
                isinstance(value, str | int | float | np.number | date | time) for value in plain
            ):
                changed[place] = column.map(as_word, na_action="ignore").astype("object")
    if not changed:
        return frame
    frame = frame.copy()
    for place, column in changed.items():
        frame.isetitem(place, column.to_numpy())
    return frame


def _spelled_alike(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Read yes and no in several spellings as one; take off blanks that tell equal words apart."""
    changed, notes = {}, []
    for name in frame.columns:
        if not _is_words(frame[name]):
            continue
        words = [str(word) for word in frame[name].dropna().unique()[: MOST_WORDS + 1]]
        plain = {word: word.strip() for word in words}
        folded = {word: word.strip().casefold() for word in words}
        if len(words) > MOST_WORDS:
            continue
        if (
            len(words) > 2
            and set(folded.values()) <= _YES | _NO
            and len(set(folded.values()) - _DIGITS)
        ):
            sides = {word: folded[word] in _YES for word in words}
            if len(set(sides.values())) == 2:
                changed[name] = frame[name].map(sides).astype("boolean")
                notes.append(
                    f"column {str(name)!r} says yes and no in {len(words)} spellings: read as two"
                )
                continue
        if len(set(plain.values())) < len(words):
            changed[name] = frame[name].map(plain)
            notes.append(f"column {str(name)!r} has words that differ in blanks only: read as one")
        if len(set(folded.values())) < len(set(plain.values())):
            notes.append(
                f"column {str(name)!r} has words that differ in capitals only: they were read as "
                "different ones; write them alike if they are the same"
            )
    return (frame.assign(**changed) if changed else frame), notes


def _dates(
    frame: pd.DataFrame, encode_text: bool, numbers: Sequence[Any]
) -> tuple[pd.DataFrame, list[str], list[Problem]]:
    """Read 31.12.2020 and 20201231 as dates, 8:30 as a time; ask where the order of day and month is open."""
    changed, notes, problems = {}, list[str](), list[Problem]()
    for name in frame.columns:
        column, said = frame[name], repr(str(name))
        if _is_numeric(column):
            dates = None if name in numbers else digits_as_dates(column)
            if dates is not None:
                changed[name] = dates
                notes.append(
                    f"column {said}: numbers such as '99991231' were read as dates (if they are "
                    f"numbers: {choice('decimal', '.')})"
                )
        elif _is_words(column):
            dates, how = words_as_dates(column)
            if dates is not None:
                changed[name] = dates
                notes.append(f"column {said}: dates were read as {how}")
            elif how and not encode_text:
                problems.append(
                    Problem(
                        f"column {said} holds dates that leave open what is what ({how}): write them as "
                        f"2020-12-31, or leave it out with {choice('drop', [str(name)])}.",
                        {"drop": (str(name),)},
                        column=str(name),
                    )
                )
            elif _all(column, TIME):
                changed[name] = words_as_times(column)
                notes.append(f"column {said}: times were read as seconds since midnight")
            elif not encode_text and (among := _words_among_dates(str(name), column)) is not None:
                problems.append(among)
            elif _all(column, _FRACTION):
                notes.append(
                    f"column {said} holds two numbers in a cell, such as '9/9': they were read as words; "
                    "write decimals, or two columns, to have numbers"
                )
    return (frame.assign(**changed) if changed else frame), notes, problems


def _words_among_dates(name: str, column: pd.Series[Any]) -> Problem | None:
    """Report words without a digit in a column that otherwise holds dates."""
    first = [str(word) for word in column.dropna().iloc[:1000]]
    if not any(DATE.fullmatch(word) for word in first):
        return None
    counts = column.value_counts(dropna=True)
    words = [str(word) for word in counts.index if not DATE.fullmatch(str(word))]
    values = int(sum(counts[word] for word in words))
    if not words or len(words) > MOST_WORDS or values > (1.0 - MOSTLY) * int(counts.sum()):
        return None
    if any(char.isdecimal() for word in words for char in word):
        return None
    return _among(name, "dates", values, words)


def _has_digit_dates(frame: pd.DataFrame) -> bool:
    numeric = frame.select_dtypes("number")
    return any(digits_as_dates(numeric[name]) is not None for name in numeric.columns)


def _all(column: pd.Series[Any], pattern: re.Pattern[str]) -> bool:
    known = column.dropna()
    first = known.iloc[:1000]
    return not first.empty and all(
        pattern.fullmatch(str(word)) for some in (first, known.unique()) for word in some
    )


def _points_of_time(frame: pd.DataFrame) -> Iterator[Problem]:
    """Ask about numbers that are all days and months, or hours and minutes, with a point between."""
    for name in frame.columns:
        if getattr(frame[name].dtype, "kind", "") != "f":
            continue
        what = day_and_month(frame[name].to_numpy(dtype=np.float64, na_value=np.nan))
        if what:
            yield Problem(
                f"column {str(name)!r} holds numbers such as '99.99' that all can be {what}: write dates "
                f"as 2020-12-31 and times as 08:30, leave it out with {choice('drop', [str(name)])}, or "
                f"say {choice('decimal', '.')} if they are numbers.",
                {"drop": (str(name),)},
                column=str(name),
            )


def _without_words(frame: pd.DataFrame, na: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """Make the given words missing values, and say how many there were."""
    if not na:
        return frame, []
    frame = frame.copy()
    everywhere, within = _by_column(frame, na)
    total = 0
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place]
        wanted = everywhere | within.get(str(name), set())
        numbers = {POINT.number(word) for word in wanted if _fits(POINT, word)}
        if _is_words(column):
            hit = column.map(_bare_blanks, na_action="ignore").isin(wanted)
        elif column.dtype.kind == "M" and any(_ISO.fullmatch(word) for word in wanted):
            hit = column.dt.strftime("%Y-%m-%d").isin(wanted)
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


def _bare_blanks(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _by_column(frame: pd.DataFrame, na: Sequence[str]) -> tuple[set[str], dict[str, set[str]]]:
    """Tell words that mean a missing value everywhere from those of one column: ``income=-999``."""
    names = {str(name) for name in frame.columns}
    everywhere, within = set[str](), dict[str, set[str]]()
    for word in na:
        name, _, value = word.rpartition("=")
        if name in names:
            within.setdefault(name, set()).add(value.strip())
        else:
            everywhere.add(word.strip())
    return everywhere, within


def _is_numeric(series: pd.Series[Any]) -> bool:
    return getattr(series.dtype, "kind", "") in ("i", "u", "f")


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
        rest if found == unit else _MINUS.sub("-", word)
        for word, (found, rest) in zip(words, bare, strict=True)
    )
    reads = {style: tuple(_fits(style, word) for word in plain) for style in styles}
    return Written(
        words, plain, unit, tuple(units) if mixed else (), tuple(int(n) for n in counted), reads
    )


def _bare(word: str) -> tuple[str, str]:
    """Return the currency or percent sign of a word, if it has one, and what is left without it."""
    word = _MINUS.sub("-", word)
    found = _WITH_UNIT.fullmatch(word)
    if found is None:
        return "", word
    sign, before, first, second, after = found.groups()
    return before or after, sign + (first or second)


def is_number(word: str) -> bool:
    """Say whether a word is a number in any way of writing, with or without a unit."""
    return any(_fits(style, _bare(word)[1]) for style in STYLES)


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


def _left_as_words(
    frame: pd.DataFrame, looked: dict[Any, Written | None], asked: Collection[str]
) -> list[str]:
    """Say which columns hold numbers that could not be read as such, where nobody was asked.

    No word is shown: notes stand in reports.
    """
    notes = []
    for place, name in enumerate(frame.columns):
        column, seen = frame.iloc[:, place], looked[name]
        if str(name) in asked or not _is_words(column):
            continue
        if _all(column, _DIGITS_ALONE):
            words = sorted({str(word).strip() for word in column.dropna()})
            if words != sorted(words, key=int) and not any(word[0] == "0" for word in words):
                notes.append(
                    f"column {str(name)!r} holds few different numbers as words: they were read as codes, in "
                    "the order of the alphabet; give numbers to have their order"
                )
            continue
        if _all(column, _NO_LETTERS):
            if not _all(column, _FRACTION):  # told already
                words = [str(word).strip() for word in column.dropna().unique()]
                odd = next((w for w in words if not is_number(w)), words[0])
                shape = re.sub(r"\d", "9", odd)[:20]
                notes.append(
                    f"column {str(name)!r} holds values such as {shape!r}, which were read as words, "
                    "not as numbers"
                )
        elif seen is not None and _with_units(seen):
            notes.append(
                f"column {str(name)!r} holds numbers with different units or letters: they were read as "
                "words; write all alike to have numbers"
            )
        elif _all(column, _BEGINS) and not _all(column, DATE):
            notes.append(
                f"column {str(name)!r} holds words that begin with numbers: they were read as words, "
                "not as numbers"
            )
        elif seen is not None and _few_among_words(seen):
            notes.append(
                f"column {str(name)!r} holds few numbers and words among them: all were read as words "
                f"({argument('na')} with a word that means a missing value makes the others numbers)"
            )
    return notes


def _with_units(seen: Written) -> bool:
    """Say whether all words are numbers with something behind or before them, and not all the same."""
    bare = [_bare(word) for word in seen.words]
    return len({unit for unit, _ in bare}) > 1 and all(
        any(_fits(style, rest) for style in STYLES) for _, rest in bare
    )


def _few_among_words(seen: Written) -> bool:
    """Say whether most values are numbers, if only a few different ones, and the others have no digit."""
    read: Bools = np.any([seen.reads[style] for style in STYLES], axis=0)
    counts = np.array(seen.counts)
    words = [word for word, number in zip(seen.words, read, strict=True) if not number]
    return (
        1 < int(read.sum()) <= FEW_NUMBERS
        and counts[read].sum() >= MOSTLY * counts.sum()
        and not any(char.isdecimal() for word in words for char in word)
    )


def _several(name: str, seen: Written) -> Problem:
    found = " and ".join(repr(unit) if unit else "none" for unit in reversed(seen.several))
    return Problem(
        f"column {name!r} holds numbers with different signs ({found}): write all alike, or leave "
        f"it out with {choice('drop', [name])}.",
        {"drop": (name,)},
        column=name,
    )


def _power(name: str, seen: Written) -> Problem:
    shape = re.sub(r"\d", "9", next(word.strip() for word in seen.plain if _POWER.fullmatch(word)))
    return Problem(
        f"column {name!r} holds values such as {shape!r}, which are codes or numbers with powers of ten: "
        f"say {choice('decimal', '.')} if they are numbers, {choice('encode_text', True)} if they are codes.",
        {"drop": (name,)},
        column=name,
    )


def _mixed(name: str, seen: Written, known: Sequence[Style]) -> list[Problem]:
    """Report words among numbers: how many values, and which words."""
    both: Bools = np.any([seen.reads[style] for style in STYLES], axis=0)
    if bool(both.all()) and not any(seen.fits(style) for style in seen.reads):
        return [
            Problem(
                f"column {name!r} holds numbers in two ways of writing (decimals after ',' and after "
                f"'.'): write all alike, or leave it out with {choice('drop', [name])}.",
                {"drop": (name,)},
                column=name,
            )
        ]
    read: Bools = np.any([seen.reads[style] for style in known or STYLES], axis=0)
    counts = np.array(seen.counts)
    words = [word for word, number in zip(seen.words, read, strict=True) if not number]
    share = counts[read].sum() / counts.sum()
    if not words or int(read.sum()) <= FEW_NUMBERS:
        return []
    odd = all(_NO_LETTERS.fullmatch(word) for word in words)  # (1,234.50) may be half of a column
    if not odd and (share < MOSTLY or len(words) > MOST_WORDS):
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
    return [_among(name, "numbers", values, words)]


def _among(name: str, what: str, values: int, words: Sequence[str]) -> Problem:
    """Report words among numbers or dates, with the arguments that read them as missing."""
    return Problem(
        f"column {name!r} holds {what} and {values} {'value' if values == 1 else 'values'} that "
        f"are words ({listed(words)}): say {choice('na', words[:1])} for each word that means "
        "that the value is missing, or correct them.",
        {"na": tuple(words), "missing": "median"},
        column=name,
    )
