"""``whatleaks run`` and ``results``: declared sweeps, and what they left."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whatleaks.cli.common import (
    DEFAULT_STORE,
    INTERRUPTED,
    Address,
    DataHome,
    On,
    Plugins,
    StorePath,
    Verbose,
    Workers,
    use_data_home,
    use_plugins,
)
from whatleaks.errors import UsageError
from whatleaks.extras import absent, lacking

if TYPE_CHECKING:
    from whatleaks.runs.work import Work


def run(
    file: Annotated[Path, typer.Argument(help="A sweep in TOML; see docs/experiments.md.")],
    store: StorePath = DEFAULT_STORE,
    on: On = "local",
    workers: Workers = 0,
    address: Address = "",
    verbose: Verbose = False,
    figure: Annotated[
        Path | None, typer.Option(help="Draw error against share of columns into this SVG file.")
    ] = None,
    plugin: Plugins = None,
    data_home: DataHome = None,
) -> None:
    """Run a declared sweep; runs that are already stored are not run again."""
    if figure is not None and absent("figures"):
        raise lacking("--figure", "figures")
    use_plugins(plugin)
    use_data_home(data_home)
    from whatleaks.runs import sweep
    from whatleaks.runs.executors import choose
    from whatleaks.runs.live import display_for
    from whatleaks.runs.runner import plan
    from whatleaks.runs.runner import run as perform
    from whatleaks.runs.store import Store

    executor = choose(on, workers, address)
    works = sweep.load(file).works
    plan(works)  # refused before a store is made
    for line in _as_read(works):
        print(f"note: {line}", file=sys.stderr)
    with closing(Store(store)) as results:
        summary = perform(works, results, executor, display_for(verbose))
    if figure is not None:
        from whatleaks.report.sweep_figure import write_figure

        print(write_figure([r for r in summary.records if r is not None and r.ok], figure))
    if summary.interrupted:
        raise typer.Exit(INTERRUPTED)
    if summary.failed:
        raise typer.Exit(1)


def _as_read(works: Iterable[Work]) -> list[str]:
    """Say once how each table of the user's own is read: the runs do it somewhere else."""
    from whatleaks.trial.preparing import read_own_file
    from whatleaks.trial.scenario import Scenario

    own = {(w.dataset, w.data): w for w in works if isinstance(w, Scenario) and w.table}
    said = [f"{work.dataset}: {note}" for work in own.values() for note in read_own_file(work)[1]]
    return list(dict.fromkeys(said))


def results(
    to: Annotated[Path, typer.Option("--to", help="A .parquet file to write.")],
    store: StorePath = DEFAULT_STORE,
) -> None:
    """Export every stored run, one row per number, for pandas or polars."""
    from whatleaks.runs.frame import to_parquet
    from whatleaks.runs.store import Store

    if not store.exists():
        raise UsageError(f"--store: there is no file {store}: run something first")
    if to.suffix != ".parquet":
        raise UsageError(f"--to writes Parquet: give a name that ends in .parquet, got {to}")
    with closing(Store(store)) as held:
        records, _ = held.all()
    print(f"{to_parquet(records, to)} rows of {len(records)} runs in {to}")
