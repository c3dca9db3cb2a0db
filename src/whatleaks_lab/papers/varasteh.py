"""Varasteh: inference without the target's score (A01 to A10); the schemes are beside this file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.grouping import value
from whatleaks.runs.record import Record
from whatleaks_lab.papers import varasteh_schemes  # noqa: F401 - registers A11 to A18
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement, Verdict, claim
from whatleaks_lab.papers.grouping import has, rate_of, share_of
from whatleaks_lab.papers.plot import Plot
from whatleaks_lab.papers.varasteh_setup import (
    ADULT,
    BANK,
    COLUMNS,
    GRID,
    PENDIGITS,
    SATELLITE,
    SHORT,
    SIZES,
    by_set,
    by_size,
    lines,
    mean,
    over_runs,
    studies,
    verdict,
    worst,
)
from whatleaks_lab.papers.varasteh_study import VarastehStudy

CLOSE = 0.5  # of half*'s gain over half
NOT_BETTER = 0.9  # of half's error: an attack that stays above has not shown much
MAIN = (BANK, ADULT, SATELLITE)
FOUR = (*MAIN, PENDIGITS)
ATTACKS = partial(studies, part="attacks")


def _tables(profile: str) -> list[VarastehStudy]:
    del profile
    return [VarastehStudy(dataset, "table") for dataset in COLUMNS]


@check(
    "A01",
    rule=(
        "A set is as stated if columns, classes and records are those of Table I after preparation. Holds if all "
        "five are, partly if some, fails if none."
    ),
    sizes=dict.fromkeys(SIZES, "all records of the five sets"),
    runs=_tables,
)
def a01(records: Sequence[Record]) -> Judgement:
    """Count the sets."""
    reported = claim("A01").reported
    told, same = [], 0
    for dataset, (record,) in by_set(records).items():
        found = [round(value(record, name)) for name in ("columns", "classes", "records")]
        same += found == list(reported[SHORT[dataset]])
        told.append(
            f"{SHORT[dataset]} {found[0]}, {found[1]}, {found[2]} (mean {value(record, 'mean'):.2f}, variance {value(record, 'variance'):.3f})"
        )
    return Judgement(
        verdict(same, len(told)),
        f"columns, classes, records: {'; '.join(told)}",
        value=rate_of(same, len(told)),
    )


@check(
    "A02",
    rule=(
        "Holds if in every run (a set, a size and a seed; averaged over windows) the error of half* with exact "
        "scores is at most that of half; else fails."
    ),
    sizes=SIZES,
    runs=partial(ATTACKS, datasets=COLUMNS),
    draw=lambda records: lines(records, ("half-star", "half"), "half* against half"),
)
def a02(records: Sequence[Record]) -> Judgement:
    """Judge half* against half."""
    ratios = [value(r, "half-star") / value(r, "half") for r in records]
    below = sum(ratio <= 1.0 for ratio in ratios)
    beside = _beside(records, {"with others' scores (control)": "control", "the limit": "limit"})
    return Judgement(
        Verdict.HOLDS if below == len(ratios) else Verdict.FAILS,
        f"at most half's error in {share_of(below, len(ratios), 'runs')}; the ratio runs from "
        f"{min(ratios):.2f} to {max(ratios):.2f}",
        value=rate_of(below, len(ratios)),
        note="For values inside the range this is a theorem: half* is a projection of one half."
        + beside,
    )


def _beside(records: Sequence[Record], names: Mapping[str, str]) -> str:
    """Say what other guesses miss by, over half's error, set by set; nothing where no run has them."""
    told = []
    for title, name in names.items():
        shares = {
            SHORT[dataset]: mean(runs, name) / mean(runs, "half")
            for dataset, runs in by_set(records).items()
            if all(has(r, name) for r in runs)
        }
        if shares:
            told.append(f"{title} {_said(shares)}")
    return f" Errors over half's: {'; '.join(told)}." if told else ""


def _kept(runs: Sequence[Record], name: str) -> float:
    half = mean(runs, "half")
    return (half - mean(runs, name)) / (half - mean(runs, "half-star"))


def _agnostic_plot(records: Sequence[Record]) -> Plot:
    names = ("half-star", "agnostic", "refined-100", "weighted", "half")
    return lines(records, names, "Without the target's score")


