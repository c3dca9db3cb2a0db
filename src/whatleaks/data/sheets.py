"""Excel files: a sheet as CSV text, so that everything after is the same as for any table."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from itertools import zip_longest
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from whatleaks.data.naming import listed
from whatleaks.errors import TableError, UsageError, argument, choice, nearest
from whatleaks.extras import lacking


def sheet_names(path: Path, raw: bytes) -> list[str]:
    """Name the sheets that are shown and hold something, the longest first."""
    with _workbook(path, raw) as book:
        return list(_shown(book))


def sheet_as_csv(path: Path, raw: bytes, wanted: str | None) -> bytes:
    """Return one sheet of a workbook as CSV; several are asked about.

    Numbers are written so that no point in them can be taken for a mark between thousands.
    """
    with _workbook(path, raw) as book:
        sheets = _shown(book)
        if not sheets:
            raise TableError(f"{path} has no sheet with anything in it.")
        if wanted is None and len(sheets) > 1:
            raise TableError(several(path, sheets))
        if wanted is not None and wanted not in book.sheetnames:
            raise UsageError(
                f"{argument('sheet')} {wanted!r} is no sheet of {path}: it has "
                f"{listed(sheets, at_most=8)}.{nearest(wanted, sheets)}"
            )
        name = wanted if wanted is not None else sheets[0]
        rows = list(_cells(book[name]))
    if any(cell is None for row in rows for cell in row):
        _refuse_uncomputed(path, raw, name, rows)
    if not any(_places(row) for row in rows):
        raise TableError(f"{path} has nothing in the sheet {name!r}.")
    text = io.StringIO()
    written = csv.writer(text, lineterminator="\n")
    written.writerows([as_word(cell) for cell in row] for row in _trimmed(rows))
    return text.getvalue().encode()


def several(path: Path, names: list[str]) -> str:
    """Ask which sheet is meant."""
    return (
        f"{path} has several sheets ({listed(names, at_most=8)}): {choice('sheet', names[0])} says "
        "which to read."
    )


@contextmanager
def _workbook(path: Path, raw: bytes, formulas: bool = False) -> Iterator[Any]:
    try:
        from openpyxl import load_workbook
    except ImportError:
        refused = lacking(f"{path} is an Excel file, which", "excel")
        raise TableError(f"{refused}, or save the sheet as CSV.") from None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about colours and menus of the sheet
        try:
            book = load_workbook(io.BytesIO(raw), read_only=True, data_only=not formulas)
        except (KeyError, ValueError, TypeError, BadZipFile, OSError, SyntaxError):
            raise TableError(f"{path} is a damaged Excel file: save the sheet as CSV.") from None
        try:
            yield book
        finally:
            book.close()


def _shown(book: Any) -> list[str]:
    shown = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    rows = {sheet.title: sum(bool(_places(row)) for row in _cells(sheet)) for sheet in shown}
    return sorted(filter(rows.__getitem__, rows), key=lambda name: -rows[name])


def _cells(sheet: Any) -> Iterator[list[Any]]:
    sheet.reset_dimensions()  # what a file says about its own size is not always true
    for row in sheet.iter_rows(values_only=True):
        yield list(row)


def _places(row: list[Any]) -> list[int]:
    return [i for i, cell in enumerate(row) if cell is not None]


def _trimmed(rows: list[list[Any]]) -> list[list[Any]]:
    """Cut off the empty rows and columns around a table; all rows become equally long."""
    filled = [_places(row) for row in rows]
    first = min(places[0] for places in filled if places)
    width = max(places[-1] for places in filled if places) + 1
    top = next(i for i, places in enumerate(filled) if places)
    return [[*row, *[None] * width][first:width] for row in rows[top:]]


def _refuse_uncomputed(path: Path, raw: bytes, name: str, rows: list[list[Any]]) -> None:
    """Refuse formulas whose result is not in the file: they would be read as missing values."""
    with _workbook(path, raw, formulas=True) as book:
        count = sum(
            isinstance(cell, str) and cell.startswith("=") and value is None
            for row, values in zip(_cells(book[name]), rows, strict=False)
            for cell, value in zip_longest(row, values)
        )
    if count:
        raise TableError(
            f"{path} has {count} formulas without a result: open it in Excel and save it, or save the "
            "sheet as CSV."
        )


def as_word(cell: Any) -> str:
    """Write a cell as a word that reads as the same value."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        if cell.is_integer() and abs(cell) < 1e15:
            return str(int(cell))
        plain = repr(cell)
        # 4.925 could be four thousand in a column of words; 4.9250 cannot.
        return f"{plain}0" if "e" not in plain and len(plain.partition(".")[2]) == 3 else plain
    if isinstance(cell, datetime):
        midnight = cell.time() == time()
        return cell.date().isoformat() if midnight else cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return repr(cell.total_seconds())
    return str(cell)
