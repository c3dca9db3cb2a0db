"""Jiang et al., section 5.2.1: logistic regression in the white box (J01 to J07)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.runs.grouping import grouped, scenario_of, value
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement
from whatleaks_lab.papers.grouping import grid, has, numbers
from whatleaks_lab.papers.jiang_setup import (
    ALONE,
    BANK,
    CELLS,
    DRIVE,
    ESA,
    GIA,
    GIA_KL,
    ROBOT,
    SATELLITE,
    SETS,
    SHORT,
    bars,
    base,
    beside,
    by_cells,
    cells_check,
    mean,
    seeds,
    sizes,
    steps_of,
)
from whatleaks_lab.papers.plot import Plot

ATTACKS = [ESA, "equality-solving-clipped", GIA, GIA_KL]
SHARES = (0.2, 0.5, 0.9)
REPORTED = {
    BANK: (0.9109, 0.9506),
    ROBOT: (0.6710, 0.8946),
    SATELLITE: (0.8152, 0.8275),
    DRIVE: (0.8037, 0.9241),
}
FEW = {BANK: 1, ROBOT: 3, SATELLITE: 5, DRIVE: 10}
ZERO_ESA, ZERO_GIA = 1e-6, 1e-3  # the second is what a figure of the paper shows as zero


def pool(profile: str) -> list[Scenario]:
    """Return the runs that most claims on logistic regression look at."""
    shares = SHARES[1:] if profile == "fast" else SHARES
    return grid(base(profile, ATTACKS), dataset=SETS, share=shares, seed=seeds(profile))


def _j01_runs(profile: str) -> list[Scenario]:
    rows = {"fast": 600, "standard": 4000, "full": 0}[profile]
    steps = {"fast": 200, "standard": 1500, "full": 4000}[profile]
    fields = {"data": {"rows": rows} if rows else {}, "model_options": {"steps": steps}}
    return grid(
        {
            **base(profile, [], references=["joining"]),
            "attack_options": {},
            "measures": [],
            "share": 0.5,
            **fields,
        },
        dataset=SETS,
        model=("lr", "network"),
        seed=seeds(profile),
    )


@check(
    "J01",
    rule="The accuracy is that of Table 1 if it differs by at most 0.05, cell by cell of set and model."
    + CELLS,
    sizes={
        "fast": "600 rows, 200 training steps, 1 seed",
        "standard": "4,000 rows of a set, 1,500 training steps, 3 seeds",
        "full": "all rows, 4,000 training steps, 10 seeds",
    },
    runs=_j01_runs,
)
def j01(records: Sequence[Record]) -> Judgement:
    """Judge the models' accuracy."""
    cells, words, without = {}, [], []
    for (dataset, model), runs in grouped(records, "dataset", "model").items():
        want = REPORTED[dataset][model != "lr"]
        got = mean(runs, "accuracy")
        cells[f"{SHORT[dataset]} {model}"] = abs(got - want) <= 0.05
        words.append(f"{SHORT[dataset]} {model} {got:.3f} (paper {want:.3f})")
        without.append(f"{SHORT[dataset]} {model} {mean(runs, 'accuracy alone'):.3f}")
    return by_cells(
        cells,
        "Accuracy: " + ", ".join(words) + ".",
        "Nothing is attacked, so there is no limit and no control of an attack. What the active party's half of the "
        "columns gives alone, by a logistic regression that is trained to its optimum and not for so many steps: "
        + ", ".join(without)
        + ".",
    )


def _j02_runs(profile: str) -> list[Scenario]:
    steps = {"fast": 1000, "standard": 6000, "full": 50000}[profile]
    plain = base(profile, [ESA, GIA, GIA_KL], attack_options={"steps": steps})
    plain["measures"] = [*plain["measures"], "by-steps"]
    # Not judged: the same distance, minimised by another method, says why inversion is not at zero.
    other = base(profile, [GIA_KL], attack_options={"optimiser": "lbfgs", "steps": 300})
    return [
        run
        for dataset in SETS
        for fields in (plain, {**other, "references": ALONE})
        for run in grid(fields, dataset=[dataset], unknown=(FEW[dataset],), seed=seeds(profile))
    ]