@check(
    "A03",
    rule=(
        "Close means that, averaged over sizes, windows and seeds, the agnostic attack gains at least half of what "
        "half* gains over half: (half - agnostic) / (half - half*) >= 0.5. Holds if close on all three sets, partly "
        "if on some, fails if on none."
    ),
    sizes=SIZES,
    runs=partial(ATTACKS, datasets=MAIN),
    draw=_agnostic_plot,
)
def a03(records: Sequence[Record]) -> Judgement:
    """Judge how close the adversary model comes to half*."""
    sets = by_set(records)
    gained = {SHORT[name]: _kept(runs, "agnostic") for name, runs in sets.items()}
    weighed = {SHORT[name]: _kept(runs, "weighted") for name, runs in sets.items()}
    close = sum(share >= CLOSE for share in gained.values())
    worse = {
        f"{SHORT[name]} at {size} columns": mean(some, "amplified")
        for name, runs in sets.items()
        for size, some in by_size(runs).items()
        if mean(some, "agnostic") > mean(some, "half")
    }
    note = (
        f"Trusting estimates only as far as they are plausible keeps {_said(weighed)} (no fresh test: the bound of that "
        "attack was chosen on seeds 0 and 1, after a look at seed 10)."
    )
    if worse:
        note += (
            " Worse than one half: "
            + "; there the second term of Eq 21, measured, is ".join(
                [", ".join(worse), ", ".join(f"{term:.3f}" for term in worse.values())]
            )
            + "."
        )
    note += _beside(
        records,
        {
            "half*": "half-star",
            "agnostic": "agnostic",
            "the limit without scores": "limit without scores",
        },
    )
    return Judgement(
        verdict(close, len(gained)),
        f"share of half*'s gain that is kept without the score: {_said(gained)}",
        value=over_runs(
            [1.0 - value(r, "agnostic") / value(r, "half") for r in records], "gain over half"
        ),
        note=note,
    )


def _said(numbers: dict[str, float]) -> str:
    return ", ".join(f"{name} {number:.2f}" for name, number in numbers.items())


def _ratio(runs: Sequence[Record], name: str, other: str = "agnostic") -> float:
    return mean(runs, name) / mean(runs, other)


def _run_by_run(runs: Sequence[Record], name: str, other: str = "agnostic") -> Measurement | None:
    return over_runs([value(r, name) / value(r, other) for r in runs], "ratio")


@check(
    "A04",
    rule=(
        "On a set refining helps if the mean error with 100 scores is below that without, over all sizes; most for few "
        "columns if the ratio of the two is lowest at the smallest size. Eight statements on four sets: holds if all "
        "are true, fails if fewer than half are, else partly."
    ),
    sizes=SIZES,
    runs=partial(ATTACKS, datasets=FOUR),
    draw=_agnostic_plot,
)
def a04(records: Sequence[Record]) -> Judgement:
    """Judge refining with exact scores."""
    helps, most, told = 0, 0, {}
    for dataset, runs in by_set(records).items():
        told[SHORT[dataset]] = _ratio(runs, "refined-100")
        helps += told[SHORT[dataset]] < 1.0
        ratios = [_ratio(some, "refined-100") for some in by_size(runs).values()]
        most += ratios[0] < 1.0 and ratios[0] == min(ratios)
    true, asked = helps + most, 2 * len(told)
    return Judgement(
        Verdict.HOLDS if true == asked else Verdict.FAILS if 2 * true < asked else Verdict.PARTLY,
        f"error with 100 scores over that with none: {_said(told)}; lowest at the fewest columns on {most} of {len(told)} sets",
        value=_run_by_run(records, "refined-100"),
    )


@check(
    "A05",
    rule=(
        "On satellite, over all sizes, windows and seeds: two statements, mean error with 100 scores below that with "
        "50, and that with 50 below that with none. Holds if both, partly if one, fails if neither."
    ),
    sizes=SIZES,
    runs=partial(ATTACKS, datasets=(SATELLITE,)),
)
def a05(records: Sequence[Record]) -> Judgement:
    """Judge more scores against fewer."""
    none, fifty, hundred = (mean(records, n) for n in ("agnostic", "refined-50", "refined-100"))
    return Judgement(
        verdict((hundred < fifty) + (fifty < none), 2),
        f"error with no score {none:.4f}, with 50 {fifty:.4f}, with 100 {hundred:.4f}",
        value=_run_by_run(records, "refined-100", "refined-50"),
    )


