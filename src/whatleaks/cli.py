"""The command line: parse, call, print. Heavy libraries load only in the command that needs them."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from whatleaks import __version__
from whatleaks.errors import UsageError, WhatleaksError, nearest

app = typer.Typer(
    help="What can my partners learn about my columns, and what stops them?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
data_app = typer.Typer(help="Find and fetch the public data sets.", no_args_is_help=True)
app.add_typer(data_app, name="data")
claims_app = typer.Typer(help="The papers' claims and our verdicts.", invoke_without_command=True)
app.add_typer(claims_app, name="claims")

INTERRUPTED = 130  # what a shell expects of a programme that Ctrl-C ended

DataHome = Annotated[
    Path | None, typer.Option("--data-home", help="Folder with the public data sets.")
]


def main() -> None:
    """Run the command line: errors of use in one line and exit code 2, never a traceback."""
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code if isinstance(code, int) else 0)
    except WhatleaksError as error:
        print(f"whatleaks: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        print("whatleaks: interrupted. Run the same command again to resume.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        # Click's own usage errors carry a message for the user; anything else is our bug.
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        print(f"whatleaks: {message()} Try --help.", file=sys.stderr)
        sys.exit(2)


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    if version:
        print(f"whatleaks {__version__}")
        raise typer.Exit


@app.command()
def audit(
    table: Annotated[str, typer.Argument(help="A CSV or Parquet file, or the name of a data set.")],
    label: Annotated[
        str | None, typer.Option(help="The column to predict; the active party's.")
    ] = None,
    passive: Annotated[
        str | None, typer.Option(help="Comma-separated columns that the passive party holds.")
    ] = None,
    passive_file: Annotated[
        Path | None, typer.Option(help="The passive party's own file, joined by --id.")
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", help="The column that joins the two files.")
    ] = None,
    inner: Annotated[
        bool, typer.Option("--inner", help="Keep only ids that both files have.")
    ] = False,
    model: Annotated[str, typer.Option(help="lr, network, joint-network, tree or forest.")] = "lr",
    hidden: Annotated[
        str | None, typer.Option(help="Comma-separated sizes of a network's hidden layers.")
    ] = None,
    threat: Annotated[
        str | None, typer.Option(help="Comma-separated threats; `whatleaks threats` lists them.")
    ] = None,
    seeds: Annotated[
        int, typer.Option(help="How often to repeat with another split and training.")
    ] = 3,
    seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    targets: Annotated[
        int, typer.Option(help="How many records to attack per seed, at most.")
    ] = 300,
    out: Annotated[Path, typer.Option(help="Folder for report.html and audit.json.")] = Path(
        "audit-report"
    ),
    missing: Annotated[str, typer.Option(help="refuse, median or drop-rows.")] = "refuse",
    categories: Annotated[str, typer.Option(help="ordinal, one-hot or target-mean.")] = "ordinal",
    scale_on: Annotated[
        str, typer.Option(help="Fit the [0,1] scale on: training or all rows.")
    ] = "training",
    drop: Annotated[str | None, typer.Option(help="Comma-separated columns to leave out.")] = None,
    drop_constant: Annotated[
        bool, typer.Option("--drop-constant", help="Leave constant columns out.")
    ] = False,
    encode_text: Annotated[
        bool, typer.Option("--encode-text", help="Treat free text as categories.")
    ] = False,
    bins: Annotated[
        int | None, typer.Option(help="Cut a numeric label into this many classes.")
    ] = None,
    inversion_steps: Annotated[int, typer.Option(help="Steps of gradient inversion.")] = 3000,
    no_defenses: Annotated[
        bool, typer.Option("--no-defenses", help="Do not try any defense.")
    ] = False,
    isolated: Annotated[
        bool,
        typer.Option("--isolated", help="Run every attack in a fresh process in an empty folder."),
    ] = False,
    show_values: Annotated[
        bool,
        typer.Option(
            "--show-values", help="Put a few true values beside their guesses into the report."
        ),
    ] = False,
    fail_above: Annotated[
        float | None,
        typer.Option(help="Leave with exit code 1 if the leakage exceeds this (0 to 1)."),
    ] = None,
    data_home: DataHome = None,
) -> None:
    """Audit a table: train a federation on it, attack it, write DIR/report.html and DIR/audit.json."""
    if fail_above is not None and not 0.0 <= fail_above <= 1.0:
        raise UsageError(f"--fail-above must lie between 0 and 1, got {fail_above}")
    os.environ.setdefault(
        "OMP_NUM_THREADS", "1"
    )  # small tensors: more threads only wait for each other
    check_writable(out)
    source = open_table(table, label, passive, passive_file, id, inner, data_home)
    from whatleaks.report.audit_report import audit as run
    from whatleaks.report.progress import progress_bar

    with progress_bar() as tell:
        report = run(
            source.frame,
            source.label,
            source.passive,
            name=source.name,
            out=out,
            progress=tell,
            notes=source.notes,
            command=shlex.join(["whatleaks", *sys.argv[1:]]),
            model=model,
            hidden=sizes(hidden),
            threats=words(threat),
            seeds=seeds,
            seed=seed,
            targets=targets,
            missing=missing,
            categories=categories,
            scale_on=scale_on,
            drop=words(drop),
            drop_constant=drop_constant,
            encode_text=encode_text,
            bins=bins,
            inversion_steps=inversion_steps,
            defenses=not no_defenses,
            isolated=isolated,
            show_values=show_values,
        )
    page = report.to_html(out / "report.html")
    report.to_json(out / "audit.json")
    print(report.summary())
    print(f"Report: {page.resolve()}")
    head = report.result.headline
    leak = head.leakage.value if head.beyond_guessing else 0.0
    if fail_above is not None and leak > fail_above:
        print(f"whatleaks: leakage {leak:.3f} exceeds --fail-above {fail_above}", file=sys.stderr)
        raise typer.Exit(1)


@app.command()
def attacks() -> None:
    """List the attacks, their papers and what each needs to see."""
    from whatleaks.attacks.registry import ATTACKS

    show(
        "Attacks",
        ("name", "paper", "threat", "model", "needs to see"),
        [(c.name, c.paper, ", ".join(c.threats), ", ".join(c.models), c.needs) for c in ATTACKS],
    )


@app.command()
def defenses() -> None:
    """List the defenses, their papers and what each needs."""
    from whatleaks.defenses.registry import DEFENSES

    show(
        "Defenses",
        ("name", "what it does", "paper", "acts on", "needs"),
        [(c.name, c.title, c.paper, c.acts_on, c.needs) for c in DEFENSES],
    )


@app.command()
def detectors() -> None:
    """List the detectors, their papers and what each is granted."""
    from whatleaks.detectors.registry import DETECTORS

    show(
        "Detectors",
        ("name", "what it does", "paper", "is granted"),
        [(c.name, c.title, c.paper, c.granted) for c in DETECTORS],
    )


@app.command()
def threats() -> None:
    """List the threat models in plain words."""
    from whatleaks.threat.registry import THREATS

    show("Threat models", ("name", "in words"), [(t.name, repr(t)) for t in THREATS.values()])


@app.command()
def datasets() -> None:
    """List the data sets, their sizes, licences and whether they are at hand."""
    list_datasets(None)


@data_app.command("list")
def data_list(data_home: DataHome = None) -> None:
    """List the data sets and whether they are at hand."""
    list_datasets(data_home)


@data_app.command("fetch")
def data_fetch(
    name: Annotated[str, typer.Argument(help="The data set's name.")], data_home: DataHome = None
) -> None:
    """Download a data set, or find it where it already is."""
    from whatleaks.data.fetching import fetch

    for path in fetch(name, data_home):
        print(path)


Workers = Annotated[int, typer.Option(help="Worker processes; 0: one per core.")]
On = Annotated[str, typer.Option("--on", help="local or ray.")]
Address = Annotated[str, typer.Option(help="A Ray cluster's address; empty: start one here.")]
StorePath = Annotated[Path, typer.Option("--store", help="The file that keeps finished runs.")]
DEFAULT_STORE = Path("runs/whatleaks.db")


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="A sweep in TOML; see docs/experiments.md.")],
    store: StorePath = DEFAULT_STORE,
    on: On = "local",
    workers: Workers = 0,
    address: Address = "",
    verbose: Annotated[bool, typer.Option("--verbose", help="One line per finished run.")] = False,
    figure: Annotated[
        Path | None, typer.Option(help="Draw error against share of columns into this SVG file.")
    ] = None,
) -> None:
    """Run a declared sweep; runs that are already stored are not run again."""
    from whatleaks.experiments import sweep
    from whatleaks.experiments.executors import choose
    from whatleaks.experiments.live import view_for
    from whatleaks.experiments.runner import plan
    from whatleaks.experiments.runner import run as perform
    from whatleaks.experiments.store import Store

    specs = sweep.load(file).specs
    plan(specs)  # refused before a store is made
    with closing(Store(store)) as results:
        summary = perform(specs, results, choose(on, workers, address), view_for(verbose))
    if figure is not None:
        from whatleaks.report.sweep_figure import write_figure

        print(write_figure([r for r in summary.records if r is not None and r.ok], figure))
    if summary.interrupted:
        raise typer.Exit(INTERRUPTED)
    if summary.failed:
        raise typer.Exit(1)


@app.command()
def results(
    to: Annotated[Path, typer.Option("--to", help="A .parquet file to write.")],
    store: StorePath = DEFAULT_STORE,
) -> None:
    """Export every stored run, one row per number, for pandas or polars."""
    from whatleaks.experiments.frame import to_parquet
    from whatleaks.experiments.store import Store

    if not store.exists():
        raise UsageError(f"--store: there is no file {store}: run something first")
    if to.suffix != ".parquet":
        raise UsageError(f"--to writes Parquet: give a name that ends in .parquet, got {to}")
    with closing(Store(store)) as held:
        records, _ = held.all()
    print(f"{to_parquet(records, to)} rows of {len(records)} runs in {to}")


@claims_app.callback()
def claims_list(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of objects.")] = False,
) -> None:
    """List all claims with their verdicts."""
    if context.invoked_subcommand is not None:
        return
    from whatleaks.papers.ledger import listing, results_home

    entries = listing(results_home())
    if as_json:
        print_json([entry.to_dict() for entry in entries])
        return
    from whatleaks.report.terminal import verdict_lines

    print(verdict_lines([entry.to_dict() for entry in entries]))


@claims_app.command("run")
def claims_run(
    ids: Annotated[list[str], typer.Argument(help="Claim ids, papers' letters, or all.")],
    profile: Annotated[str, typer.Option(help="fast, standard or full.")] = "fast",
    store: StorePath = DEFAULT_STORE,
    on: On = "local",
    workers: Workers = 0,
    address: Address = "",
    verbose: Annotated[bool, typer.Option("--verbose", help="One line per finished run.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of objects.")] = False,
) -> None:
    """Run what some claims lack, judge them by their rules and keep the verdicts."""
    from whatleaks.experiments.executors import choose
    from whatleaks.experiments.live import view_for
    from whatleaks.experiments.store import Store
    from whatleaks.papers.check import profile_named
    from whatleaks.papers.ledger import chosen, results_home, run_claims, write

    names = chosen(ids)
    profile_named(profile)
    with closing(Store(store)) as held:
        summary, entries = run_claims(
            names, profile, held, choose(on, workers, address), view_for(verbose)
        )
    home = results_home(writing=True)
    for entry in entries:
        if entry.records:
            write(home, entry)
    if as_json:
        print_json([entry.to_dict() for entry in entries])
    else:
        from whatleaks.report.terminal import verdicts

        print(verdicts([entry.to_dict() for entry in entries]))
    if summary.interrupted:
        raise typer.Exit(INTERRUPTED)
    if summary.failed:
        raise typer.Exit(1)


@claims_app.command("report")
def claims_report(
    out: Annotated[Path, typer.Option(help="Folder for the pages.")] = Path("claims-report"),
) -> None:
    """Write one HTML page per paper: claim, verdict, figure, evidence, command."""
    check_writable(out)
    from whatleaks.papers.ledger import listing, results_home
    from whatleaks.report.claims_page import write_pages

    for path in write_pages(listing(results_home()), out):
        print(path)


def print_json(tree: Any) -> None:
    """Print plain values as JSON."""
    import json

    print(json.dumps(tree, indent=1, ensure_ascii=False, allow_nan=False))


@app.command()
def keys(
    out: Annotated[Path, typer.Option(help="Folder for one sub-folder of keys per party.")],
    passive: Annotated[int, typer.Option(help="How many passive parties there are.")] = 1,
    clients: Annotated[
        int, typer.Option(help="Make keys for so many clients of a horizontal federation instead.")
    ] = 0,
    days: Annotated[int, typer.Option(help="How long the certificates are valid.")] = 30,
) -> None:
    """Make certificates for party processes: one folder each, to be handed to that party alone."""
    from whatleaks.crypto.certificates import make_certificates
    from whatleaks.federation.horizontal import client_names
    from whatleaks.federation.regression_settings import passive_names

    if not 1 <= passive <= 16:
        raise UsageError(f"--passive is {passive}: use 1 to 16")
    if clients not in (0, *range(2, 17)):
        raise UsageError(f"--clients is {clients}: use 2 to 16")
    parties = {"active": "active", "arbiter": "arbiter"}
    parties |= dict.fromkeys(passive_names(passive), "passive")
    if clients:
        parties = {"arbiter": "arbiter", **dict.fromkeys(client_names(clients), "client")}
    for folder in make_certificates(out, parties, days):
        print(folder)


@app.command()
def party(
    role: Annotated[str, typer.Option(help="active, passive, arbiter or client.")],
    config: Annotated[Path, typer.Option(help="This party's TOML file; see docs/processes.md.")],
    name: Annotated[
        str | None, typer.Option(help="This party's name, where a role has several: passive-2.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the last epoch or tree that all saved.")
    ] = False,
    transcript: Annotated[
        Path | None, typer.Option(help="Save every message that this party receives.")
    ] = None,
    join_timeout: Annotated[
        float, typer.Option(help="How many seconds to wait for the others at the start.")
    ] = 30.0,
) -> None:
    """Run one party of a secure federation as its own process, over mutual TLS on loopback."""
    from whatleaks.federation.party_config import ROLES, load_config, role_of
    from whatleaks.federation.party_process import run_party

    if role not in ROLES:
        raise UsageError(
            f"--role is {role!r}: use one of {', '.join(ROLES)}.{nearest(role, ROLES)}"
        )
    if role_of(name or role) != role:
        raise UsageError(f"--name {name!r} is not a {role} party")
    chosen = load_config(config, name or role)
    run_party(chosen, resume, transcript, lambda line: print(line, flush=True), join_timeout)


@app.command()
def align(
    first: Annotated[Path, typer.Argument(help="A CSV file.")],
    second: Annotated[Path, typer.Argument(help="Another party's CSV file.")],
    id: Annotated[str, typer.Option("--id", help="The column that joins the two files.")],
    out: Annotated[Path, typer.Option(help="Folder for the two files' common records.")],
    strip: Annotated[
        bool, typer.Option("--strip", help="Ignore spaces around ids and repeated ones inside.")
    ] = False,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", help="Ignore case in ids.")] = False,
) -> None:
    """Cut two CSV files to their common records, in one order, by private set intersection."""
    from whatleaks.crypto.psi import align as intersect
    from whatleaks.data.alignment import read_text, write_text

    targets = (out / first.name, out / second.name)
    if targets[0] == targets[1] or {t.resolve() for t in targets} & {
        first.resolve(),
        second.resolve(),
    }:
        raise UsageError("--out: the files would replace each other or their originals: rename one")
    tables = [read_text(path, id) for path in (first, second)]
    columns = [header.index(id) for header, _ in tables]
    ids = [[row[at] for row in rows] for (_, rows), at in zip(tables, columns, strict=True)]
    found = intersect(ids[0], ids[1], strip, ignore_case, (str(first), str(second)))
    for target, (header, rows), at, chosen in zip(
        targets, tables, columns, (found.first, found.second), strict=True
    ):
        kept = [
            [*rows[row][:at], name, *rows[row][at + 1 :]]
            for row, name in zip(chosen, found.ids, strict=True)
        ]
        write_text(target, header, kept)
        print(f"{target}: {len(kept)} of {len(rows)} records")
    for path, untidy in zip((first, second), found.untidy, strict=True):
        if untidy:
            print(
                f"{path}: {untidy} ids without a match have spaces or capitals: "
                "try --strip or --ignore-case"
            )


@app.command()
def transcript(
    file: Annotated[Path, typer.Argument(help="A file that `whatleaks party --transcript` saved.")],
    as_: Annotated[str, typer.Option("--as", help="The party whose eyes to use.")],
) -> None:
    """Show what a party saw: kinds, plain or cipher, sizes, and what it can compute from them."""
    from whatleaks.threat.exposures import what_was_seen
    from whatleaks.wire.transcript import Transcript

    found = what_was_seen(Transcript.load(file), as_)
    show(
        f"What {as_} saw",
        ("from", "kind", "form", "messages", "bytes", "shapes", "steps"),
        [
            (
                seen.sender,
                seen.kind,
                seen.form,
                str(seen.count),
                f"{seen.size:,}",
                ", ".join("x".join(map(str, shape)) for shape in seen.shapes),
                f"{seen.steps[0]} to {seen.steps[1]}",
            )
            for seen in found
        ],
    )
    print("What it gives away")
    for line in dict.fromkeys(f"  {seen.kind} ({seen.form}): {seen.exposes}" for seen in found):
        print(textwrap.fill(line, 79, subsequent_indent="    "))


def list_datasets(data_home: Path | None) -> None:
    """Print the table of data sets."""
    from whatleaks.data.location import find
    from whatleaks.data.registry import CARDS

    show(
        "Data sets",
        ("name", "what it is", "rows x columns", "task", "licence", "at hand"),
        [
            (
                card.name,
                card.title,
                f"{card.rows:,} x {card.features}",
                card.task,
                card.licence,
                "yes" if card.embedded or find(card, data_home) else "no",
            )
            for card in CARDS.values()
        ],
    )


def words(text: str | None) -> tuple[str, ...]:
    """Split a comma-separated flag."""
    return tuple(word.strip() for word in text.split(",") if word.strip()) if text else ()


def sizes(text: str | None) -> tuple[int, ...]:
    """Read a comma-separated list of whole numbers, such as layer sizes."""
    parts = words(text)
    if not all(part.isdecimal() for part in parts):
        raise UsageError(f"--hidden takes whole numbers such as 600,300,100, got {text!r}")
    return tuple(int(part) for part in parts)


def show(title: str, headers: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """Print a table."""
    from whatleaks.report.terminal import print_tables, table

    print_tables(table(title, headers, rows))


def check_writable(folder: Path) -> None:
    """Refuse an output folder that cannot be written before any work is done."""
    at = folder
    while not at.exists() and at != at.parent:
        at = at.parent
    if not at.is_dir() or not os.access(at, os.W_OK):
        raise UsageError(f"--out: cannot write to {folder}: choose another folder")


def open_table(
    table: str,
    label: str | None,
    passive: str | None,
    passive_file: Path | None,
    id_column: str | None,
    inner: bool,
    data_home: Path | None,
) -> Any:
    """Find the table that the flags describe, and who holds which column."""
    from whatleaks.data.sources import open_source

    return open_source(
        table, label, words(passive) or None, passive_file, id_column, inner, data_home
    )


if __name__ == "__main__":
    main()
