"""From what the user names to a table: a file, two files with an id, or a data set by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whatleaks.data.naming import chosen_names
from whatleaks.data.registry import cards
from whatleaks.data.table import Opened, join, open_table
from whatleaks.errors import TableError, UsageError, argument, nearest

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Source:
    """A table, its label and the columns that each passive party holds."""

    frame: pd.DataFrame
    label: str
    parties: tuple[tuple[str, ...], ...]
    name: str
    notes: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    @property
    def passive(self) -> tuple[str, ...]:
        """The columns of all passive parties."""
        return tuple(name for columns in self.parties for name in columns)


def open_source(
    table: str,
    label: str | None,
    passive: Sequence[str] = (),
    passive_files: Sequence[Path] = (),
    id_column: str | None = None,
    inner: bool = False,
    data_home: Path | None = None,
    drop: Sequence[str] = (),
    encoding: str | None = None,
    sheet: str | None = None,
) -> Source:
    """Open what ``table`` names. A file of that name wins over a data set.

    ``passive`` and ``drop`` are words of the command line: a name each, or several with commas.
    ``encoding`` is that of all files, ``sheet`` that of all Excel files.
    """
    if bool(passive_files) != (id_column is not None):
        given, lacking = argument("passive_file"), argument("id_column")
        if not passive_files:
            given, lacking = lacking, given
        raise UsageError(f"{given} needs {lacking}: the files are joined by an id column")
    if passive_files and passive:
        raise UsageError(
            f"{argument('passive')} and {argument('passive_file')} exclude each other: the file "
            "says what is passive"
        )
    if inner and not passive_files:
        raise UsageError(
            f"{argument('inner')} belongs to {argument('passive_file')}: there is nothing to join"
        )
    if data_home is not None and not data_home.is_dir():
        raise UsageError(f"{argument('home')} {data_home} is not a folder")
    if not Path(table).exists() and table in cards():
        return _named(table, label, passive, data_home, drop)
    if not Path(table).exists() and not Path(table).suffix and "/" not in table:
        raise TableError(
            f"there is no file {table} and no data set of that name.{nearest(table, cards())} "
            "`whatleaks datasets` lists the sets."
        )
    opened = [
        open_table(path, encoding, sheet if not passive_files or _is_packed(path) else None)
        for path in (Path(table), *passive_files)
    ]
    return _files(Path(table), opened, label, passive, id_column, inner, drop)


def _named(
    name: str,
    label: str | None,
    passive: Sequence[str],
    data_home: Path | None,
    drop: Sequence[str],
) -> Source:
    from whatleaks.data.loading import load

    dataset = load(name, data_home)
    columns = [str(c) for c in dataset.frame.columns]
    chosen = label if label is not None else dataset.label
    theirs, gone = chosen_names(passive, columns), chosen_names(drop, columns)
    notes: tuple[str, ...] = ()
    if not theirs:
        features = [c for c in columns if c not in (dataset.label, chosen, *gone)]
        theirs = tuple(features[: max(1, len(features) // 2)])
        notes = (
            f"No {argument('passive')} was given: the first {len(theirs)} of {len(features)} columns of "
            f"{name} are taken as the passive party's.",
        )
    return Source(dataset.frame, chosen, (theirs,), name, notes, gone)


def _files(
    path: Path,
    opened: Sequence[Opened],
    label: str | None,
    passive: Sequence[str],
    id_column: str | None,
    inner: bool,
    drop: Sequence[str],
) -> Source:
    frame = opened[0].frame
    notes = tuple(note for one in opened for note in one.notes)
    names = [str(name) for name in frame.columns]
    name = readable(path.name)
    if label is None:
        raise UsageError(
            f"{argument('label')} is missing: name the column to predict, one of {_some(names)}"
        )
    if id_column is not None:
        joined = join(frame, [other.frame for other in opened[1:]], id_column, inner=inner)
        gone = chosen_names(drop, [str(c) for c in joined.frame.columns])
        parties = tuple(tuple(c for c in columns if c not in gone) for columns in joined.parties)
        return Source(joined.frame, label, parties, name, (*notes, *joined.notes), gone)
    if not passive and label not in names:
        raise UsageError(
            f"{argument('label')} {label!r} is no column of the table.{nearest(label, names)} It has "
            f"{_some(names)}"
        )
    if not passive:
        raise UsageError(
            f"{argument('passive')} is missing: name the partner's columns, some of "
            f"{_some(other for other in names if other != label)}"
        )
    theirs, gone = chosen_names(passive, names), chosen_names(drop, names)
    return Source(frame, label, (theirs,), name, notes, gone)


def _is_packed(path: Path) -> bool:
    """Say whether a file may be a workbook: one that is not there is refused later."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def readable(text: str) -> str:
    """Return a file's name as text that can be written: bytes that are no UTF-8 become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _some(names: Iterable[str]) -> str:
    """List the first few names."""
    listed = [name if name.isprintable() else repr(name) for name in names]
    return ", ".join(listed[:8]) + (", ..." if len(listed) > 8 else "")