@check(
    "A06",
    rule=(
        "On a set classes help slightly if the mean error with 100 classes is below that with none, by less than 10 %. "
        "Holds if on all four sets, partly if on some, fails if on none."
    ),
    sizes=SIZES,
    runs=partial(ATTACKS, datasets=FOUR),
)
def a06(records: Sequence[Record]) -> Judgement:
    """Judge refining with classes alone."""
    told = {SHORT[name]: _ratio(runs, "labels-100") for name, runs in by_set(records).items()}
    slightly = sum(0.9 < ratio < 1.0 for ratio in told.values())
    more = ", ".join(f"{name} {ratio:.4f}" for name, ratio in told.items())
    return Judgement(
        verdict(slightly, len(told)),
        f"error with 100 classes over that with none: {more}",
        value=_run_by_run(records, "labels-100"),
    )


@check(
    "A07",
    rule=(
        "On pendigits, over all sizes: two statements, the unrefined model's mean error is at least 0.9 of half's, and "
        "the refined one's (100 scores) is below half's. Holds if both, partly if one, fails if neither."
    ),
    sizes=SIZES,
    runs=partial(ATTACKS, datasets=(PENDIGITS,)),
    draw=_agnostic_plot,
)
def a07(records: Sequence[Record]) -> Judgement:
    """Judge pendigits."""
    plain, better = _ratio(records, "agnostic", "half"), _ratio(records, "refined-100", "half")
    return Judgement(
        verdict((plain >= NOT_BETTER) + (better < 1.0), 2),
        f"error over half's: unrefined {plain:.2f}, refined {better:.2f}",
        value=_run_by_run(records, "refined-100", "half"),
    )


@check(
    "A08",
    rule="Holds if on grid, over all sizes, the agnostic attack's mean error is at least 0.9 of half's; else fails.",
    sizes=SIZES,
    runs=partial(ATTACKS, datasets=(GRID,)),
    draw=_agnostic_plot,
)
def a08(records: Sequence[Record]) -> Judgement:
    """Judge grid."""
    ratio = _ratio(records, "agnostic", "half")
    return Judgement(
        Verdict.HOLDS if ratio >= NOT_BETTER else Verdict.FAILS,
        f"agnostic error over half's {ratio:.2f}; half*'s over half's {_ratio(records, 'half-star', 'half'):.2f}",
        value=_run_by_run(records, "agnostic", "half"),
    )


@check(
    "A09",
    rule=(
        "Two statements: on all five sets the adversary model's mean accuracy is higher with the most active columns than "
        "with the fewest; and over the sets the rank correlation between what joining adds to accuracy (mean over sizes) "
        "and the leak 1 - agnostic / half is negative. Holds if both, partly if one, fails if neither."
    ),
    sizes=SIZES,
    runs=partial(ATTACKS, datasets=COLUMNS),
)
def a09(records: Sequence[Record]) -> Judgement:
    """Judge accuracy and leak against the number of active columns."""
    rises, gains, leaks = 0, {}, {}
    for dataset, runs in by_set(records).items():
        accuracies = [mean(some, "accuracy alone") for some in by_size(runs).values()]
        rises += accuracies[0] > accuracies[-1]
        gains[SHORT[dataset]] = mean(runs, "accuracy") - mean(runs, "accuracy alone")
        leaks[SHORT[dataset]] = 1.0 - _ratio(runs, "agnostic", "half")
    first, second = (np.argsort(np.argsort(list(some.values()))) for some in (gains, leaks))
    relation = float(np.corrcoef(first, second)[0, 1])
    return Judgement(
        verdict((rises == len(gains)) + (relation < 0.0), 2),
        f"accuracy rises on {rises} of {len(gains)} sets; joining adds {_said(gains)}; leak {_said(leaks)}; rank correlation {relation:.2f}",
        note="Five sets: a rank correlation of five points is weak evidence either way.",
    )


@check(
    "A10",
    rule="Holds if Eqs 13 (where d < k) and 21 equal the empirical unclamped errors to 1e-9 in every window; else fails.",
    sizes=SIZES,
    runs=partial(ATTACKS, datasets=COLUMNS),
)
def a10(records: Sequence[Record]) -> Judgement:
    """Compare closed forms with errors."""
    off = worst(records, "closed form off")
    return Judgement(
        Verdict.HOLDS if off <= 1e-9 else Verdict.FAILS,
        f"the largest difference is {off:.1e}",
        note="Differences are relative where the error exceeds one.",
    )
