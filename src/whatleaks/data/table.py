"""A user's table: from CSV, Excel or Parquet, packed or not, pandas or polars, or joined from two files."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whatleaks.data.containers import as_utf8, is_workbook, unpacked
from whatleaks.data.csv_text import read_csv, to_pandas
from whatleaks.data.naming import listed, refuse_repeated
from whatleaks.data.sheets import sheet_as_csv, sheet_names
from whatleaks.errors import TableError, UsageError, argument, choice, nearest
from whatleaks.wire.parties import passive_names

if TYPE_CHECKING:
    import pandas as pd

FILE_ENDINGS = (".csv", ".tsv", ".txt", ".gz", ".zip", ".xlsx", ".xlsm", ".parquet")
_BESIDE = b"whatleaks.beside"


@dataclass(frozen=True)
class Joined:
    """Tables joined by an id, which is left out; who brought which column.

    ``parties`` has the columns of each passive party, ``passive_columns`` of all of them.
    """

    frame: pd.DataFrame
    active_columns: tuple[str, ...]
    passive_columns: tuple[str, ...]
    parties: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Opened:
    """A table as a file holds it, and what was done to read it."""

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()


def open_table(
    path: Path | str,
    encoding: str | None = None,
    sheet: str | None = None,
    *,
    repeated: bool = False,
) -> Opened:
    """Read a table from a file; what it is shows from its first bytes, not from its name.

    ``encoding`` is of a text that is not UTF-8, ``sheet`` names one of several in an Excel file.
    With ``repeated`` two columns may have one name: whoever asks says so to the user.
    """
    path = Path(path)
    raw, notes = unpacked(path, _bytes(path))
    if sheet is not None and not is_workbook(raw):
        raise UsageError(f"{argument('sheet')} belongs to an Excel file, and {path} is none.")
    if raw[:4] == b"PAR1":
        frame = _parquet(path, raw)
    elif is_workbook(raw):
        frame, told = read_csv(path, sheet_as_csv(path, raw, sheet))
        notes += told
    else:
        text, told = as_utf8(path, raw, encoding)
        if not text.strip():
            raise TableError(f"{path} is empty.")
        frame, more = read_csv(path, text)
        notes += (*told, *more)
    if not repeated:
        refuse_repeated(str(path), (str(name) for name in frame.columns))
    if len(frame) == 0:
        raise TableError(f"{path} has a header but no rows.")
    del raw
    _give_back_memory()
    return Opened(frame, notes)


def _give_back_memory() -> None:
    """Have pyarrow return what reading a file took: it keeps more than a large table itself takes."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def read_table(path: Path | str, encoding: str | None = None) -> pd.DataFrame:
    """Read a table from a file, see ``open_table``."""
    return open_table(path, encoding).frame


def sheets_of(path: Path | str) -> list[str]:
    """Name the sheets that a file has to choose from; a table that is no Excel file has none."""
    path = Path(path)
    raw, _ = unpacked(path, _bytes(path))
    return sheet_names(path, raw) if is_workbook(raw) else []


def _bytes(path: Path) -> bytes:
    if path.is_dir():
        raise TableError(f"{path} is a folder: give a CSV, Excel or Parquet file.")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise TableError(
            f"there is no file {path}: check the path, or name a data set (`whatleaks datasets`)."
        ) from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}.") from None


def is_file_name(text: str) -> bool:
    """Say whether a word names a file rather than a data set: it has a folder or an ending."""
    return "/" in text or text.endswith(FILE_ENDINGS)


