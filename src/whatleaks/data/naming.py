"""How columns and ids are named in messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from whatleaks.errors import TableError


def listed(words: Sequence[str], at_most: int = 3) -> str:
    """Return up to three names in quotes, and how many more there are."""
    shown = ", ".join(repr(word) for word in words[:at_most])
    return shown + (f" and {len(words) - at_most} more" if len(words) > at_most else "")


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def refuse_repeated(where: str, names: Iterable[str]) -> None:
    """Refuse a table in which two columns have one name."""
    twice = repeated(names)
    if twice:
        raise TableError(f"{where} has more than one column {listed(twice)}: rename them.")


def shell(name: str) -> str:
    """Return a column name as it can be typed after a flag: quoted unless it is one plain word."""
    return name if re.fullmatch(r"[\w.=-]+", name) else repr(name)
