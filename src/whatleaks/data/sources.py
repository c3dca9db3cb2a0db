"""From what the user names to a table: a file, two files with an id, or a data set by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whatleaks.data.registry import CARDS
from whatleaks.errors import TableError, UsageError, nearest

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Source:
    """A table, its label and the columns that the passive party holds."""

    frame: pd.DataFrame
    label: str
    passive: tuple[str, ...]
    name: str
    notes: tuple[str, ...] = ()


def open_source(
    table: str,
    label: str | None,
    passive: tuple[str, ...] | None,
    passive_file: Path | None,
    id_column: str | None,
    inner: bool,
    data_home: Path | None,
) -> Source:
    """Open what ``table`` names. A file of that name wins over a data set."""
    if (passive_file is None) != (id_column is None):
        given, lacking = (
            ("--id", "--passive-file") if passive_file is None else ("--passive-file", "--id")
        )
        raise UsageError(f"{given} needs {lacking}: two files are joined by an id column")
    if passive_file is not None and passive is not None:
        raise UsageError(
            "--passive and --passive-file exclude each other: the file says what is passive"
        )
    if inner and passive_file is None:
        raise UsageError("--inner belongs to --passive-file: there is nothing to join")
    if not Path(table).exists() and table in CARDS:
        return _named(table, label, passive, data_home)
    if not Path(table).exists() and not Path(table).suffix and "/" not in table:
        raise TableError(
            f"there is no file {table} and no data set of that name.{nearest(table, CARDS)} "
            "`whatleaks datasets` lists the sets."
        )
    return _files(Path(table), label, passive, passive_file, id_column, inner)


def _named(
    name: str, label: str | None, passive: tuple[str, ...] | None, data_home: Path | None
) -> Source:
    from whatleaks.data.loading import load

    dataset = load(name, data_home)
    chosen = label if label is not None else dataset.label
    notes: tuple[str, ...] = ()
    if passive is None:
        features = [str(c) for c in dataset.frame.columns if c not in (dataset.label, chosen)]
        passive = tuple(features[: max(1, len(features) // 2)])
        notes = (
            f"No --passive was given: the first {len(passive)} of {len(features)} columns of "
            f"{name} are taken as the passive party's.",
        )
    return Source(dataset.frame, chosen, passive, name, notes)


def _files(
    path: Path,
    label: str | None,
    passive: tuple[str, ...] | None,
    passive_file: Path | None,
    id_column: str | None,
    inner: bool,
) -> Source:
    from whatleaks.data.table import join, read_table

    frame = read_table(path)
    names = [str(name) for name in frame.columns]
    if label is None:
        raise UsageError(f"--label is missing: name the column to predict, one of {_some(names)}")
    if passive_file is not None and id_column is not None:
        joined = join(frame, read_table(passive_file), id_column, inner=inner)
        return Source(joined.frame, label, joined.passive_columns, path.name, joined.notes)
    if passive is None:
        raise UsageError(
            f"--passive is missing: name the partner's columns, some of {_some(n for n in names if n != label)}"
        )
    return Source(frame, label, passive, path.name)


def _some(names: Iterable[str]) -> str:
    """List the first few names."""
    listed = list(names)
    return ", ".join(listed[:8]) + (", ..." if len(listed) > 8 else "")
