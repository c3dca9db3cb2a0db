"""Luo et al.: equality solving beyond its threshold (U03) and on rounded scores (U12)."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.runs.grouping import grouped, value
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement, Verdict
from whatleaks_lab.papers.comparison import (
    OPEN_IS_NOT_FAILED,
    above,
    below,
    ratio,
    run_by_run,
    told,
    weighed,
)
from whatleaks_lab.papers.grouping import share_of
from whatleaks_lab.papers.luo_setup import (
    CREDIT,
    DRIVE,
    SETS,
    SHARES,
    SHORT,
    along,
    by_defense,
    esa,
    guesses_of,
    seeds,
)
from whatleaks_lab.papers.plot import LinePlot, PanelPlot, Plot

NAME = "equality-solving"


def _u03_runs(profile: str) -> list[Scenario]:
    shares = {"fast": (0.3, 0.6), "standard": (0.2, 0.4, 0.6), "full": SHARES}[profile]
    return [
        run for dataset in SETS for run in esa(profile, dataset, share=shares, seed=seeds(profile))
    ]


def _beyond(records: Sequence[Record]) -> list[Record]:
    return [r for r in records if value(r, "unknown") > value(r, "classes") - 1]


def _u03_plot(records: Sequence[Record]) -> Plot:
    panels = []
    for (dataset,), group in grouped(records, "dataset").items():
        panels.append(
            LinePlot(
                SHORT[dataset],
                "share of passive columns",
                "mean squared error",
                (along(group, "share", NAME, "equality solving"),),
                tuple(along(group, "share", guess, guess) for guess in guesses_of(group)),
            )
        )
    return PanelPlot("Equality solving against the share of columns", tuple(panels))


@check(
    "U03",
    rule=(
        "Only shares beyond the threshold count: more passive columns than classes less one. Better means that the "
        "geometric mean over seeds of the error over a guess's error has its whole 95 % interval below 1; grows, that the "
        "error at the largest counted share over that at the smallest has it above 1. With one seed the number "
        "itself decides. Holds if on credit and drive equality solving is better than the uniform and the Gaussian "
        "guess at every counted share and its error grows on all four sets." + OPEN_IS_NOT_FAILED
    ),
    sizes={
        "fast": "30 and 60 % of the columns, 200 records, 1 seed, models trained for 300 steps",
        "standard": "20, 40 and 60 % of the columns, 1,000 records, 5 seeds",
        "full": "10 to 60 % of the columns, half of the test records, 10 seeds",
    },
    runs=_u03_runs,
    draw=_u03_plot,
)
def u03(records: Sequence[Record]) -> Judgement:
    """Judge equality solving where it has fewer equations than unknowns."""
    cells = grouped(_beyond(records), "dataset", "share")
    better = {}
    for (dataset, share), runs in cells.items():
        if dataset in (CREDIT, DRIVE):
            better[dataset, share] = all(
                below(ratio(runs, NAME, runs, guess), 1.0) for guess in ("uniform", "gaussian")
            )
    growth = {}
    for dataset in SETS:
        shares = sorted(share for name, share in cells if name == dataset)
        growth[dataset] = ratio(cells[dataset, shares[-1]], NAME, cells[dataset, shares[0]])
    lower = [
        all(ratio(runs, NAME, runs, guess).value < 1.0 for guess in ("uniform", "gaussian"))
        for (dataset, _), runs in cells.items()
        if dataset in (CREDIT, DRIVE)
    ]
    grows = [above(m, 1.0) for m in growth.values()]
    larger = [m.value > 1.0 for m in growth.values()]
    verdicts = (weighed(list(better.values()), lower), weighed(grows, larger))
    verdict = (
        Verdict.FAILS
        if Verdict.FAILS in verdicts
        else Verdict.HOLDS
        if set(verdicts) == {Verdict.HOLDS}
        else Verdict.PARTLY
    )
    counted = {d: runs for (d,), runs in grouped(_beyond(records), "dataset").items()}
    against = {dataset: ratio(counted[dataset], NAME, counted[dataset], "half") for dataset in SETS}
    half = ", ".join(f"{SHORT[d]} {told(m)}" for d, m in against.items())
    told_growth = ", ".join(f"{SHORT[d]} {told(m)}" for d, m in growth.items())
    return Judgement(
        verdict,
        f"better than both random guesses in {share_of(sum(better.values()), len(better), 'cells')} of credit and "
        f"drive; error at the largest over the smallest share: {told_growth}",
        note=f"Against the constant one half the error's ratio is: {half}. Above 1 means that beating random "
        "numbers shows no leak. On credit and drive: "
        + run_by_run([*counted[CREDIT], *counted[DRIVE]], NAME, ("uniform", "gaussian", "half")),
    )


def _u12_runs(profile: str) -> list[Scenario]:
    sets = SETS if profile == "full" else (CREDIT, DRIVE)
    shares = SHARES if profile == "full" else (0.4,)
    return [
        run
        for dataset in sets
        for run in esa(
            profile,
            dataset,
            share=shares,
            seed=seeds(profile),
            defense=("", "rounding-1", "rounding-3"),
        )
    ]


def _u12_plot(records: Sequence[Record]) -> Plot:
    return by_defense("Equality solving on rounded scores", _beyond(records), NAME)


@check(
    "U12",
    rule=(
        "Only shares beyond the threshold count. On each set: rounding to 1 digit makes it worse if the geometric mean over "
        "runs of the error over the uniform guess's has its whole interval above 1; 3 digits hardly matter if the "
        "geometric mean of the error over that from exact scores is at most 1.1. Holds if both are so on every set."
        + OPEN_IS_NOT_FAILED
    ),
    sizes={
        "fast": "credit and drive, 40 % of the columns, 200 records, 1 seed, 300 training steps",
        "standard": "credit and drive, 40 % of the columns, 1,000 records, 5 seeds",
        "full": "all four sets, 10 to 60 % of the columns, half of the test records, 10 seeds",
    },
    runs=_u12_runs,
    draw=_u12_plot,
)
def u12(records: Sequence[Record]) -> Judgement:
    """Judge rounding against equality solving."""
    worse, kept, half = {}, {}, {}
    for (dataset,), runs in grouped(_beyond(records), "dataset").items():
        by = {defense: group for (defense,), group in grouped(runs, "defense").items()}
        worse[dataset] = ratio(by["rounding-1"], NAME, by["rounding-1"], "uniform")
        half[dataset] = ratio(by["rounding-1"], NAME, by["rounding-1"], "half")
        kept[dataset] = ratio(by["rounding-3"], NAME, by[""])
    bad = [above(m, 1.0) for m in worse.values()]
    small = [m.value <= 1.1 for m in kept.values()]
    verdict = weighed([*bad, *small], [*(m.value > 1.0 for m in worse.values()), *small])
    if not any(m.value > 1.0 for m in worse.values()):
        verdict = Verdict.FAILS  # its first half, which the claim is about, has nothing for it
    one = ", ".join(f"{SHORT[d]} {told(m)}" for d, m in worse.items())
    three = ", ".join(f"{SHORT[d]} {told(m)}" for d, m in kept.items())
    return Judgement(
        verdict,
        f"with 1 digit the error over the uniform guess's: {one}; with 3 digits over that from exact scores: {three}",
        note="Against one half, with 1 digit: "
        + ", ".join(f"{SHORT[d]} {told(m)}" for d, m in half.items())
        + ". A score cut to 0 is read as half of the smallest positive one in the release.",
    )
