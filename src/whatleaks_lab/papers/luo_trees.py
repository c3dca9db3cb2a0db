"""Luo et al.: path restriction, the worked tree (U05) and the branching rate (U06)."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.grouping import grouped, over_seeds, scenario_of, value
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement, Verdict
from whatleaks_lab.papers.comparison import above, averaged, told
from whatleaks_lab.papers.grouping import grid, has, share_of
from whatleaks_lab.papers.luo_setup import DRIVE, SETS, SHARES, SHORT, along, of_set, seeds
from whatleaks_lab.papers.plot import Bar, BarPlot, LinePlot, PanelPlot, Plot
from whatleaks_lab.papers.worked_example import WorkedExample

BETA = [1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
ALPHA = [0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]
PRA, CHANCE = "path-restriction", "random-path"
TREE = {
    "model": "tree",
    "threat": "white-box-tree",
    # The rivals answer as attacks do, so that the advantage is of one kind of draw over another.
    "attacks": [PRA, CHANCE, f"{PRA}-own-columns"],
    "measures": ["advantage"],
    "references": [],
}


def _u05_runs(profile: str) -> list[WorkedExample]:
    del profile
    return [WorkedExample("luo-2")]


def _u05_plot(records: Sequence[Record]) -> Plot:
    run = records[0]
    steps = (
        ("all paths", "paths"),
        ("own columns", "paths by own columns"),
        ("class too", "paths by class too"),
    )
    return BarPlot(
        "Paths left in the worked tree",
        "possible paths",
        tuple(Bar(label, over_seeds([run], name)) for label, name in steps),
    )


@check(
    "U05",
    rule=(
        "Holds if beta and alpha are as printed, the own columns leave 2 of the 5 paths, the class leaves exactly 1, "
        "and that path says that the deposit is above 5,000; else fails."
    ),
    sizes=dict.fromkeys(("fast", "standard", "full"), "the example itself"),
    runs=_u05_runs,
    draw=_u05_plot,
)
def u05(records: Sequence[Record]) -> Judgement:
    """Judge the worked tree."""
    run = records[0]
    marks = run.measurements["beta"] == BETA and run.measurements["alpha"] == ALPHA
    paths = [value(run, n) for n in ("paths", "paths by own columns", "paths by class too")]
    right = paths == [5, 2, 1] and value(run, "leaf") == 4 and value(run, "deposit above") == 5000
    return Judgement(
        Verdict.HOLDS if marks and right else Verdict.FAILS,
        f"paths left: {paths[0]:.0f}, {paths[1]:.0f}, {paths[2]:.0f}; deposit above {value(run, 'deposit above'):.0f}; "
        f"beta and alpha {'as' if marks else 'not as'} printed",
        note="The income threshold of node 3 is not printed; any value of at least 2K gives the same.",
    )


def _u06_runs(profile: str) -> list[Scenario]:
    shares = {"fast": (0.2, 0.6), "standard": (0.1, 0.3, 0.6), "full": SHARES}[profile]
    targets = {"fast": 300, "standard": 1000, "full": 0}[profile]
    rows = {"fast": 5000, "standard": 0, "full": 0}[profile]
    return [
        run
        for dataset in SETS
        for run in grid(
            {**TREE, **of_set(dataset), "targets": targets, "data.rows": rows},
            share=shares,
            seed=seeds(profile),
        )
    ]


def _rated(records: Sequence[Record]) -> list[Record]:
    return [r for r in records if has(r, "advantage") and has(r, PRA) and has(r, CHANCE)]


def _u06_plot(records: Sequence[Record]) -> Plot:
    return PanelPlot(
        "Path restriction and a random path",
        tuple(
            LinePlot(
                SHORT[dataset],
                "share of passive columns",
                "correct branching rate",
                (along(runs, "share", PRA, "path restriction"),),
                (along(runs, "share", CHANCE, "random path"),),
            )
            for (dataset,), runs in grouped(_rated(records), "dataset").items()
        ),
    )


def _fall(runs: Sequence[Record]) -> Measurement | None:
    """Return the rate at the smallest share less that at the largest, paired by seed."""
    by = {(scenario_of(r).share, r.work.seed): value(r, PRA) for r in runs}
    shares = sorted({share for share, _ in by})
    if len(shares) < 2:
        return None
    seeds = sorted(seed for share, seed in by if share == shares[0] and (shares[-1], seed) in by)
    if not seeds:
        return None
    return averaged([by[shares[0], s] - by[shares[-1], s] for s in seeds], "difference")


@check(
    "U06",
    rule=(
        "The rate is the mean over records; runs whose guessed paths test no passive column have none and are left "
        "out. Beats: in a cell (set, share) the mean over seeds of the paired advantage over a random path has its "
        "whole interval above 0. Falls: the rate at the smallest share less that at the largest, paired by seed, has "
        "it above 0. With one seed the number decides. Holds if it beats in every cell, falls on bank, credit and "
        "news and does not fall on drive; fails if it beats in fewer than half of the cells; else partly."
    ),
    sizes={
        "fast": "20 and 60 % of the columns, 5,000 rows of each set, 300 records, 1 seed",
        "standard": "10, 30 and 60 % of the columns, 1,000 records, 5 seeds",
        "full": "10 to 60 % of the columns, half of the test records, 10 seeds",
    },
    runs=_u06_runs,
    draw=_u06_plot,
)
def u06(records: Sequence[Record]) -> Judgement:
    """Judge the branching rate."""
    rated = _rated(records)
    gains = {
        key: averaged([value(r, "advantage") for r in runs], "difference")
        for key, runs in grouped(rated, "dataset", "share").items()
    }
    beats = sum(above(m, 0.0) for m in gains.values())
    sets = {dataset: runs for (dataset,), runs in grouped(rated, "dataset").items()}
    falls = {dataset: _fall(sets.get(dataset, ())) for dataset in SETS}
    falling = {d for d, m in falls.items() if m is not None and above(m, 0.0)}
    as_told = falling == set(SETS) - {DRIVE}
    verdict = (
        Verdict.FAILS
        if beats < len(gains) / 2
        else Verdict.HOLDS
        if beats == len(gains) and as_told
        else Verdict.PARTLY
    )
    words = ", ".join(f"{SHORT[d]} {told(m)}" for d, m in falls.items() if m is not None)
    pooled = ", ".join(
        f"{SHORT[d]} {averaged([value(r, f'{PRA} pooled') for r in runs], 'rate').value:.2f} against "
        f"{averaged([value(r, f'{CHANCE} pooled') for r in runs], 'rate').value:.2f}"
        for (d,), runs in grouped(rated, "dataset").items()
    )
    every = averaged([value(r, "advantage") for r in rated], "branching rate over a random path")
    return Judgement(
        verdict,
        f"beats a random path in {share_of(beats, len(gains), 'cells')}, by {told(every, 3)} on average; "
        f"fall from the smallest to the largest share: {words}",
        value=every,
        note=f"{len(records) - len(rated)} of {len(records)} runs have no rate. Pooled over nodes, as the authors' "
        f"program counts: {pooled}.",
    )
