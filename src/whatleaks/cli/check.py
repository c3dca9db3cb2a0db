"""``whatleaks check``: all that is wrong with a table, and a command line that would run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from whatleaks.cli.common import (
    AsJson,
    Bins,
    Categories,
    DataHome,
    Decimal,
    Drop,
    DropConstant,
    EncodeText,
    Encoding,
    Id,
    Inner,
    Label,
    Missing,
    Na,
    Passive,
    PassiveFiles,
    ScaleOn,
    Sheet,
    Table,
    Thousands,
    audit_command,
    print_json,
)

if TYPE_CHECKING:
    import pandas as pd

    from whatleaks.data.problems import Problem
    from whatleaks.data.sources import Source
    from whatleaks.data.table import Opened

PROBLEMS = 2  # the exit code


def check(
    table: Table,
    label: Label = None,
    passive: Passive = None,
    passive_file: PassiveFiles = None,
    id: Id = None,
    inner: Inner = False,
    missing: Missing = "refuse",
    categories: Categories = "ordinal",
    scale_on: ScaleOn = "training",
    drop: Drop = None,
    drop_constant: DropConstant = False,
    encode_text: EncodeText = False,
    bins: Bins = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    na: Na = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    data_home: DataHome = None,
    as_json: AsJson = False,
) -> None:
    """List all problems of a table at once, and a command line that would run; writes nothing."""
    from whatleaks.data.checking import check_table
    from whatleaks.data.sources import open_source
    from whatleaks.data.table import open_table
    from whatleaks.report.wording import printable

    files = passive_file or []
    asked: list[Problem] = []
    reading = {
        "decimal": decimal,
        "thousands": thousands,
        "na": tuple(na or ()),
        "encode_text": encode_text,
    }
    if Path(table).is_file() and not (files or id or inner):
        if sheet is None:
            sheet, asked = _sheet(Path(table))
        opened = open_table(table, encoding, sheet, repeated=True)
        source, unnamed = _looked(Path(table), opened, label, passive or [], drop or [], reading)
        asked += unnamed
    else:
        if label is None and files and Path(table).is_file():
            own = open_table(table, encoding, sheet).frame.drop(columns=id or "", errors="ignore")
            label, _, asked = _suggested(own, None, tuple(map(str, files)), reading)
        source = open_source(
            table, label, passive or (), files, id, inner, data_home, drop or (), encoding, sheet
        )
    chosen = {
        "label": source.label,
        "passive": source.passive if len(source.parties) == 1 else source.parties,
        "drop": source.drop,
        "missing": missing,
        "categories": categories,
        "drop_constant": drop_constant,
        "scale_on": scale_on,
        "bins": bins,
        **reading,
    }
    found = check_table(source.frame, chosen, thorough=True)
    problems = [*asked, *found.problems]
    command = None
    if found.ready is not None and not any(problem.column for problem in asked):
        told = (("--encoding", encoding), ("--sheet", sheet), ("--data-home", data_home))
        flags = [word for flag, value in told if value for word in (flag, str(value))]
        columns = [str(name) for name in source.frame.columns]
        command = audit_command(table, found.ready, files, id, inner, flags, columns)
    notes = [*source.notes, *found.notes, *found.doubts]
    if as_json:
        print_json(
            {
                "rows": len(source.frame),
                "columns": [{"name": c.name, "kind": c.kind} for c in found.columns],
                "notes": notes,
                "problems": [problem.text for problem in problems],
                "command": command,
            }
        )
    else:
        print(f"{source.name}: {len(source.frame)} rows, {source.frame.shape[1]} columns")
        for kind in dict.fromkeys(c.kind for c in found.columns):
            names = [printable(c.name) for c in found.columns if c.kind == kind]
            more = f" and {len(names) - 10} more" if len(names) > 10 else ""
            print(f"  {kind}: {', '.join(names[:10])}{more}")
        for note in notes:
            print(f"note: {note}")
        for problem in problems:
            print(f"problem: {problem.text}")
        if command is not None:
            print(f"This would run: {command}")
    if problems:
        raise typer.Exit(PROBLEMS)


def _sheet(path: Path) -> tuple[str | None, list[Problem]]:
    """Take the longest sheet of several as an example, and ask which it is."""
    from whatleaks.data.problems import Problem
    from whatleaks.data.sheets import several
    from whatleaks.data.table import sheets_of

    names = sheets_of(path)
    if len(names) < 2:
        return None, []
    return names[0], [Problem(several(path, names))]


def _looked(
    path: Path,
    opened: Opened,
    label: str | None,
    passive: list[str],
    drop: list[str],
    reading: Mapping[str, Any],
) -> tuple[Source, list[Problem]]:
    """Take a file whatever is wrong with its names; a label and passive columns that were not named
    are filled in, as an example.
    """
    from whatleaks.data.naming import chosen_names, listed, numbered, repeated
    from whatleaks.data.problems import Problem
    from whatleaks.data.sources import Source, readable

    asked: list[Problem] = []
    frame = opened.frame
    twice = repeated(str(name) for name in frame.columns)
    if twice:
        text = f"{path} has more than one column {listed(twice)}: rename them."
        asked.append(Problem(text, column=twice[0]))
        frame.columns = numbered(str(name) for name in frame.columns)
    names = [str(name) for name in frame.columns]
    gone, theirs = chosen_names(drop, names), chosen_names(passive, names)
    if label is None or not theirs:
        left = frame.drop(columns=[name for name in gone if name in names])
        label, theirs, missing = _suggested(left, label, theirs, reading)
        asked += missing
    return Source(frame, label, (theirs,), readable(path.name), opened.notes, gone), asked


def _suggested(
    frame: pd.DataFrame, label: str | None, passive: tuple[str, ...], reading: Mapping[str, Any]
) -> tuple[str, tuple[str, ...], list[Problem]]:
    """Choose a label and passive columns among those that can be used."""
    from whatleaks.data.problems import Problem
    from whatleaks.data.schema import infer
    from whatleaks.data.written import read_written

    asked: list[Problem] = []
    columns = infer(read_written(frame, **reading)[0])
    usable = [c for c in columns if c.kind not in ("id", "text", "nested", "constant")]
    if label is None:
        choices = usable or list(columns)
        classes = [c for c in choices if c.kind in ("category", "boolean")] or choices
        free = [c for c in classes if c.name not in passive] or classes
        label = free[-1].name if free else ""
        asked.append(Problem(f"--label is missing: name the column to predict, such as {label!r}."))
    if not passive:
        features = [c.name for c in usable if c.name != label]
        features = features or [c.name for c in columns if c.name != label]
        passive = tuple(features[: max(1, len(features) // 2)])
        if passive:
            such = f"such as {passive[0]!r}"
            asked.append(Problem(f"--passive is missing: name the partner's columns, {such}."))
    return label, passive, asked
