"""``whatleaks check``: all that is wrong with a table, and a command line that would run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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
    Id,
    Inner,
    Label,
    Missing,
    Na,
    Passive,
    PassiveFiles,
    ScaleOn,
    Table,
    Thousands,
    audit_command,
    print_json,
)

if TYPE_CHECKING:
    from whatleaks.data.problems import Problem

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
    data_home: DataHome = None,
    as_json: AsJson = False,
) -> None:
    """List all problems of a table at once, and a command line that would run; writes nothing."""
    from whatleaks.data.checking import check_table
    from whatleaks.data.sources import open_source
    from whatleaks.report.wording import printable

    files = passive_file or []
    asked: list[Problem] = []
    if not files and Path(table).is_file():
        label, passive, asked = _suggested(Path(table), label, passive, drop or [])
    source = open_source(table, label, passive or (), files, id, inner, data_home, drop or ())
    chosen = {
        "label": source.label,
        "passive": source.passive if len(source.parties) == 1 else source.parties,
        "drop": source.drop,
        "missing": missing,
        "categories": categories,
        "encode_text": encode_text,
        "drop_constant": drop_constant,
        "scale_on": scale_on,
        "bins": bins,
        "decimal": decimal,
        "thousands": thousands,
        "na": tuple(na or ()),
    }
    found = check_table(source.frame, chosen, thorough=True)
    problems = [*asked, *found.problems]
    command = None
    if found.ready is not None:
        command = audit_command(table, found.ready, files, id, inner)
    notes = [*source.notes, *found.notes]
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


def _suggested(
    path: Path, label: str | None, passive: list[str] | None, drop: list[str]
) -> tuple[str, list[str], list[Problem]]:
    """Fill in a label and passive columns that were not named, as an example."""
    from whatleaks.data.naming import chosen_names
    from whatleaks.data.problems import Problem
    from whatleaks.data.schema import infer
    from whatleaks.data.table import read_table

    asked: list[Problem] = []
    if label is not None and passive:
        return label, passive, asked
    frame = read_table(path)
    columns = infer(frame)
    usable = [c for c in columns if c.kind not in ("id", "text", "nested", "constant")]
    gone = chosen_names(drop, [c.name for c in columns])
    usable = [c for c in usable if c.name not in gone] or list(columns)
    if label is None:
        classes = [c for c in usable if c.kind in ("category", "boolean")] or usable
        label = classes[-1].name
        asked.append(Problem(f"--label is missing: name the column to predict, such as {label!r}."))
    if not passive:
        features = [c.name for c in usable if c.name != label]
        passive = features[: max(1, len(features) // 2)]
        if passive:
            asked.append(
                Problem(
                    f"--passive is missing: name the partner's columns, such as {passive[0]!r}."
                )
            )
    return label, passive, asked