def file_hash(path: Path | str) -> str:
    """Return the sha256 of a file's bytes; a file that is not there is refused by name."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}.") from None


class HandedOver:
    """A table that its holder lets go with the first look: a large one is not held twice."""

    def __init__(self, table: pd.DataFrame) -> None:
        self._held = [table]

    def take(self) -> pd.DataFrame:
        """Return the table; it is not here any more."""
        return self._held.pop()


def from_frame(frame: Any) -> pd.DataFrame:
    """Take a pandas or polars frame: a copy with column names as words and rows renumbered."""
    import pandas as pd

    if isinstance(frame, HandedOver):
        frame = frame.take()
    kind = type(frame)
    if kind.__module__.split(".")[0] == "polars" and kind.__name__ in ("DataFrame", "LazyFrame"):
        frame = _from_polars(frame)
    if not isinstance(frame, pd.DataFrame):
        raise TableError(f"a {type(frame).__name__} is no table: give a pandas or polars frame.")
    table: pd.DataFrame = frame.reset_index(drop=True)  # a copy; with pandas 3 once it is changed
    names = [str(name) for name in table.columns]
    refuse_repeated("the table", names)
    table.columns = pd.Index(names)
    if table.shape[1] == 0 or len(table) == 0:
        raise TableError(
            "the table has no rows." if table.shape[1] else "the table has no columns."
        )
    return table


def _from_polars(frame: Any) -> Any:
    import pyarrow

    try:
        return frame.lazy().collect().to_pandas()
    except (pyarrow.ArrowException, NotImplementedError) as error:
        raise TableError(
            f"the polars frame holds a kind of column that pandas cannot hold: cast it before ({error})."
        ) from None


def join(
    active: pd.DataFrame,
    passive: pd.DataFrame | Sequence[pd.DataFrame],
    on: str,
    *,
    inner: bool = False,
) -> Joined:
    """Join the active and the passive parties' rows by the id column ``on``.

    Rows keep the active order. Ids that not all have are refused, or left out with ``inner``;
    in a real federation a private set intersection does this. A name that several files have
    gets the party's name in front in the passive ones.
    """
    import pandas as pd

    theirs = [passive] if isinstance(passive, pd.DataFrame) else list(passive)
    parties = passive_names(len(theirs))
    left = _keys(active, on, "the active file (the table)")
    given = f"({argument('passive_file')})"
    right = [
        _keys(frame, on, f"the {party} file {given}")
        for party, frame in zip(parties, theirs, strict=True)
    ]
    common = left
    for keys in right:
        common = common[common.isin(keys)]
    alone = len(left) - len(common), [len(keys) - len(common) for keys in right]
    note = _apart(alone[0], alone[1], parties)
    if common.empty:
        raise TableError(
            f"the files have no id in common in column {on!r} ({argument('id_column')})."
        )
    if not inner and (alone[0] or any(alone[1])):
        raise TableError(
            f"the ids in {on!r} do not match: {note}; {choice('inner', True)} keeps the common ones."
        )
    parts = [active.loc[common.index].drop(columns=on).reset_index(drop=True)]
    taken = {str(name) for name in parts[0].columns}
    mine, brought, notes = tuple(parts[0].columns), [], []
    for party, frame, keys in zip(parties, theirs, right, strict=True):
        position = pd.Series(range(len(keys)), index=keys)
        found = position.loc[common].to_numpy()
        part = frame.iloc[found].drop(columns=on).reset_index(drop=True)
        if part.shape[1] == 0:
            raise TableError(f"the {party} file {given} has no column besides the id {on!r}.")
        again = {str(n): f"{party}.{n}" for n in part.columns if str(n) in taken}
        if again:
            notes.append(
                f"columns of the {party} file that another file has too are named with the party: "
                f"{listed(list(again.values()))}"
            )
        part.columns = pd.Index([again.get(str(n), str(n)) for n in part.columns])
        refuse_repeated("the joined table", [*taken, *part.columns])
        taken |= set(part.columns)
        brought.append(tuple(str(name) for name in part.columns))
        parts.append(part)
    if alone[0] or any(alone[1]):
        notes.append(f"{argument('inner')} left out {note}")
    return Joined(
        pd.concat(parts, axis=1),
        tuple(str(name) for name in mine),
        tuple(name for columns in brought for name in columns),
        tuple(brought),
        tuple(notes),
    )


def _apart(mine: int, theirs: Sequence[int], parties: Sequence[str]) -> str:
    """Count the rows that are not joined; of more than two files one cannot say "only in"."""
    if len(theirs) == 1:
        return f"rows without a partner: {mine} only in the active file and {theirs[0]} only in the passive file"
    counted = [f"{mine} of the active file"]
    counted += [
        f"{count} of the {party} file" for count, party in zip(theirs, parties, strict=True)
    ]
    return f"rows whose id not all files have: {', '.join(counted[:-1])} and {counted[-1]}"


def _keys(frame: pd.DataFrame, on: str, where: str) -> pd.Series[Any]:
    """Return the ids as words, so that 7 and "7" and 7.0 are one id."""
    import pandas as pd

    if on not in frame.columns:
        known = [str(column) for column in frame]
        raise UsageError(
            f"{where} has no id column {on!r} ({argument('id_column')}).{nearest(on, known)}"
        )
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
    return to_pandas(path, table.drop_columns(hidden) if hidden else table)


def storable(frame: pd.DataFrame) -> pd.DataFrame:
    """Write values that no file of columns can hold (lists, records, mixed kinds) as words.

    Preparation has refused or left out what it cannot use by then; a mixed column was read as
    the same words.
    """
    import pyarrow as pa

    changed = {}
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place]
        if column.dtype.kind in "biufmM" and not hasattr(column.dtype, "storage"):
            continue
        try:
            stored = pa.array(column, from_pandas=True)
            if not pa.types.is_nested(stored.type):
                continue
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            pass
        changed[name] = column.map(str, na_action="ignore").astype("object")
    return frame.assign(**changed) if changed else frame


def pack_table(frame: pd.DataFrame, beside: bytes = b"") -> bytes:
    """Turn a frame into bytes that a worker can read; numbers, words and gaps stay what they are.

    ``beside`` are bytes that go with it, such as a model.
    """
    import pyarrow as pa

    sink = io.BytesIO()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if beside:
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), _BESIDE: beside})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def unpack_table(data: bytes) -> pd.DataFrame:
    """Read back what ``pack_table`` wrote."""
    import pyarrow as pa

    # The columns are those of the bytes, where they can be: a large table is not held twice.
    frame: pd.DataFrame = pa.ipc.open_stream(pa.BufferReader(data)).read_pandas(split_blocks=True)
    return frame


def beside_table(data: bytes) -> bytes:
    """Return the bytes that were packed with a table, or none."""
    import pyarrow as pa

    schema = pa.ipc.open_stream(pa.BufferReader(data)).schema
    return bytes((schema.metadata or {}).get(_BESIDE, b""))
