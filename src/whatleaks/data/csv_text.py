"""A table as text: cells between separators, under one row of names.

Empty rows at the end, empty columns without a name, a row of units under the names and a total
below are no records: they are left out, and a note says so.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from whatleaks.data.naming import listed
from whatleaks.data.no_records import total_row, unit_row, values_as_names
from whatleaks.errors import TableError

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = (",", ";", "\t", "|")
_SAMPLE = 1 << 16
_BLOCK = 1 << 24
_LOOKED_AT = 20  # rows under the names, for a row of units
_MISSING = (
    "",
    " ",
    "n/a",
    "NA",
    "N/A",
    "#N/A",
    "NaN",
    "nan",
    "-nan",
    "null",
    "NULL",
    "None",
    "<NA>",
)
_SAYS = re.compile(rb'(?:\xef\xbb\xbf)?"?sep=([,;|\t])"?\r?\n', re.IGNORECASE)
_RAGGED = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)")


@dataclass(frozen=True)
class _Text:
    """The bytes of a table in UTF-8, what separates its cells, and rows to skip below the names."""

    path: Path
    raw: bytes
    separator: str
    skipped: int = 0

    def read(self, threads: bool = True, as_words: list[str] | None = None) -> Any:
        """Read all columns as what they look like, or some as words."""
        import pyarrow
        from pyarrow import csv as arrow

        parse = arrow.ParseOptions(
            delimiter=self.separator, newlines_in_values=_quoted_newline(self.raw)
        )
        convert = arrow.ConvertOptions(
            null_values=_MISSING, strings_can_be_null=True, quoted_strings_can_be_null=True
        )
        if as_words is not None:
            convert.include_columns = as_words
            convert.column_types = {name: pyarrow.string() for name in as_words}
        options = arrow.ReadOptions(use_threads=threads, skip_rows_after_names=self.skipped)
        return arrow.read_csv(pyarrow.BufferReader(self.raw), options, parse, convert)


def read_csv(path: Path, raw: bytes) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read a text in UTF-8 as a table; return what was done to it, too."""
    raw, said = _separator_line(raw)
    sample = raw[:_SAMPLE].decode("utf-8", errors="ignore")
    separator = said or sniff(sample, whole=len(raw) <= _SAMPLE)
    _refuse_open_quote(path, raw, separator)
    end = _end_of_rows(raw, separator)
    notes = []
    count = sum(bool(line.strip()) for line in raw[end:].splitlines())
    if count:
        notes.append(f"empty rows at the end of the table were left out: {count}")
    text = _Text(path, raw[:end] if count else raw, separator)
    rows = _first_rows(sample, separator, whole=len(raw) <= _SAMPLE)
    if rows and values_as_names(rows[0]):
        notes.append(
            "the names in the first row look like values: if the table has no row of names, write one "
            "above (the first record is lost otherwise)"
        )
    units = unit_row(rows)
    unnamed = _under_no_name(rows) if units else []
    if unnamed and 2 * len(unnamed) <= len(rows[0]):  # if they are more, a title stands above
        raise TableError(
            f"{path} has words under columns without a name ({listed(unnamed)}): if these are the names, "
            "delete the row above them; otherwise name every column."
        )
    if units:
        text = _Text(path, text.raw, separator, skipped=1)
        notes.append(
            f"the row under the names holds units ({listed(units)}) and was left out (if these are the "
            "names, delete the row above them)"
        )
    text, table = _cut_into_cells(text)
    frame = _records(path, text, table, notes)
    total = total_row(frame)
    if total:
        shorter = _Text(path, text.raw[: _last_line(text.raw)], separator, text.skipped)
        again, table = _cut_into_cells(shorter)
        rest = _records(path, again, table, [])
        # A line break within its cells: the row is taken off, and the kinds of its columns stay.
        frame = rest if len(rest) == len(frame) - 1 else frame.iloc[:-1]
        notes.append(f"the last row is no record but a total ({total}) and was left out")
    return frame, tuple(notes)


def _refuse_open_quote(path: Path, raw: bytes, separator: str) -> None:
    """Refuse quotes that open a cell and do not close it: the rows up to the next quote are lost.

    Only looked at where cells run over lines; a quote behind a backslash is another way of writing.
    """
    if not _quoted_newline(raw) or b'\\"' in raw:
        return
    rows = csv.reader(
        io.TextIOWrapper(io.BytesIO(raw), "utf-8", newline=""), delimiter=separator, strict=True
    )
    try:
        lost = any(_holds_rows(row, separator) for row in rows)
    except csv.Error as error:
        lost = "expected after" in str(error)
    if lost:
        raise TableError(
            f"{path} has a quote at or before line {rows.line_num} that opens a cell and does not end "
            "it: the rows up to the next quote would be lost; double quotes within a cell, or delete it."
        )


