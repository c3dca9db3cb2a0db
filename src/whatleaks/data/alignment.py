"""Cut two CSV files to their common records, in one order, by private set intersection."""

from __future__ import annotations

from pathlib import Path

from whatleaks.errors import TableError, UsageError


def read_text(path: Path, id_column: str) -> tuple[list[str], list[list[str]]]:
    """Read a CSV file as text, so that every value is written back as it stood."""
    import csv

    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableError(f"{path} is not a CSV file in UTF-8: {error}") from None
    if not rows or id_column not in rows[0]:
        raise TableError(f"{path} has no column {id_column!r}: name it with --id")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise TableError(f"{path}: line {number} has {len(row)} values, not {len(rows[0])}")
    return rows[0], rows[1:]


def write_text(path: Path, header: list[str], rows: list[list[str]]) -> None:
    """Write a CSV file."""
    import csv

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])
    except OSError as error:
        raise UsageError(f"--out: cannot write {path}: {error.strerror}") from None
