"""How columns and ids are named in messages."""

from __future__ import annotations

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


def numbered(names: Iterable[str]) -> list[str]:
    """Tell names that occur more than once apart: the second ``a`` is ``a (2)``."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def refuse_repeated(where: str, names: Iterable[str]) -> None:
    """Refuse a table in which two columns have one name."""
    twice = repeated(names)
    if twice:
        raise TableError(f"{where} has more than one column {listed(twice)}: rename them.")


def chosen_names(words: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Read names as a user gives them: one each, or several with commas between them.

    A word that is a column is that column even if it holds a comma; within a list the longest
    stretch that is a column is taken.
    """
    columns = set(known)
    found: list[str] = []
    for word in words:
        if word in columns:
            found.append(word)
            continue
        parts = word.split(",")
        while parts:
            lengths = range(len(parts), 0, -1)
            size = next((n for n in lengths if ",".join(parts[:n]).strip() in columns), 1)
            name = ",".join(parts[:size]).strip()
            found += [name] if name else []
            parts = parts[size:]
    return tuple(found)
