"""A user's table: from CSV, CSV.gz, Parquet, pandas or polars, or joined from two files."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whatleaks.data.naming import listed, refuse_repeated
from whatleaks.errors import TableError, UsageError, nearest

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = (",", ";", "\t", "|")
_SAMPLE = 1 << 16
_MISSING = ("", "NA", "N/A", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "None", "<NA>")
_RAGGED = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)")


@dataclass(frozen=True)
class Joined:
    """Two tables joined by an id, which is left out; who brought which column."""

    frame: pd.DataFrame
    active_columns: tuple[str, ...]
    passive_columns: tuple[str, ...]
    notes: tuple[str, ...] = ()


def read_table(path: Path | str) -> pd.DataFrame:
    """Read a table from a file; what it is shows from its first bytes, not from its name."""
    path = Path(path)
    if path.is_dir():
        raise TableError(f"{path} is a folder: give a CSV or Parquet file.")
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise TableError(
            f"there is no file {path}: check the path, or name a data set (`whatleaks datasets`)."
        ) from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}.") from None
    if raw[:2] == b"\x1f\x8b":
        try:
            raw = gzip.decompress(raw)
        except (OSError, EOFError, zlib.error):
            raise TableError(f"{path} is a damaged .gz file.") from None
    if not raw.strip():
        raise TableError(f"{path} is empty.")
    frame = _parquet(path, raw) if raw[:4] == b"PAR1" else _csv(path, raw)
    if len(frame) == 0:
        raise TableError(f"{path} has a header but no rows.")
    return frame


def from_frame(frame: Any) -> pd.DataFrame:
    """Take a pandas or polars frame: a copy with column names as words and rows renumbered."""
    import pandas as pd

    kind = type(frame)
    if kind.__module__.split(".")[0] == "polars" and kind.__name__ in ("DataFrame", "LazyFrame"):
        frame = frame.lazy().collect().to_pandas()
    if not isinstance(frame, pd.DataFrame):
        raise TableError(f"a {type(frame).__name__} is no table: give a pandas or polars frame.")
    table: pd.DataFrame = frame.reset_index(drop=True).copy()
    names = [str(name) for name in table.columns]
    refuse_repeated("the table", names)
    table.columns = pd.Index(names)
    if table.shape[1] == 0 or len(table) == 0:
        raise TableError(
            "the table has no rows." if table.shape[1] else "the table has no columns."
        )
    return table


def join(active: pd.DataFrame, passive: pd.DataFrame, on: str, *, inner: bool = False) -> Joined:
    """Join the active and the passive party's rows by the id column ``on``.

    Rows keep the active order. Ids that only one side has are refused, or left out with
    ``inner``. In a real federation a private set intersection does this.
    """
    keys = {}
    for side, flag, frame in (("active", "table", active), ("passive", "--passive-file", passive)):
        keys[side] = _keys(frame, on, f"the {side} file ({flag})")
    left, right = keys["active"], keys["passive"]
    only_left, only_right = ~left.isin(right), ~right.isin(left)
    alone = int(only_left.sum()), int(only_right.sum())
    if not inner and any(alone):
        raise TableError(
            f"the ids in {on!r} do not match: {alone[0]} only in the active file and {alone[1]} "
            "only in the passive file; --inner keeps the common ones."
        )
    if bool(only_left.all()):
        raise TableError(f"the two files have no id in common in column {on!r} (--id).")
    mine = [str(column) for column in active if column != on]
    theirs = [str(column) for column in passive if column != on]
    both = sorted(set(mine) & set(theirs))
    if both:
        raise TableError(f"both files have a column {listed(both)}: rename it in one of them.")
    if not theirs:
        raise TableError(f"the passive file (--passive-file) has no column besides the id {on!r}.")
    import pandas as pd

    rows = active[~only_left.to_numpy()].drop(columns=on).reset_index(drop=True)
    position = pd.Series(range(len(right)), index=right)
    found = position.loc[left[~only_left.to_numpy()]].to_numpy()
    other = passive.iloc[found].drop(columns=on).reset_index(drop=True)
    note = f"--inner left out {alone[0]} active and {alone[1]} passive rows without a partner"
    return Joined(
        pd.concat([rows, other], axis=1), tuple(mine), tuple(theirs), (note,) if any(alone) else ()
    )


def _keys(frame: pd.DataFrame, on: str, where: str) -> pd.Series[Any]:
    """Return the ids as words, so that 7 and "7" and 7.0 are one id."""
    import pandas as pd

    if on not in frame.columns:
        known = [str(column) for column in frame]
        raise UsageError(f"{where} has no id column {on!r} (--id).{nearest(on, known)}")
    ids = frame[on]
    missing = int(ids.isna().sum())
    if missing:
        raise TableError(f"{where} has {missing} rows without an id in column {on!r}.")
    if pd.api.types.is_float_dtype(ids.dtype) and bool((ids % 1 == 0).all()):
        ids = ids.map(lambda value: str(int(value)))
    words = ids.map(str).astype("object")
    repeated = words[words.duplicated()].unique()
    if len(repeated):
        raise TableError(
            f"{where} has {len(repeated)} ids more than once in column {on!r}: "
            f"{listed(list(repeated))}."
        )
    return words


def _parquet(path: Path, raw: bytes) -> pd.DataFrame:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(raw))
    except (pyarrow.ArrowException, OSError) as error:
        raise TableError(f"{path} is a damaged Parquet file ({type(error).__name__}).") from None
    # An unnamed pandas index that was written along is no column of the table.
    hidden = [name for name in table.column_names if re.fullmatch(r"__index_level_\d+__", name)]
    return _to_pandas(path, table.drop_columns(hidden) if hidden else table)


def _csv(path: Path, raw: bytes) -> pd.DataFrame:
    import pyarrow
    from pyarrow import csv as arrow

    if raw[:2] == b"PK":
        raise TableError(f"{path} is a zip or Excel file: export the sheet as CSV or Parquet.")
    if b"\0" in raw:
        raise TableError(f"{path} is not a text table: save it as CSV in UTF-8, or as Parquet.")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TableError(
            f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8."
        ) from None
    separator = sniff(raw[:_SAMPLE].decode("utf-8", errors="ignore"), whole=len(raw) <= _SAMPLE)
    parse = arrow.ParseOptions(delimiter=separator, newlines_in_values=_quoted_newline(raw))
    convert = arrow.ConvertOptions(
        null_values=_MISSING, strings_can_be_null=True, quoted_strings_can_be_null=True
    )

    def attempt(threads: bool) -> Any:
        return arrow.read_csv(
            pyarrow.BufferReader(raw), arrow.ReadOptions(use_threads=threads), parse, convert
        )

    try:
        table = attempt(threads=True)
    except pyarrow.ArrowInvalid:
        try:
            table = attempt(threads=False)  # slower, but it counts the rows
        except pyarrow.ArrowInvalid as error:
            raise TableError(_why_no_table(path, separator, str(error))) from None
    return _to_pandas(path, table)


def _why_no_table(path: Path, separator: str, reason: str) -> str:
    """Say which row is ragged; the reader's own message would quote the row's values."""
    ragged = _RAGGED.search(reason)
    if not ragged:
        return f"{path} cannot be read as a table with separator {separator!r}."
    row, expected, got = ragged.groups()
    return (
        f"{path} is not a table: {f'row {row}' if row else 'a row'} has {got} cells, "
        f"the header has {expected} (separator {separator!r})."
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
        for row in csv.reader(io.StringIO(sample), delimiter=separator, strict=True):
            counts += [len(row)] if row else []
    except csv.Error as error:
        if whole or "unexpected end" not in str(error):
            return []
        return counts  # a quoted cell was cut by the end of the sample
    return counts if whole else counts[:-1]  # the last line may be cut


def _quoted_newline(raw: bytes) -> bool:
    """Say whether a quoted cell may run over a line: fast reading cannot be used then."""
    return any(line.count(b'"') % 2 for line in raw.splitlines()) if b'"' in raw else False


def _to_pandas(path: Path, table: Any) -> pd.DataFrame:
    """Check the column names, then leave Arrow: dates as dates, no index."""
    names = [name.strip() or f"unnamed_{i + 1}" for i, name in enumerate(table.column_names)]
    if not names:
        raise TableError(f"{path} has no columns.")
    refuse_repeated(str(path), names)
    frame: pd.DataFrame = table.rename_columns(names).to_pandas(
        date_as_object=False, ignore_metadata=True
    )
    return frame
