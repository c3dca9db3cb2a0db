"""Jiang, Zhou, Grossklags 2022: gradient-based inversion during prediction."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.papers.check import check
from whatleaks.papers.claim import Judgement, Verdict
from whatleaks.papers.grouping import (
    averaged_runs,
    grid,
    grouped,
    over_seeds,
    rate_of,
    share_of,
    value,
)
from whatleaks.papers.plot import Bar, BarPlot, LinePlot, Plot, Series
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario

SETS = ("bank-marketing", "wall-following-robot", "statlog-satellite", "sensorless-drive")
GIA = ["gradient-inversion-mse", "gradient-inversion-kl"]
BASE = {"targets": 100, "measures": ["bounds"]}  # logistic regression in the white box
ZERO_ESA, ZERO_GIA = 1e-6, 1e-3  # the second is what a figure of the paper shows as zero
EXACT = {
    "bank-marketing": (1,),
    "wall-following-robot": (1, 3),
    "statlog-satellite": (1, 5),
    "sensorless-drive": (5, 10),
}


def _j02_runs(profile: str) -> list[Scenario]:
    seeds = {"fast": 1, "standard": 2, "full": 10}[profile]
    steps = {"fast": 3000, "standard": 20000, "full": 50000}[profile]
    runs = []
    for dataset, counts in EXACT.items():
        counts = counts[:1] if profile == "fast" else counts
        runs += grid(
            {
                **BASE,
                "dataset": dataset,
                "attacks": ["equality-solving", *GIA],
                "attack_options": {"steps": steps},
            },
            unknown=counts,
            seed=range(seeds),
        )
    return runs


def _j02_plot(records: Sequence[Record]) -> Plot:
    bars = []
    for (dataset,), runs in grouped(records, "dataset").items():
        for name in ("equality-solving", *GIA):
            bars.append(Bar(f"{dataset}, {name}", averaged_runs(runs, name)))
    return BarPlot("Few unknown columns: who is exact", "mean squared error", tuple(bars))


@check(
    "J02",
    rule=(
        f"Zero means below {ZERO_ESA:g} for equality solving and below {ZERO_GIA:g} for gradient inversion "
        "with squared distance at the paper's rate. Holds if both are zero in every run, partly if equality "
        "solving is in every run and inversion in some, else fails."
    ),
    sizes={
        "fast": "one number of columns per set, 1 seed, 3,000 steps",
        "standard": "two numbers of columns per set, 100 records, 2 seeds, 20,000 steps",
        "full": "the same numbers, 100 records, 10 seeds, 50,000 steps",
    },
    runs=_j02_runs,
    draw=_j02_plot,
)
def j02(records: Sequence[Record]) -> Judgement:
    """Judge exact reconstruction below the threshold."""
    solved = sum(value(r, "equality-solving") < ZERO_ESA for r in records)
    inverted = sum(value(r, "gradient-inversion-mse") < ZERO_GIA for r in records)
    inverted_kl = sum(value(r, "gradient-inversion-kl") < ZERO_GIA for r in records)
    worst = max(value(r, "gradient-inversion-mse") for r in records)
    n = len(records)
    if solved == n and inverted == n:
        verdict = Verdict.HOLDS
    elif solved == n and inverted > 0:
        verdict = Verdict.PARTLY
    else:
        verdict = Verdict.FAILS
    return Judgement(
        verdict,
        f"zero in {solved} of {n} runs by equality solving, {inverted} by inversion with squared distance "
        f"(largest error {worst:.2g}), {inverted_kl} with Kullback-Leibler",
        value=rate_of(inverted, n),
        note=(
            ""
            if inverted == n
            else "A likely reason, not measured here: where a score is near 0 or 1 the squared distance has "
            "hardly any slope left, so the search stalls."
        ),
    )


def _j05_runs(profile: str) -> list[Scenario]:
    shares = {
        "fast": (0.5,),
        "standard": (0.3, 0.6, 0.9),
        "full": tuple(i / 10 for i in range(1, 10)),
    }
    seeds = {"fast": 1, "standard": 2, "full": 10}[profile]
    steps = {"fast": 1000, "standard": 5000, "full": 20000}[profile]
    return grid(
        {**BASE, "attacks": GIA, "attack_options": {"steps": steps}},
        dataset=SETS,
        share=shares[profile],
        seed=range(seeds),
    )


def _j05_plot(records: Sequence[Record]) -> Plot:
    lines = []
    for (dataset,), group in grouped(records, "dataset").items():
        by_share = grouped(group, "share")
        x = tuple(share for (share,) in sorted(by_share))
        for name, short in (("gradient-inversion-mse", "squared"), ("gradient-inversion-kl", "KL")):
            y = tuple(over_seeds(by_share[key], name) for key in sorted(by_share))
            lines.append(Series(f"{dataset}, {short}", x, y))
    return LinePlot(
        "Gradient inversion: squared distance against Kullback-Leibler",
        "share of passive columns",
        "mean squared error",
        tuple(lines),
    )


@check(
    "J05",
    rule=(
        "Little difference means that the two errors differ by less than a tenth of the uniform guess's error. "
        "Holds if so in every run, partly if in more than half of them, else fails."
    ),
    sizes={
        "fast": "50 % of the columns, 100 records, 1 seed, 1,000 steps",
        "standard": "30, 60 and 90 % of the columns, 100 records, 2 seeds, 5,000 steps",
        "full": "10 to 90 % of the columns, 100 records, 10 seeds, 20,000 steps",
    },
    runs=_j05_runs,
    draw=_j05_plot,
)
def j05(records: Sequence[Record]) -> Judgement:
    """Judge whether the distance matters."""
    gaps = [
        abs(value(r, "gradient-inversion-mse") - value(r, "gradient-inversion-kl"))
        / value(r, "uniform")
        for r in records
    ]
    small = sum(gap < 0.1 for gap in gaps)
    verdict = (
        Verdict.HOLDS
        if small == len(gaps)
        else Verdict.PARTLY
        if small > len(gaps) / 2
        else Verdict.FAILS
    )
    return Judgement(
        verdict,
        f"within a tenth of the uniform guess's error in {share_of(small, len(gaps), 'runs')}; "
        f"the largest gap is {max(gaps):.2f} of it",
        value=rate_of(small, len(gaps)),
        note=(
            ""
            if small == len(gaps)
            else "A likely reason, not measured here: where scores are near 0 or 1 the squared distance is "
            "flat and the search stays near its start, while the Kullback-Leibler distance moves on."
        ),
    )
