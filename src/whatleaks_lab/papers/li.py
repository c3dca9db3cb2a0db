"""Li, Bao, Xiang and others: inverting encrypted regressions (L01, L08; others in li_*.py)."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.runs.grouping import grouped, value
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers import li_boost, li_equations, li_protocols, li_tables
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement, Verdict
from whatleaks_lab.papers.grouping import averaged_runs, grid, has, rate_of, share_of
from whatleaks_lab.papers.plot import Bar, BarPlot, Plot

BASE = {
    "data": {"prepare": "numbers"},
    "model": "encrypted",
    "threat": "encrypted",
    "attacks": ["intermediate-recovery", "gram-inversion"],
    "measures": ["relative"],
    "references": [],
}
OTHERS = (li_boost, li_equations, li_protocols, li_tables)  # they register themselves
EXACT = 1e-6
FRESH = 60  # 0 to 49 were runs of this page's first verdicts, or could have been
OUTPUTS = "intermediate-recovery"  # the relative error of the victim's intermediate values
TABLE, BEST = "gram-inversion relative", "gram-inversion best relative"
TABLES = "gram-inversion tables"


def _seeds(profile: str, count: int) -> range:
    """Return seeds that no rule has seen (decision 0005); the fast profile repeats old ones."""
    first = 0 if profile == "fast" else FRESH
    return range(first, first + count)


def _l01_runs(profile: str) -> list[Scenario]:
    seeds = _seeds(profile, {"fast": 1, "standard": 3, "full": 10}[profile])
    enough = [("motor-temperature", 9, 0), ("wine-quality", 9, 0), ("wine-quality", 12, 3)]
    if profile != "fast":
        enough.append(("breast-cancer", 28, 0))
    too_few = [("wine-quality", 12, 0), ("motor-temperature", 15, 0)]
    runs = []
    for dataset, batch, fake in (*enough, *too_few):
        options = {"records": batch, "fake_columns": fake}
        base = {**BASE, "dataset": dataset, "unknown": 2, "model_options": options}
        runs += grid(base, seed=seeds)
    return runs


def _l01_plot(records: Sequence[Record]) -> Plot:
    done = [r for r in records if has(r, OUTPUTS)]
    bars = [
        Bar(f"{dataset}, {batch} records", averaged_runs(runs, OUTPUTS))
        for (dataset, batch), runs in grouped(done, "dataset", "model_options.records").items()
    ]
    return BarPlot("The victim's intermediate values", "relative error", tuple(bars))


@check(
    "L01",
    rule=(
        f"Exact means a relative error below {EXACT:g}. Holds if every run with at least as many attacker "
        "columns (fakes included) as records is exact; partly if more than half are; else fails. Runs with "
        "fewer columns have no unique solution, so the attack does not start; they are counted, not judged."
    ),
    sizes={
        "fast": "motor and red wine, 2048-bit keys, 1 seed",
        "standard": "motor, red wine and breast cancer, 2048-bit keys, 3 seeds",
        "full": "the same, 10 seeds",
    },
    runs=_l01_runs,
    draw=_l01_plot,
)
def l01(records: Sequence[Record]) -> Judgement:
    """Judge the recovery of the victim's intermediate values."""
    enough = [r for r in records if value(r, "attacker columns") >= value(r, "records")]
    few = [r for r in records if value(r, "attacker columns") < value(r, "records")]
    errors = [value(r, OUTPUTS) for r in enough if has(r, OUTPUTS)]
    exact = sum(error < EXACT for error in errors)
    refused = sum(not has(r, OUTPUTS) for r in few)
    if exact == len(enough):
        verdict = Verdict.HOLDS
    else:
        verdict = Verdict.PARTLY if exact > len(enough) / 2 else Verdict.FAILS
    return Judgement(
        verdict,
        f"exact in {share_of(exact, len(enough), 'runs')} with enough columns (largest error {max(errors):.0e}); "
        f"not started in {share_of(refused, len(few), 'runs')} without",
        value=rate_of(exact, len(enough)),
        note="On real 2048-bit ciphertexts; the error is the fixed point's and the doubles', not the cipher's.",
    )


def _l08_runs(profile: str) -> list[Scenario]:
    seeds = _seeds(profile, {"fast": 1, "standard": 8, "full": 50}[profile])
    runs = []
    for dataset, batch, unknown in (
        ("motor-temperature", 9, 2),
        ("wine-quality", 9, 2),
        ("wine-quality", 10, 1),
    ):
        options = {"records": batch, "fake_columns": 0}
        base = {**BASE, "dataset": dataset, "unknown": unknown, "model_options": options}
        runs += grid(base, seed=seeds)
    return runs


def _l08_plot(records: Sequence[Record]) -> Plot:
    bars = []
    for (dataset, unknown), runs in grouped(records, "dataset", "unknown").items():
        done = [r for r in runs if has(r, TABLE)]
        right = sum(value(r, TABLE) < EXACT for r in done)
        among = sum(value(r, BEST) < EXACT for r in done)
        bars.append(Bar(f"{dataset}, {unknown}: committed", rate_of(right, len(runs))))
        bars.append(Bar(f"{dataset}, {unknown}: among those that fit", rate_of(among, len(runs))))
    return BarPlot("Tables inverted with nothing known", "share of runs", tuple(bars))


@check(
    "L08",
    rule=(
        f"Inverted means a relative error below {EXACT:g} of the one table that the attack commits to. Holds if "
        "every run is inverted, partly if in every run the truth is at least among the tables that fit the "
        "transcript, else fails."
    ),
    sizes={
        "fast": "three cases, 2048-bit keys, 1 seed",
        "standard": "three cases, 2048-bit keys, 8 seeds each",
        "full": "three cases, 50 seeds each",
    },
    runs=_l08_runs,
    draw=_l08_plot,
)
def l08(records: Sequence[Record]) -> Judgement:
    """Judge whether victims with one or two columns are inverted with nothing known."""
    done = [r for r in records if has(r, TABLE)]
    right = sum(value(r, TABLE) < EXACT for r in done)
    among = sum(value(r, BEST) < EXACT for r in done)
    several = sum(value(r, TABLES) > 1 for r in done)
    n = len(records)
    verdict = Verdict.HOLDS if right == n else Verdict.PARTLY if among == n else Verdict.FAILS
    return Judgement(
        verdict,
        f"the committed table is right in {share_of(right, n, 'runs')}, the truth is among the fitting tables "
        f"in {among}; more than one table fits in {several}",
        value=rate_of(right, n),
        note=(
            "With two columns a mirror image fits the transcript exactly; public ranges often, not always, "
            "rule it out."
        ),
    )
