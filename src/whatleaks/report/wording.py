"""Numbers and names as people read them: rounded, with their interval, never NaN."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from whatleaks.auditor.levels import percent as rounded
from whatleaks.extras import named
from whatleaks.metrics.measurement import Measurement

EXACT = 1e-12  # below this a number is rounding noise of double precision
UNKNOWN = "not known"
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def number(value: float) -> str:
    """Round to three digits; rounding noise is shown as an exact zero with its size."""
    if not math.isfinite(value):
        return UNKNOWN
    size = abs(value)
    if size == 0.0:
        return "0"
    if size < EXACT:
        return f"0 (exact to 1e{round(math.log10(size))})"
    if size < 1e-4 or size >= 1e6:
        digits, exponent = f"{value:.1e}".split("e")
        return f"{digits.removesuffix('.0')}e{int(exponent)}"
    if size >= 999.5:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def percent(share: float, digits: int = 0) -> str:
    """Show a share in percent, as the sentences do: the same share is the same words everywhere."""
    return rounded(share, digits) if math.isfinite(100.0 * share) else UNKNOWN


def first_sentence(text: str) -> tuple[str, str]:
    """Cut a text after its first sentence; a point within quotes, as in a column's name, ends none."""
    open_quotes = 0
    for place, char in enumerate(text):
        open_quotes += (char == "“") - (char == "”")
        if char == "." and open_quotes == 0 and text[place + 1 : place + 2] == " ":
            return text[: place + 1], text[place + 2 :]
    return text, ""


def percent_range(measured: Measurement, digits: int = 0) -> str:
    """Show the interval of a share: ``84 % to 90 %``."""
    return f"{percent(measured.low, digits)} to {percent(measured.high, digits)}"


def added(measured: Measurement) -> str:
    """Show what joining adds: nobody is told less for it, so never less than nothing."""
    return percent(max(measured.value, 0.0))


def added_range(measured: Measurement) -> str:
    """Show the interval of what joining adds, within what it can be."""
    low, high = (min(max(end, 0.0), 1.0) for end in (measured.low, measured.high))
    return f"{percent(low)} to {percent(high)}"


def number_range(measured: Measurement) -> str:
    """Show the interval of a number: ``0.011 to 0.013``."""
    low, high = number(measured.low), number(measured.high)
    return low if low == high else f"{low} to {high}"


def signed(difference: float) -> str:
    """Show a difference of two numbers with its sign, as ``points`` does."""
    told = number(difference)
    if told.startswith("-"):
        return told.replace("-", "\N{MINUS SIGN}", 1)
    return f"+{told}" if difference >= EXACT else told


def signed_range(measured: Measurement) -> str:
    """Show the interval of a difference of two numbers: ``-0.003 to +0.005``."""
    return f"{signed(measured.low)} to {signed(measured.high)}"


def points(difference: float) -> str:
    """Show a difference of two shares in percentage points, with its sign."""
    if not math.isfinite(100.0 * difference):
        return UNKNOWN
    value = round(100.0 * difference, 1)
    return (
        "no difference" if value == 0.0 else f"{value:+.1f} points".replace("-", "\N{MINUS SIGN}")
    )


def points_range(measured: Measurement) -> str:
    """Show the interval of a difference of two shares: ``-0.4 to +3.1 points``."""
    ends = (points(end).removesuffix(" points") for end in (measured.low, measured.high))
    low, high = (end.replace("no difference", "0.0") for end in ends)
    return f"{low} to {high} points"


def count(amount: int, one: str, many: str = "") -> str:
    """Show a count with its noun: ``1 column``, ``1,200 records``."""
    return f"{amount:,} {one if amount == 1 else many or one + 's'}"


def on_some_seeds(tried: int, seeds: int) -> str:
    """Say that defenses were tried on some of the seeds: what stands there is not the headline's number."""
    if not 0 < tried < seeds:
        return ""
    return (
        f"Defenses were tried on the first {tried} of {seeds} seeds. What joining adds without a defense, and "
        "accuracy, are those of the same seeds here, so they may differ from the headline and from what "
        "joining is worth."
    )


def duration(seconds: float) -> str:
    """Show a time span in the unit people would use."""
    if not math.isfinite(seconds) or seconds < 0.0:
        return UNKNOWN
    if seconds < 1.0:
        return "under 1 second"
    if seconds < 90.0:
        return count(round(seconds), "second")
    if seconds < 5400.0:
        return count(round(seconds / 60.0), "minute")
    return f"{seconds / 3600.0:.1f} hours"


def moment(text: str) -> str:
    """Show an ISO time stamp as a date; anything else stays as it is."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return text
    zone = f" {when.tzname()}" if when.tzinfo is not None else ""
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}, {when:%H:%M}{zone}"


def printable(text: str) -> str:
    """Replace control and direction characters: a column's name must not steer a screen."""
    return "".join("\N{REPLACEMENT CHARACTER}" if _steers(c) else c for c in text)


def unbroken(text: str) -> str:
    """Keep a number and its percent sign on one line of a page; what steers a screen is replaced."""
    return printable(text).replace(" %", "\N{NO-BREAK SPACE}%")


def _steers(character: str) -> bool:
    """Tell control characters from letters; joiners, which some scripts need, may stay."""
    return character in _DIRECTIONS or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def shorten(text: str, width: int) -> str:
    """Cut a name to a width, with an ellipsis where something is missing."""
    return text if len(text) <= width else text[: width - 1] + "\N{HORIZONTAL ELLIPSIS}"


def shorten_name(text: str, width: int) -> str:
    """Cut a name in its middle: names that begin alike are told apart by their ends."""
    if len(text) <= width:
        return text
    end = width // 2
    return f"{text[: width - 1 - end]}\N{HORIZONTAL ELLIPSIS}{text[-end:]}"


def plain_value(value: Any) -> str:
    """Show a setting on one line."""
    if isinstance(value, str):
        return value
    return json.dumps(_finite(value), ensure_ascii=False, default=str, sort_keys=True)


def listing(tree: Any) -> str:
    """Show a tree of settings as indented JSON, without NaN or control characters."""
    text = json.dumps(_finite(tree), ensure_ascii=False, default=str, sort_keys=True, indent=2)
    return "\n".join(printable(line) for line in text.split("\n"))


def _finite(tree: Any) -> Any:
    """Replace floats that JSON cannot hold."""
    if isinstance(tree, float) and not math.isfinite(tree):
        return UNKNOWN
    if isinstance(tree, Mapping):
        return {str(key): _finite(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_finite(value) for value in tree]
    if isinstance(tree, set | frozenset):
        return sorted(str(value) for value in tree)
    return tree


def left_out(not_tried: Iterable[tuple[str, str]]) -> list[str]:
    """Name what was not tried because an extra is not installed, one line for each extra."""
    names: dict[str, list[str]] = {}
    for extra, name in not_tried:
        names.setdefault(extra, []).append(name)
    return [
        f"Not tried here: needs {named(extra)}: {', '.join(some)}." for extra, some in names.items()
    ]