def _holds_rows(row: Sequence[str], separator: str) -> bool:
    """Say whether a cell holds whole lines that are cut into as many cells as the row."""
    within = [line for cell in row if "\n" in cell for line in cell.split("\n")[1:-1]]
    return len(row) > 2 and bool(within) and all(w.count(separator) == len(row) - 1 for w in within)


def _under_no_name(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the cells of the second row that stand under nothing: names under groups of columns."""
    return [
        cell for name, cell in zip(*rows[:2], strict=False) if cell.strip() and not name.strip()
    ]


def _separator_line(raw: bytes) -> tuple[bytes, str]:
    """Return a text without the line in which spreadsheets say what separates cells, and what it says."""
    found = _SAYS.match(raw)
    return (raw, "") if found is None else (raw[found.end() :], found[1].decode())


def _cut_into_cells(text: _Text) -> tuple[_Text, Any]:
    """Read all cells; separators that only end the lines are taken off where they do not fit."""
    import pyarrow

    try:
        return text, text.read()
    except pyarrow.ArrowInvalid:
        pass
    try:
        return text, text.read(threads=False)  # slower, but it counts the rows
    except pyarrow.ArrowInvalid as error:
        trimmed = _without_ends(text)
        if trimmed is None:
            raise TableError(_why_no_table(text.path, text.separator, str(error))) from None
    try:
        return trimmed, trimmed.read(threads=False)
    except pyarrow.ArrowInvalid as error:
        raise TableError(_why_no_table(text.path, text.separator, str(error))) from None


def _records(path: Path, text: _Text, table: Any, notes: list[str]) -> pd.DataFrame:
    """Settle which columns of digits are numbers, and leave out what is empty."""
    names = table.column_names
    if len(set(names)) == len(names):  # others are refused later, by name
        doubtful, whole = _doubtful(table), _whole(table) if _zeros_ahead(text) else []
        words = text.read(as_words=[*doubtful, *whole]) if doubtful or whole else {}
        kept = [n for n in doubtful if _stays_words(words[n])]
        for name in kept + [n for n in whole if _codes(words[n])]:
            table = table.set_column(names.index(name), name, words[name])
    frame = to_pandas(path, table)
    nameless = [not name.strip() for name in names]
    empty = [bool(frame.iloc[:, i].isna().all()) for i in range(len(names))]
    useless = [a and b for a, b in zip(nameless, empty, strict=True)]
    if any(useless) and not all(useless):
        frame = frame.loc[:, [not u for u in useless]]
        notes.append(f"columns without a name and without a value were left out: {sum(useless)}")
    left = sum(nameless) - sum(useless)
    if left > 1 and left > frame.shape[1] / 2:
        raise TableError(
            f"{path} names {frame.shape[1] - left} of {frame.shape[1]} columns in its first row: delete "
            "what stands above the row of names."
        )
    if frame.shape[1] > 1:
        gone = frame.isna().all(axis=1).to_numpy()
        if gone.any() and not gone.all():
            frame = frame.loc[~gone].reset_index(drop=True)
            notes.append(f"empty rows were left out: {int(gone.sum())}")
    return frame


def _end_of_rows(raw: bytes, separator: str) -> int:
    """Return where the last line ends that holds more than separators."""
    end, mark = len(raw), _line_end(raw)
    while True:
        cut = raw.rfind(mark, 0, end)
        if cut < 0 or raw[cut + 1 : end].strip(separator.encode() + b" \r"):
            return min(end + 1, len(raw))
        end = cut


def _last_line(raw: bytes) -> int:
    """Return where the last line begins."""
    return raw.rfind(_line_end(raw), 0, len(raw.rstrip())) + 1


def _line_end(raw: bytes) -> bytes:
    return b"\n" if b"\n" in raw else b"\r"


def _first_rows(sample: str, separator: str, whole: bool) -> list[list[str]]:
    """Return the first rows as cells, the names before; nothing where the quotes do not fit."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(
            io.StringIO(sample.removeprefix("\ufeff"), newline=""), delimiter=separator, strict=True
        ):
            rows += [row] if row else []
            if len(rows) > _LOOKED_AT:
                return rows
    except csv.Error:
        return []
    return rows if whole else rows[:-1]


def _without_ends(text: _Text) -> _Text | None:
    """Take off empty cells beyond the last name, where some rows have them and others do not."""
    source = io.StringIO(text.raw.decode().removeprefix("\ufeff"), newline="")
    try:
        rows = [row for row in csv.reader(source, delimiter=text.separator, strict=True) if row]
    except csv.Error:
        return None
    if not rows:
        return None
    width = max((i + 1 for i, name in enumerate(rows[0]) if name.strip()), default=0)
    if width == 0 or any(len(row) < width or any(c.strip() for c in row[width:]) for row in rows):
        return None
    out = io.StringIO()
    csv.writer(out, delimiter=text.separator, lineterminator="\n").writerows(
        r[:width] for r in rows
    )
    return _Text(text.path, out.getvalue().encode(), text.separator, text.skipped)


