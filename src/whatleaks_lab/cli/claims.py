"""``whatleaks claims``: the papers' claims, their runs, verdicts and pages."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from whatleaks.cli.common import (
    DEFAULT_STORE,
    INTERRUPTED,
    Address,
    AsJson,
    DataHome,
    On,
    Plugins,
    StorePath,
    Verbose,
    Workers,
    print_json,
    use_data_home,
    use_plugins,
)
from whatleaks.extras import absent, lacking
from whatleaks.files import check_writable

claims_app = typer.Typer(help="The papers' claims and our verdicts.", invoke_without_command=True)


@claims_app.callback()
def claims_list(context: typer.Context, as_json: AsJson = False) -> None:
    """List all claims with their verdicts."""
    if context.invoked_subcommand is not None:
        return
    from whatleaks_lab.papers.ledger import listing, results_home

    entries = listing(results_home())
    if as_json:
        print_json([entry.to_dict() for entry in entries])
        return
    from whatleaks_lab.report.verdicts import verdict_lines

    print(verdict_lines([entry.to_dict() for entry in entries]))


@claims_app.command("run")
def claims_run(
    ids: Annotated[list[str], typer.Argument(help="Claim ids, papers' letters, or all.")],
    profile: Annotated[str, typer.Option(help="fast, standard or full.")] = "fast",
    store: StorePath = DEFAULT_STORE,
    on: On = "local",
    workers: Workers = 0,
    address: Address = "",
    verbose: Verbose = False,
    as_json: AsJson = False,
    plugin: Plugins = None,
    data_home: DataHome = None,
) -> None:
    """Run what some claims lack, judge them by their rules and keep the verdicts."""
    use_plugins(plugin)
    use_data_home(data_home)
    from whatleaks.runs.executors import choose
    from whatleaks.runs.live import display_for
    from whatleaks.runs.store import Store
    from whatleaks_lab.papers.check import profile_named
    from whatleaks_lab.papers.ledger import chosen, results_home, run_claims, write

    names = chosen(ids)
    profile_named(profile)
    executor = choose(on, workers, address)
    with closing(Store(store)) as held:
        summary, entries = run_claims(names, profile, held, executor, display_for(verbose))
    home = results_home(writing=True)
    for entry in entries:
        if entry.records:
            write(home, entry)
    if as_json:
        print_json([entry.to_dict() for entry in entries])
    else:
        from whatleaks_lab.report.verdicts import verdicts

        print(verdicts([entry.to_dict() for entry in entries]))
    if summary.interrupted:
        raise typer.Exit(INTERRUPTED)
    if summary.failed:
        raise typer.Exit(1)


@claims_app.command("check")
def claims_check(
    ids: Annotated[list[str], typer.Argument(help="Claim ids, papers' letters, or all.")],
    workers: Workers = 0,
    data_home: DataHome = None,
) -> None:
    """Make the fast runs of some claims again; do they give the numbers stored beside the verdicts?"""
    use_data_home(data_home)
    from whatleaks.runs.executors import choose
    from whatleaks.runs.runner import run
    from whatleaks_lab.papers.check import checks
    from whatleaks_lab.papers.ledger import chosen, moved, read, results_home

    wrong = 0
    for name in chosen(ids):
        path, said = (
            results_home() / "fast" / f"{name}.json",
            "not checked: no fast runs are stored",
        )
        if path.exists():
            entry = read(path, checks()[name])
            works = [record.work for record in entry.records]
            done = run(works, None, choose("local", workers, ""))
            what = moved(entry, checks()[name], [one for one in done.records if one is not None])
            wrong += bool(what)
            said = f"stale: {what}" if what else "its numbers come out again"
            if done.failed or done.left:  # a data set that is not here, or Ctrl-C
                said = f"not checked: {done.failed + done.left} of {len(works)} runs failed"
        print(f"{name}  {said}")
    if wrong:
        raise typer.Exit(1)


@claims_app.command("report")
def claims_report(
    out: Annotated[Path, typer.Option(help="Folder for the pages.")] = Path("claims-report"),
) -> None:
    """Write one HTML page per paper: claim, verdict, figure, evidence, command."""
    if absent("figures"):
        raise lacking("claims report", "figures")
    check_writable(out)
    from whatleaks_lab.papers.ledger import listing, results_home
    from whatleaks_lab.report.claims_page import write_pages

    for path in write_pages(listing(results_home()), out):
        print(path)
