"""Luo et al.: what the attack depends on, predictions (U10) and correlations (U11)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.grouping import grouped
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement
from whatleaks_lab.papers.comparison import (
    OPEN_IS_NOT_FAILED,
    below,
    ratio,
    told,
    weighed,
    weighed_words,
)
from whatleaks_lab.papers.grouping import grid, numbers, share_of
from whatleaks_lab.papers.luo_setup import (
    BANK,
    CREDIT,
    GRN,
    SHORT,
    along,
    brief,
    column_by_column,
    of_set,
    seeds,
)
from whatleaks_lab.papers.plot import LinePlot, PanelPlot, Plot, Points, ScatterPlot

PARTS = (0.1, 0.3, 0.5)
COUNTED = {**SHORT, "synthetic-1": "synthetic 1", "synthetic-2": "synthetic 2"}


def _u10_runs(profile: str) -> list[Scenario]:
    sets = (
        ("synthetic-1", BANK) if profile == "fast" else ("synthetic-1", "synthetic-2", BANK, CREDIT)
    )
    rows = {"fast": 2000, "standard": 5000, "full": 0}[profile]
    return [
        run
        for dataset in sets
        for run in grid(
            {
                **of_set(dataset),
                "data": {"rows": rows, "training_fraction": 0.5},
                "share": 0.4,
                "attacks": [GRN],
                **brief(profile),
            },
            seed=seeds(profile),
            part=PARTS,
        )
    ]


def _by_part(records: Sequence[Record]) -> dict[float, list[Record]]:
    return {part: runs for (part,), runs in grouped(records, "part").items()}


def _u10_plot(records: Sequence[Record]) -> Plot:
    panels = []
    for (dataset,), runs in grouped(records, "dataset").items():
        panels.append(
            LinePlot(
                COUNTED[dataset],
                "share of the records scored",
                "mean squared error",
                (along(runs, "part", GRN, "generative regression"),),
                (along(runs, "part", "half", "half"),),
            )
        )
    return PanelPlot("More predictions", tuple(panels))


@check(
    "U10",
    rule=(
        "On a set more predictions help if the geometric mean over seeds of the error with 50 % of the records over that with "
        "10 % has its whole interval below 1 (one seed: the number). Logistic regression, 40 % of the columns (the "
        "paper states neither). Holds if they help on every set." + OPEN_IS_NOT_FAILED
    ),
    sizes={
        "fast": "synthetic 1 and bank, 2,000 rows of each, 1 seed, brief training",
        "standard": "two synthetic sets, bank and credit, 5,000 rows of each, 5 seeds",
        "full": "the same sets whole, 10 seeds",
    },
    runs=_u10_runs,
    draw=_u10_plot,
)
def u10(records: Sequence[Record]) -> Judgement:
    """Judge the effect of the number of predictions."""
    gains, half = {}, {}
    for (dataset,), runs in grouped(records, "dataset").items():
        by = _by_part(runs)
        gains[dataset] = ratio(by[0.5], GRN, by[0.1])
        half[dataset] = ratio(by[0.5], GRN, by[0.5], "half")
    helped = [below(m, 1.0) for m in gains.values()]
    words = ", ".join(f"{COUNTED[d]} {told(m)}" for d, m in gains.items())
    return Judgement(
        weighed(helped, [m.value < 1.0 for m in gains.values()]),
        f"they help on {share_of(sum(helped), len(helped), 'sets')}; error with 50 % over that with 10 %: {words}",
        note="Error with 50 % over one half's: "
        + ", ".join(f"{COUNTED[d]} {told(m)}" for d, m in half.items())
        + ".",
    )


def _u11_runs(profile: str) -> list[Scenario]:
    return [
        run
        for dataset, share in ((BANK, 0.4), (CREDIT, 0.3))
        for run in column_by_column(profile, dataset, share=(share,), seed=seeds(profile, 6))
    ]


CORRELATIONS = {"own columns": "own correlation by column", "scores": "score correlation by column"}


def _columns(records: Sequence[Record], name: str) -> list[float]:
    found: list[float] = []
    for record in records:
        found += numbers(record, name)
    return found


def spearman(x: Sequence[float], y: Sequence[float]) -> Measurement:
    """Return the rank correlation with Fisher's interval (standard error 1.06 / sqrt(n - 3))."""
    import numpy as np
    from scipy.special import ndtri
    from scipy.stats import rankdata

    n = len(x)
    r = float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])
    z = math.atanh(max(min(r, 0.999999), -0.999999))
    half = float(ndtri(0.975)) * 1.06 / math.sqrt(max(n - 3, 1))
    low, high = math.tanh(z - half), math.tanh(z + half)
    return Measurement(r, min(low, r), max(high, r), n, "rank correlation", "columns")


def _u11_plot(records: Sequence[Record]) -> Plot:
    groups = []
    for (dataset,), runs in grouped(records, "dataset").items():
        for seen, name in CORRELATIONS.items():
            groups.append(
                Points(
                    f"{SHORT[dataset]}, with {seen}",
                    tuple(_columns(runs, name)),
                    tuple(_columns(runs, f"{GRN} by column")),
                )
            )
    return ScatterPlot(
        "Each target column's error and its correlations",
        "mean absolute correlation (Eqs 16, 17)",
        "mean squared error",
        tuple(groups),
    )


@check(
    "U11",
    rule=(
        "Four statements: on bank at 40 % and on credit at 30 %, over the target columns of all seeds, the rank "
        "correlation between a column's error and its correlation with the own columns (Eq 16), and with the scores "
        "(Eq 17), has its whole interval below 0. Logistic regression. A column that two seeds draw counts twice, so "
        "the intervals are somewhat short. Holds if all four are so." + OPEN_IS_NOT_FAILED
    ),
    sizes={
        "fast": "200 records, 1 seed, brief training",
        "standard": "500 records, 6 seeds",
        "full": "half of the test records, 10 seeds",
    },
    runs=_u11_runs,
    draw=_u11_plot,
)
def u11(records: Sequence[Record]) -> Judgement:
    """Judge whether weakly correlated columns are inferred worse."""
    found, scaled = {}, {}
    for (dataset,), runs in grouped(records, "dataset").items():
        errors = _columns(runs, f"{GRN} by column")
        spreads = _columns(runs, "variance by column")
        relative = [e / max(v, 1e-9) for e, v in zip(errors, spreads, strict=True)]
        for seen, name in CORRELATIONS.items():
            found[SHORT[dataset], seen] = spearman(errors, _columns(runs, name))
            scaled[SHORT[dataset], seen] = spearman(relative, _columns(runs, name))
    shown = [below(m, 0.0) for m in found.values()]
    leaning = [m.value < 0.0 for m in found.values()]
    words = ", ".join(f"{d} with {s} {told(m)}" for (d, s), m in found.items())
    other = ", ".join(f"{d} with {s} {told(m)}" for (d, s), m in scaled.items())
    return Judgement(
        weighed(shown, leaning),
        f"rank correlation of error and correlation: {words}",
        note=f"{weighed_words(shown, leaning)} With the error divided by the column's variance: {other}.",
    )