def _doubtful(table: Any) -> list[str]:
    """Name the columns read as numbers that may be something else.

    That is where none of the first numbers has more than three decimals: points may mark thousands.
    What they mean is found out when all columns are known and the user was heard; until then such
    numbers stay words. And where numbers are so long that their last digits are lost.
    """
    import pyarrow

    found = []
    for name in table.column_names:
        if pyarrow.types.is_floating(table.schema.field(name).type):
            first = table[name].slice(0, 1000).to_numpy()
            thousandfold = 1000.0 * first[np.abs(first) < 1e12]
            if np.allclose(thousandfold, np.rint(thousandfold), rtol=1e-12, atol=1e-6):
                found.append(name)
    return found


def _stays_words(words: Any) -> bool:
    """Say whether every number is whole, has its digits in groups of three after points, or is like 26E8.

    Whole ones alone are here only if they have too many digits: numbers of accounts, not amounts.
    """
    from pyarrow import compute

    pattern = r"^\s*[+-]?([1-9]\d{0,2}(\.\d{3})+|\d+([eE]\d+)?)\s*$"
    return bool(compute.all(compute.match_substring_regex(words, pattern)).as_py())


def _whole(table: Any) -> list[str]:
    import pyarrow

    return [field.name for field in table.schema if pyarrow.types.is_integer(field.type)]


def _zeros_ahead(text: _Text) -> bool:
    """Say whether any cell may begin with a zero and another digit: a first look, block by block."""
    before = np.zeros(256, dtype=np.bool_)
    before[list(text.separator.encode() + b'\n\r" ')] = True
    for start in range(0, len(text.raw), _BLOCK):
        block = np.frombuffer(text.raw, np.uint8)[max(0, start - 2) : start + _BLOCK]
        zero = np.flatnonzero((block[1:-1] == ord("0")) & (block[2:] - np.uint8(ord("0")) < 10))
        if before[block[zero]].any():
            return True
    return False


def _codes(words: Any) -> bool:
    """Say whether some numbers have zeros in front, as postcodes have: they are no amounts."""
    from pyarrow import compute

    padded = compute.match_substring_regex(words, r"^\s*0\d+\s*$")
    return bool(compute.any(padded).as_py())


def _why_no_table(path: Path, separator: str, reason: str) -> str:
    """Say which row is ragged; the reader's own message would quote the row's values."""
    ragged = _RAGGED.search(reason)
    if not ragged:
        return f"{path} cannot be read as a table with separator {separator!r}."
    row, expected, got = ragged.groups()
    return (
        f"{path} is not a table: {f'row {row}' if row else 'a row'} has {got} cells, "
        f"the header has {expected} (separator {separator!r})"
        + ("; delete what stands above the row of names." if expected == "1" else ".")
    )


def sniff(sample: str, *, whole: bool = True) -> str:
    """Return the separator that cuts every line of the sample into equally many cells.

    Where none does, the one with most cells in the header; a single column has a comma.
    """
    best, score = ",", (False, 1)
    for separator in SEPARATORS:
        counts = _cells(sample, separator, whole)[:200]
        if counts and counts[0] > 1 and (len(set(counts)) == 1, counts[0]) > score:
            best, score = separator, (len(set(counts)) == 1, counts[0])
    return best


def _cells(sample: str, separator: str, whole: bool) -> list[int]:
    """Return the number of cells in each line; nothing where the quotes do not fit."""
    counts: list[int] = []
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=separator, strict=True):
            counts += [len(row)] if row else []
    except csv.Error as error:
        if whole or "unexpected end" not in str(error):
            return []
        return counts  # a quoted cell was cut by the end of the sample
    return counts if whole else counts[:-1]  # the last line may be cut


def _quoted_newline(raw: bytes) -> bool:
    """Say whether a quoted cell may run over a line: fast reading cannot be used then."""
    return any(line.count(b'"') % 2 for line in raw.splitlines()) if b'"' in raw else False


def to_pandas(path: Path, table: Any) -> pd.DataFrame:
    """Check the column names, then leave Arrow: dates as dates, no index."""
    names = [name.strip() or f"unnamed_{i + 1}" for i, name in enumerate(table.column_names)]
    if not names:
        raise TableError(f"{path} has no columns.")
    frame: pd.DataFrame = table.rename_columns(names).to_pandas(
        date_as_object=False, ignore_metadata=True
    )
    return frame
