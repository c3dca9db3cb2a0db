"""Luo, Wu, Xiao, Ooi 2021: feature inference on predictions."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.grouping import grouped, over_seeds, value
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers import (  # noqa: F401  # each registers the checks of its claims
    luo_conditions,
    luo_defenses,
    luo_generative,
    luo_solving,
    luo_trees,
)
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement, Verdict
from whatleaks_lab.papers.grouping import grid, rate_of, share_of
from whatleaks_lab.papers.luo_setup import ESA, SETS, SHARES, SHORT, ZERO, along, esa, of_set, seeds
from whatleaks_lab.papers.plot import Bar, BarPlot, LinePlot, PanelPlot, Plot
from whatleaks_lab.papers.worked_example import WorkedExample

# Passive columns up to one less than the classes: 2, 2, 11 and 5 of them.
BELOW_THRESHOLD = {
    "bank-marketing": (1,),
    "credit-card-default": (1,),
    "sensorless-drive": (1, 5, 10),
    "online-news": (1, 4),
}


def _u01_runs(profile: str) -> list[Scenario]:
    targets = {"fast": 200, "standard": 1000, "full": 0}[profile]
    runs = []
    for dataset, counts in BELOW_THRESHOLD.items():
        if profile == "fast":
            counts = counts[-1:]
        base = {**ESA, **of_set(dataset), "targets": targets}
        runs += grid(base, unknown=counts, seed=seeds(profile))
    return runs


def _u01_plot(records: Sequence[Record]) -> Plot:
    return BarPlot(
        "Equality solving below its threshold",
        "mean squared error",
        tuple(
            Bar(f"{SHORT[dataset]}, {unknown} columns", over_seeds(runs, "equality-solving"))
            for (dataset, unknown), runs in grouped(records, "dataset", "unknown").items()
        ),
        log=True,
    )


@check(
    "U01",
    rule=(
        f"Zero means an error below {ZERO:g}. Holds if every run's error is zero, partly if more "
        "than half of them are, else fails."
    ),
    sizes={
        "fast": "the largest admissible number of columns, 200 records, 1 seed",
        "standard": "1, middle and largest admissible numbers of columns, 1,000 records, 5 seeds",
        "full": "the same numbers of columns, half of the test records, 10 seeds",
    },
    runs=_u01_runs,
    draw=_u01_plot,
)
def u01(records: Sequence[Record]) -> Judgement:
    """Judge whether equality solving is exact below the threshold."""
    errors = [value(record, "equality-solving") for record in records]
    zero = sum(error < ZERO for error in errors)
    verdict = (
        Verdict.HOLDS
        if zero == len(errors)
        else Verdict.PARTLY
        if zero > len(errors) / 2
        else Verdict.FAILS
    )
    return Judgement(
        verdict,
        f"error below {ZERO:g} in {share_of(zero, len(errors), 'runs')}; the largest is {max(errors):.1e}",
        value=rate_of(zero, len(errors)),
        note=""
        if zero == len(errors)
        else "The equations are nearly dependent where it is not zero.",
    )


def _u02_runs(profile: str) -> list[WorkedExample]:
    del profile
    return [WorkedExample("luo-1")]


def _u02_plot(records: Sequence[Record]) -> Plot:
    run = records[0]
    numbers = {
        "deposit / 8000, printed logs": value(run, "deposit") / 8000,
        "shopping / 3, printed logs": value(run, "shopping") / 3,
        "deposit / 8000, exact": value(run, "deposit from exact scores") / 8000,
        "shopping / 3, exact": value(run, "shopping from exact scores") / 3,
    }
    return BarPlot(
        "Example 1: recovered over true value",
        "ratio",
        tuple(Bar(k, Measurement(v, v, v, 1, "ratio", "records")) for k, v in numbers.items()),
    )


@check(
    "U02",
    rule=(
        "Holds if the printed, rounded logarithms give the printed answer to 1 in 2,000 and the exact "
        "scores of the example's record give that record to 1 in a million; else fails."
    ),
    sizes=dict.fromkeys(("fast", "standard", "full"), "the example itself"),
    runs=_u02_runs,
    draw=_u02_plot,
)
def u02(records: Sequence[Record]) -> Judgement:
    """Judge the worked example."""
    run = records[0]
    deposit, shopping = value(run, "deposit"), value(run, "shopping")
    exact = value(run, "deposit from exact scores"), value(run, "shopping from exact scores")
    close = abs(deposit / 8011.8 - 1) < 5e-4 and abs(shopping / 3.046 - 1) < 5e-4
    right = abs(exact[0] / 8000 - 1) < 1e-6 and abs(exact[1] / 3 - 1) < 1e-6
    return Judgement(
        Verdict.HOLDS if close and right else Verdict.FAILS,
        f"({deposit:.1f}, {shopping:.3f}); from exact scores ({exact[0]:.6g}, {exact[1]:.6g})",
        note="Rounding the logarithms to three digits explains the whole distance to (8000, 3).",
    )


def _u04_runs(profile: str) -> list[Scenario]:
    shares = {"fast": (0.4,), "standard": (0.2, 0.4, 0.6), "full": SHARES}[profile]
    return [
        run for dataset in SETS for run in esa(profile, dataset, share=shares, seed=seeds(profile))
    ]


def _u04_plot(records: Sequence[Record]) -> Plot:
    return PanelPlot(
        "Equality solving stays below the bound of Eq 15",
        tuple(
            LinePlot(
                SHORT[dataset],
                "share of passive columns",
                "mean squared error",
                (along(runs, "share", "equality-solving", "equality solving"),),
                (along(runs, "share", "bound", "bound"),),
            )
            for (dataset,), runs in grouped(records, "dataset").items()
        ),
    )


@check(
    "U04",
    rule=(
        "Holds if in every run the error is at most the mean of 2 x^2 over the same records and columns; "
        "else fails. The bounds of whole sets are compared with the printed ones in the note."
    ),
    sizes={
        "fast": "40 % of the columns, 200 records, 1 seed",
        "standard": "20, 40 and 60 % of the columns, 1,000 records, 5 seeds",
        "full": "10 to 60 % of the columns, half of the test records, 10 seeds",
    },
    runs=_u04_runs,
    draw=_u04_plot,
)
def u04(records: Sequence[Record]) -> Judgement:
    """Judge the bound of Eq 15."""
    ratios = [value(record, "equality-solving") / value(record, "bound") for record in records]
    under = sum(ratio <= 1.0 for ratio in ratios)
    whole = {
        dataset: value(group[0], "bound of all columns")
        for (dataset,), group in grouped(records, "dataset").items()
    }
    told = ", ".join(f"{dataset} {bound:.2f}" for dataset, bound in whole.items())
    return Judgement(
        Verdict.HOLDS if under == len(ratios) else Verdict.FAILS,
        f"under the bound in {share_of(under, len(ratios), 'runs')}; the largest ratio is {max(ratios):.2f}",
        value=rate_of(under, len(ratios)),
        note=f"2 x mean(x^2) over all columns: {told}; printed: 0.60, 0.14, 0.45, 0.34.",
    )