@check(
    "J02",
    rule=(
        f"Zero means an error below {ZERO_ESA:g} for equality solving and below {ZERO_GIA:g} for inversion with squared "
        "distance at the paper's rate; a cell is an attack on a set with as many unknown columns as the scores determine."
        + CELLS
    ),
    sizes={
        **sizes("one number of columns per set"),
        "standard": "1,500 rows, 100 records, 3 seeds, 6,000 steps of inversion",
    },
    runs=_j02_runs,
)
def j02(records: Sequence[Record]) -> Judgement:
    """Judge exact reconstruction below the threshold, and show what keeps inversion from it."""
    plain = [r for r in records if has(r, ESA)]
    cells, words, trails = {}, [], []
    for (dataset,), runs in grouped(plain, "dataset").items():
        name = SHORT[dataset]
        cells[f"{name} solving"] = max(value(r, ESA) for r in runs) < ZERO_ESA
        cells[f"{name} inversion"] = max(value(r, GIA) for r in runs) < ZERO_GIA
        words.append(
            f"{name} solving {mean(runs, ESA):.1e}, inversion {mean(runs, GIA):.1e} "
            f"(KL {mean(runs, GIA_KL):.1e}), inversion's attack accuracy {mean(runs, f'{GIA} accuracy'):.2f}"
        )
        same = [r for r in records if r not in plain and scenario_of(r).dataset == dataset]
        trails.append(f"{name} {_trail(runs, '.1e')}; L-BFGS on KL {mean(same, GIA_KL):.1e}")
    return by_cells(
        cells,
        "Errors: " + "; ".join(words) + ".",
        f"After {steps_of(plain)}. Squared distance, by steps, and another method on the same scores: "
        + "; ".join(trails)
        + ". The scores determine the columns; what is left is the search that has not arrived. "
        + beside(plain, ("dataset",)),
    )


def _trail(runs: Sequence[Record], digits: str) -> str:
    """Say inversion's error along its steps, as a mean over seeds."""
    places = numbers(runs[0], f"{GIA} steps")
    errors = np.mean([numbers(r, f"{GIA} error by steps") for r in runs], axis=0)
    return ", ".join(
        f"{error:{digits}} after {int(place)}" for place, error in zip(places, errors, strict=True)
    )


def _errors(records: Sequence[Record]) -> Plot:
    names = (ESA, "equality-solving-clipped", GIA, GIA_KL, "uniform", "half")
    return bars(
        "Errors on logistic regression", records, ("dataset", "share"), names, "mean squared error"
    )


@cells_check(
    "J03",
    rule=(
        "Per set, the error of inversion with squared distance rises from the smallest to the largest share, and at the "
        "largest it is at least half of the uniform guess's."
    ),
    standard="four sets, 20, 50 and 90 % of the columns",
    runs=pool,
    draw=_errors,
)
def j03(records: Sequence[Record]) -> Judgement:
    """Judge whether more unknown columns are harder."""
    cells, words = {}, []
    for (dataset,), group in grouped(records, "dataset").items():
        by = {share: runs for (share,), runs in sorted(grouped(group, "share").items())}
        ordered = list(by.values())
        first, last = ordered[0], ordered[-1]
        rises = mean(last, GIA) > mean(first, GIA)
        cells[SHORT[dataset]] = rises and mean(last, GIA) >= 0.5 * mean(last, "uniform")
        words.append(
            f"{SHORT[dataset]} "
            + " ".join(f"{mean(runs, GIA):.3f}" for runs in by.values())
            + f" (uniform {mean(last, 'uniform'):.3f}, half {mean(last, 'half'):.3f})"
        )
    return by_cells(
        cells,
        "Errors along the share: " + "; ".join(words) + ".",
        f"After {steps_of(records)}. " + beside(records, ("dataset", "share")),
    )


def _j04_runs(profile: str) -> list[Scenario]:
    wide = grid(
        {**base(profile, [ESA, GIA], references=ALONE), "share": 0.9, "measures": ["by-steps"]},
        dataset=(SATELLITE, DRIVE),
        seed=seeds(profile),
    )
    return [*pool(profile), *wide]


