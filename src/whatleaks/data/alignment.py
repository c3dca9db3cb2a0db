"""Cut two CSV files to their common records, in one order.

Which records are common is asked of a function, such as ``crypto.psi.align``: this file reads
and writes.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from whatleaks.arrays import Ints
from whatleaks.errors import TableError, UsageError, argument


class Common(Protocol):
    """The common records of two lists of ids: rows of each in one order, and ids as compared."""

    @property
    def first(self) -> Ints:
        """Rows of the first list."""
        ...

    @property
    def second(self) -> Ints:
        """Rows of the second list, in the order of the first."""
        ...

    @property
    def ids(self) -> tuple[str, ...]:
        """The common ids."""
        ...

    @property
    def untidy(self) -> tuple[int, int]:
        """How many ids without a match would read otherwise after tidying, on each side."""
        ...


Intersect = Callable[[Sequence[str], Sequence[str]], Common]


@dataclass(frozen=True)
class Aligned:
    """One file that was cut: where it came from and went, and how many records are left."""

    source: Path
    target: Path
    kept: int
    rows: int
    untidy: int


def align_files(
    first: Path, second: Path, id_column: str, out: Path, intersect: Intersect
) -> tuple[Aligned, Aligned]:
    """Write the common records of both files below ``out``, under the files' own names."""
    sources = (first, second)
    targets = (out / first.name, out / second.name)
    if targets[0] == targets[1] or {t.resolve() for t in targets} & {s.resolve() for s in sources}:
        raise UsageError(
            f"{argument('out')}: the files would replace each other or their originals: rename one"
        )
    tables = [read_text(path, id_column) for path in sources]
    places = [header.index(id_column) for header, _ in tables]
    ids = [[row[at] for row in rows] for (_, rows), at in zip(tables, places, strict=True)]
    found = intersect(ids[0], ids[1])
    done = []
    for source, target, (header, rows), at, chosen, untidy in zip(
        sources, targets, tables, places, (found.first, found.second), found.untidy, strict=True
    ):
        kept = [
            [*rows[row][:at], name, *rows[row][at + 1 :]]
            for row, name in zip(chosen, found.ids, strict=True)
        ]
        write_text(target, header, kept)
        done.append(Aligned(source, target, len(kept), len(rows), untidy))
    return done[0], done[1]


def read_text(path: Path, id_column: str) -> tuple[list[str], list[list[str]]]:
    """Read a CSV file as text, so that every value is written back as it stood."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"{path} is not a CSV file in UTF-8: {error}") from None
    if not rows or id_column not in rows[0]:
        raise TableError(
            f"{path} has no column {id_column!r}: name it with {argument('id_column')}"
        )
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise TableError(f"{path}: line {number} has {len(row)} values, not {len(rows[0])}")
    return rows[0], rows[1:]


def write_text(path: Path, header: list[str], rows: list[list[str]]) -> None:
    """Write a CSV file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])
    except OSError as error:
        raise UsageError(f"{argument('out')}: cannot write {path}: {error.strerror}") from None
