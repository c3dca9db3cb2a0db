"""``whatleaks audit``: a table in, a report out."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from whatleaks.cli.common import (
    Address,
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
    On,
    Passive,
    PassiveFiles,
    Plugins,
    ScaleOn,
    Sheet,
    Table,
    Thousands,
    audit_command,
    other_flags,
    time_lines,
    use_plugins,
    whole_numbers,
    words,
)
from whatleaks.errors import UsageError
from whatleaks.files import check_writable


def audit(
    context: typer.Context,
    table: Table,
    label: Label = None,
    passive: Passive = None,
    passive_file: PassiveFiles = None,
    id: Id = None,
    inner: Inner = False,
    model: Annotated[str, typer.Option(help="`whatleaks federations` lists the models.")] = "lr",
    model_file: Annotated[
        Path | None,
        typer.Option(
            help="A model that was trained elsewhere: ONNX, skops, XGBoost, LightGBM, safetensors."
        ),
    ] = None,
    training_rows: Annotated[
        str | None,
        typer.Option(help="The column that says which rows trained that model (0 or 1)."),
    ] = None,
    hidden: Annotated[
        str | None, typer.Option(help="Comma-separated sizes of a network's hidden layers.")
    ] = None,
    threat: Annotated[
        str | None, typer.Option(help="Comma-separated threats; `whatleaks threats` lists them.")
    ] = None,
    protect: Annotated[
        str,
        typer.Option(help="Whose loss is audited: the passive party's columns, or the label."),
    ] = "",
    seeds: Annotated[
        int | None,
        typer.Option(
            help="How often to repeat with another split and training; by default 3 times, "
            "and once more without defenses."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    targets: Annotated[
        int, typer.Option(help="How many records to attack per seed, at most.")
    ] = 300,
    known: Annotated[
        int,
        typer.Option(help="How many people a partner knows, where a threat says it knows some."),
    ] = 25,
    out: Annotated[Path, typer.Option(help="Folder for report.html and audit.json.")] = Path(
        "audit-report"
    ),
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
    by: Annotated[
        str | None,
        typer.Option(
            "--by", help="Also count people by the groups of this column; their names are shown."
        ),
    ] = None,
    inversion_steps: Annotated[int, typer.Option(help="Steps of gradient inversion.")] = 3000,
    no_defenses: Annotated[
        bool, typer.Option("--no-defenses", help="Do not try any defense.")
    ] = False,
    compare_defenses: Annotated[
        bool,
        typer.Option(
            "--compare-defenses",
            help="Try more settings of each defense, draw privacy against utility, recommend one.",
        ),
    ] = False,
    isolated: Annotated[
        bool,
        typer.Option(
            "--isolated",
            help="Run every attack in a process of its own, in a sandbox where there is one.",
        ),
    ] = False,
    show_values: Annotated[
        bool,
        typer.Option(
            "--show-values", help="Put a few true values beside their guesses into the report."
        ),
    ] = False,
    fail_above: Annotated[
        float | None,
        typer.Option(
            help="Leave with exit code 1 unless joining is shown to add at most this (0 to 1)."
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="A first look: one seed, fewer records and steps; about 20 s if small."
        ),
    ] = False,
    profile: Annotated[
        bool, typer.Option("--profile", help="Print where the processor time went.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            envvar="WHATLEAKS_WORKERS",
            help="Worker processes; 0: one per core; by default as many as pay.",
        ),
    ] = None,
    on: On = "local",
    address: Address = "",
    plugin: Plugins = None,
    data_home: DataHome = None,
) -> None:
    """Audit a table: train a federation on it, attack it, write DIR/report.html and DIR/audit.json."""
    if fail_above is not None and not 0.0 <= fail_above <= 1.0:
        raise UsageError(f"--fail-above must lie between 0 and 1, got {fail_above}")
    if model_file is not None and model != "lr":
        raise UsageError("--model and --model-file exclude each other: the file is the model")
    # Small tensors: more threads only wait for each other.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    use_plugins(plugin)
    check_writable(out)
    from whatleaks.data.sources import open_source, readable
    from whatleaks.data.table import HandedOver

    files = passive_file or []
    source = open_source(
        table, label, passive or (), files, id, inner, data_home, drop or (), encoding, sheet
    )
    from whatleaks.api import audit as run

    columns = [str(name) for name in source.frame.columns]
    handed_over = HandedOver(source.frame)
    source = replace(source, frame=source.frame.head(0).copy())
    with ready_command(context, table, files, id, inner, columns):
        report = run(
            handed_over,
            source.label,
            source.passive if len(source.parties) == 1 else source.parties,
            model=model if model_file is None else model_file,
            trained_on=training_rows,
            threats=words(threat),
            defenses=not no_defenses,
            compare_defenses=compare_defenses,
            quick=quick,
            seeds=seeds,
            seed=seed,
            targets=targets,
            known=known,
            hidden=whole_numbers("hidden", hidden),
            inversion_steps=inversion_steps,
            missing=missing,
            categories=categories,
            scale_on=scale_on,
            drop=source.drop,
            drop_constant=drop_constant,
            encode_text=encode_text,
            bins=bins,
            decimal=decimal,
            thousands=thousands,
            na=na or (),
            by=by or "",
            protect=protect,
            isolated=isolated,
            show_values=show_values,
            name=source.name,
            out=out,
            workers=workers,
            on=on,
            address=address,
            progress=True,
            notes=source.notes,
            command=readable(shlex.join(["whatleaks", *sys.argv[1:]])),
        )
    page = report.to_html(out / "report.html")
    report.to_json(out / "audit.json")
    print(report.summary())
    print(readable(f"Report: {page.resolve()}"))
    if profile:
        print("\n".join(time_lines(report.result.phases)))
    head = report.result.headline
    if fail_above is None:
        return
    if not head.attack:
        print("whatleaks: no attack ran, so nothing meets --fail-above", file=sys.stderr)
        raise typer.Exit(1)
    if report.result.untried:
        names = " and ".join(report.result.untried)
        print(f"whatleaks: no attack ran under {names}: --fail-above is not met", file=sys.stderr)
        raise typer.Exit(1)
    from whatleaks.auditor.levels import above

    said = above(head, fail_above)
    if said is not None:
        print(f"whatleaks: {said}, above --fail-above {fail_above}", file=sys.stderr)
        raise typer.Exit(1)


@contextmanager
def ready_command(
    context: typer.Context,
    table: str,
    passive_files: Sequence[Path],
    id_column: str | None,
    inner: bool,
    columns: Sequence[str],
) -> Iterator[None]:
    """Tell all problems of a table, and end with a command line that would run."""
    from whatleaks.data.problems import DEFAULTS, TableProblems

    try:
        yield
    except TableProblems as found:
        for problem in found.problems:
            print(f"whatleaks: {problem.text}", file=sys.stderr)
        if found.ready is not None:
            more = other_flags(
                context, ("table", "label", "passive", "passive_file", "id", "inner", *DEFAULTS)
            )
            command = audit_command(
                table, found.ready, passive_files, id_column, inner, more, columns
            )
            print(f"This would run: {command}", file=sys.stderr)
        raise typer.Exit(found.exit_code) from None