@cells_check(
    "J04",
    rule=(
        "Inversion's error is below raw equality solving's in every cell of set and share, and at 90 % of the columns of "
        "drive and satellite (two cells of their own) equality solving's is at least twice as large."
    ),
    standard="four sets, 20, 50 and 90 % of the columns",
    runs=_j04_runs,
)
def j04(records: Sequence[Record]) -> Judgement:
    """Judge inversion against equality solving, and show what makes the difference."""
    plain = [r for r in records if "equality-solving-clipped" in r.measurements]
    cells, words, clipped = {}, [], 0
    for (dataset, share), runs in grouped(plain, "dataset", "share").items():
        raw, cut, found = (mean(runs, n) for n in (ESA, "equality-solving-clipped", GIA))
        cells[f"{SHORT[dataset]} {share:g}"] = found < raw
        clipped += found < cut
        if share == 0.9 and dataset in (SATELLITE, DRIVE):
            cells[f"{SHORT[dataset]} twice"] = raw >= 2 * found
            words.append(
                f"{SHORT[dataset]} at 0.9: solving {raw:.3f}, clipped {cut:.3f}, inversion {found:.3f}"
            )
    count = len({(scenario_of(r).dataset, scenario_of(r).share) for r in plain})
    trails = []
    for (dataset,), runs in grouped([r for r in records if r not in plain], "dataset").items():
        trails.append(f"{SHORT[dataset]} {_trail(runs, '.3f')}")
    return by_cells(
        cells,
        "; ".join(words) + f". Below clipped equality solving in {clipped} of {count}.",
        "Inversion's error by steps at 90 %: "
        + "; ".join(trails)
        + ". Plain descent from zero ends at equality solving's answer and Adam at another solution "
        "(a test shows both): which of them is nearer to the truth is what the errors say.",
    )


@cells_check(
    "J05",
    rule=(
        "Little difference means that the errors with squared and with Kullback-Leibler distance differ by less than a "
        "tenth of the uniform guess's error, cell by cell of set and share."
    ),
    standard="four sets, 20, 50 and 90 % of the columns",
    runs=pool,
    draw=_errors,
)
def j05(records: Sequence[Record]) -> Judgement:
    """Judge whether the distance matters."""
    gaps = {
        f"{SHORT[dataset]} {share:g}": abs(mean(runs, GIA) - mean(runs, GIA_KL))
        / mean(runs, "uniform")
        for (dataset, share), runs in grouped(records, "dataset", "share").items()
    }
    return by_cells(
        {name: gap < 0.1 for name, gap in gaps.items()},
        f"The largest gap is {max(gaps.values()):.2f} of the uniform guess's error.",
    )


@cells_check(
    "J06",
    rule="Inversion's attack accuracy is not below raw equality solving's by more than 0.01, cell by cell.",
    standard="four sets, 20, 50 and 90 % of the columns",
    runs=pool,
)
def j06(records: Sequence[Record]) -> Judgement:
    """Judge attack accuracy."""
    cells, words = {}, []
    for (dataset, share), runs in grouped(records, "dataset", "share").items():
        ours, theirs = mean(runs, f"{GIA} accuracy"), mean(runs, f"{ESA} accuracy")
        cells[f"{SHORT[dataset]} {share:g}"] = ours >= theirs - 0.01
        words.append(
            f"{SHORT[dataset]} {share:g} {ours:.2f}/{theirs:.2f}/{mean(runs, 'half accuracy'):.2f}"
        )
    return by_cells(
        cells, "Attack accuracy of inversion, solving and one half: " + ", ".join(words) + "."
    )


def _j07_runs(profile: str) -> list[Scenario]:
    fields = {**base(profile, [GIA]), "share": 0.3, "measures": ["by-column", "correlations"]}
    return grid(fields, dataset=(BANK, DRIVE), seed=seeds(profile))


@cells_check(
    "J07",
    rule=(
        "Over the passive columns of a run, the rank correlation of a column's mean correlation with own columns (Eq 25) "
        "and inversion's error on it is below -0.3, on average over seeds; a cell is a set."
    ),
    standard="bank and drive, 30 % of the columns",
    runs=_j07_runs,
)
def j07(records: Sequence[Record]) -> Judgement:
    """Judge whether correlated columns are recovered better."""
    from scipy.stats import spearmanr

    cells, words = {}, []
    for (dataset,), runs in grouped(records, "dataset").items():
        ranks = [
            [
                float(np.nan_to_num(spearmanr(first, numbers(r, f"{GIA} by column")).statistic))
                for r in runs
                for first in [numbers(r, name)]
            ]
            for name in ("own correlation by column", "variance by column")
        ]
        correlated, spread = (float(np.mean(found)) for found in ranks)
        cells[SHORT[dataset]] = correlated < -0.3
        words.append(
            f"{SHORT[dataset]} {correlated:.2f} (with the column's variance instead: {spread:.2f})"
        )
    return by_cells(
        cells,
        "Rank correlation: " + ", ".join(words) + ".",
        f"After {steps_of(records)}. " + beside(records, ("dataset",)),
    )
