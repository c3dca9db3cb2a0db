"""Luo et al., section VII: rounding, dropout, the check before, the gate after (U13 to U16)."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.metrics.intervals import clipped
from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.grouping import grouped, over_seeds, scenario_of, value
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement, Verdict
from whatleaks_lab.papers.comparison import above, averaged, paired, ratio, told, weighed
from whatleaks_lab.papers.grouping import grid, has, share_of
from whatleaks_lab.papers.luo_generative import network
from whatleaks_lab.papers.luo_setup import (
    BANK,
    BRIEF_MODEL,
    CREDIT,
    DRIVE,
    GRN,
    LIMITS,
    SHARES,
    SHORT,
    TARGETS,
    ZERO,
    brief,
    by_defense,
    grn_on_lr,
    guesses_of,
    of_set,
    seeds,
)
from whatleaks_lab.papers.luo_solving import NAME
from whatleaks_lab.papers.plot import Bar, BarPlot, Plot


def _u13_runs(profile: str) -> list[Scenario]:
    defenses = ("", "rounding-1", "rounding-3") if profile == "full" else ("", "rounding-1")
    shares = SHARES if profile == "full" else (0.4,)
    return [
        run
        for dataset in (BANK, DRIVE)
        for run in grn_on_lr(profile, dataset, share=shares, seed=seeds(profile), defense=defenses)
    ]


def _u13_plot(records: Sequence[Record]) -> Plot:
    return by_defense("Generative regression on rounded scores", records, GRN)


@check(
    "U13",
    rule=(
        "Insensitive means that the geometric mean over runs of the error from rounded scores over that from exact ones lies "
        "between 0.9 and 1.1. Holds if so for every set and number of digits, fails if for fewer than half, else partly."
    ),
    sizes={
        "fast": "bank and drive, 40 % of the columns, 1 digit, 200 records, 1 seed, brief training",
        "standard": "bank and drive, 40 % of the columns, 1 digit, 500 records, 5 seeds",
        "full": "bank and drive, 10 to 60 % of the columns, 1 and 3 digits, half of the test records, 10 seeds",
    },
    runs=_u13_runs,
    draw=_u13_plot,
)
def u13(records: Sequence[Record]) -> Judgement:
    """Judge the attack on rounded scores."""
    found, half = {}, {}
    for (dataset,), group in grouped(records, "dataset").items():
        by = {defense: runs for (defense,), runs in grouped(group, "defense").items()}
        half[dataset] = ratio(by[""], GRN, by[""], "half")
        for defense in sorted(set(by) - {""}):
            found[dataset, defense] = ratio(by[defense], GRN, by[""])
    words = ", ".join(f"{SHORT[d]} {defense} {told(m)}" for (d, defense), m in found.items())
    same = [0.9 <= m.value <= 1.1 for m in found.values()]
    return Judgement(
        weighed(same, same),
        f"error over that from exact scores: {words}",
        note="From exact scores the error over one half's is "
        + ", ".join(f"{SHORT[d]} {told(m)}" for d, m in half.items())
        + ": an attack that gains nothing from scores is insensitive to them as well.",
    )


def _u14_runs(profile: str) -> list[Scenario]:
    shares = SHARES if profile == "full" else (0.4,)
    sets = (BANK,) if profile == "fast" else (BANK, CREDIT)
    return [
        run
        for dataset in sets
        for run in (*network(profile, dataset, shares), *network(profile, dataset, shares, (0.5,)))
    ]


def _dropped(record: Record) -> bool:
    return "dropout" in scenario_of(record).model_options


def _u14_plot(records: Sequence[Record]) -> Plot:
    bars = []
    for (dataset,), group in grouped(records, "dataset").items():
        plain = [r for r in group if not _dropped(r)]
        dropped = [r for r in group if _dropped(r)]
        bars.append(Bar(f"{SHORT[dataset]}, plain", over_seeds(plain, GRN)))
        bars.append(Bar(f"{SHORT[dataset]}, dropout 0.5", over_seeds(dropped, GRN)))
        bars += [
            Bar(f"{SHORT[dataset]}, {g}", over_seeds(plain, g), True) for g in guesses_of(plain)
        ]
    return BarPlot("Dropout in the joint network", "mean squared error", tuple(bars))


@check(
    "U14",
    rule=(
        "On a set dropout raises the error a little if the geometric mean over runs of the error with dropout over that "
        "without has its whole interval above 1 (one seed: the number) and is itself below 1.25. Holds if so on every "
        "set; fails if on no set the mean exceeds 1; else partly."
    ),
    sizes={
        "fast": "bank, 40 % of the columns, 200 records, 1 seed, brief training",
        "standard": "bank and credit, 40 % of the columns, dropout 0.5, 500 records, 5 seeds",
        "full": "bank and credit, 10 to 60 % of the columns, half of the test records, 10 seeds",
    },
    runs=_u14_runs,
    draw=_u14_plot,
)
def u14(records: Sequence[Record]) -> Judgement:
    """Judge dropout."""
    found, costs = {}, []
    for (dataset,), group in grouped(records, "dataset").items():
        plain = [r for r in group if not _dropped(r)]
        dropped = [r for r in group if _dropped(r)]
        found[dataset] = ratio(dropped, GRN, plain)
        costs.append(
            f"{SHORT[dataset]} {over_seeds(plain, 'accuracy').value:.3f} to "
            f"{over_seeds(dropped, 'accuracy').value:.3f}"
        )
    little = [above(m, 1.0) and m.value < 1.25 for m in found.values()]
    raised = [m.value > 1.0 for m in found.values()]
    verdict = Verdict.HOLDS if all(little) else Verdict.PARTLY if any(raised) else Verdict.FAILS
    words = ", ".join(f"{SHORT[d]} {told(m)}" for d, m in found.items())
    return Judgement(
        verdict,
        f"error with dropout over that without: {words}",
        note=f"Accuracy: {', '.join(costs)}.",
    )


FILTER = "correlation-max-0.7"


def _u15_runs(profile: str) -> list[Scenario]:
    return [
        run
        for dataset, share in ((CREDIT, 0.4), (DRIVE, 0.2))
        for filtering in ({"measures": [f"kept-{FILTER}"]}, {"defense": FILTER})
        for run in grid(
            {
                **of_set(dataset),
                "share": share,
                "attacks": [GRN, NAME],
                "targets": TARGETS[profile],
                **LIMITS,
                **brief(profile),
                **filtering,
            },
            seed=seeds(profile),
        )
    ]


def _split(records: Sequence[Record], defense: str) -> tuple[list[Record], list[Record]]:
    """Return the runs without and with a defense."""
    by = {found: runs for (found,), runs in grouped(records, "defense").items()}
    return by[""], by[defense]


def _filtered(records: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """Return the runs before and after the filter, those pairs in which it had something to do."""
    before, after = _split(records, FILTER)
    pairs = [pair for pair in paired(before, after) if has(pair[1], GRN)]
    return [first for first, _ in pairs], [second for _, second in pairs]


def _u15_plot(records: Sequence[Record]) -> Plot:
    bars = []
    for (dataset,), group in grouped(records, "dataset").items():
        before, after = _filtered(group)
        if not after:
            continue
        for label, runs, name in (
            ("all columns", before, GRN),
            ("kept ones, before", before, f"{GRN} kept"),
            ("kept ones, after", after, GRN),
        ):
            bars.append(Bar(f"{SHORT[dataset]}, {label}", over_seeds(runs, name)))
        bars.append(Bar(f"{SHORT[dataset]}, half after", over_seeds(after, "half"), True))
    return BarPlot("The check before collaboration", "mean squared error", tuple(bars))


def _solvable(record: Record) -> bool:
    """Say what the class check says: exact scores of a linear model give every value away."""
    return value(record, "unknown") <= value(record, "classes") - 1


@check(
    "U15",
    rule=(
        f"Two parts. Classes against columns: the check is right if it flags exactly the federations in which "
        f"equality solving's error is below {ZERO:g}, before and after the filter, in every run. Correlation filter "
        "(columns above 0.7 with any column of the partner are not contributed): on a set it raises the error if the "
        "geometric mean over seeds of generative regression's error after over before has its whole interval above 1 (one "
        "seed: the number); runs in which it leaves out no column or all are not counted. Holds if the first part is "
        "right and the filter raises the error on both sets; fails if the first is wrong and the filter raises it on "
        "none; else partly. What the filter does to the columns that stay is in the note."
    ),
    sizes={
        "fast": "credit at 40 %, drive at 20 % of the columns, 200 records, 1 seed, brief training",
        "standard": "credit at 40 %, drive at 20 % of the columns, 500 records, 5 seeds",
        "full": "the same shares, half of the test records, 10 seeds",
    },
    runs=_u15_runs,
    draw=_u15_plot,
)
def u15(records: Sequence[Record]) -> Judgement:
    """Judge the check before collaboration."""
    flags = [_solvable(r) == (value(r, NAME) < ZERO) for r in records if has(r, NAME)]
    raised: dict[str, Measurement] = {}
    stayed: dict[str, Measurement] = {}
    for (dataset,), group in grouped(records, "dataset").items():
        before, after = _filtered(group)
        if after:
            raised[dataset] = ratio(after, GRN, before)
            stayed[dataset] = ratio(after, GRN, before, f"{GRN} kept")
    sets = grouped(records, "dataset")
    up = [dataset for dataset, m in raised.items() if above(m, 1.0)]
    right = all(flags)
    verdict = (
        Verdict.HOLDS
        if right and len(up) == len(sets)
        else Verdict.PARTLY
        if right or up
        else Verdict.FAILS
    )
    words = ", ".join(f"{SHORT[d]} {told(m)}" for d, m in raised.items()) or "no set"
    same = ", ".join(f"{SHORT[d]} {told(m)}" for d, m in stayed.items())
    federations, _ = _split(records, FILTER)
    opened = sum(_solvable(b) and not _solvable(a) for a, b in paired(*_filtered(records)))
    return Judgement(
        verdict,
        f"the class check is right in {share_of(sum(flags), len(flags), 'cases')}; error after the filter over before: "
        f"{words}",
        note=f"On the columns that stay, the error after over before: {same or 'none'}. Near 1 means that the mean rises "
        f"only because easy columns are gone. The filter brought {opened} of {len(federations)} federations under the "
        "threshold of equality solving.",
    )


OTHERS = ("equality-solving-clipped", "half-star")
GATE = "gate-0.05"
GATED = {"defense": GATE, "defense_options": {"attack": NAME}}


def _u16_runs(profile: str) -> list[Scenario]:
    return [
        run
        for dataset in (BANK, CREDIT)
        for gate in ({}, GATED)
        for run in grid(
            {
                **of_set(dataset),
                "share": 0.4,
                "attacks": [NAME, *OTHERS],
                "targets": TARGETS[profile],
                "measures": ["below-0.05"],
                **(BRIEF_MODEL if profile == "fast" else {}),
                **gate,
            },
            seed=seeds(profile),
        )
    ]


def _u16_plot(records: Sequence[Record]) -> Plot:
    bars = []
    before, gated = _split(records, GATE)
    runs = [r for r in gated if has(r, NAME)]
    for name in (NAME, *OTHERS):
        bars.append(Bar(f"{name}, no gate", _mean(before, f"{name} below"), True))
        if runs:
            bars.append(Bar(f"{name}, gate", _mean(runs, f"{name} below")))
    bars.append(Bar("withheld", _mean(gated, "withheld"), True))
    return BarPlot("The release gate at 0.05", "share of records below", tuple(bars))


def _mean(records: Sequence[Record], name: str) -> Measurement:
    return clipped(averaged([value(r, name) for r in records], "share"), 0.0, 1.0)


@check(
    "U16",
    rule=(
        "The gate simulates equality solving and withholds scores from which its error per record is below 0.05. It "
        "works if it withholds some scores and releases some, and in no run a released record is below 0.05 for "
        "equality solving. It covers others if each of equality solving with clipping and half* is below 0.05 on at "
        "most 1 % of the released records on average. Holds if both, partly if only the first, else fails."
    ),
    sizes={
        "fast": "bank and credit, 40 % of the columns, 200 records, 1 seed, 300 training steps",
        "standard": "bank and credit, 40 % of the columns, 500 records, 5 seeds",
        "full": "bank and credit, 40 % of the columns, half of the test records, 10 seeds",
    },
    runs=_u16_runs,
    draw=_u16_plot,
)
def u16(records: Sequence[Record]) -> Judgement:
    """Judge the release gate."""
    _, gated = _split(records, GATE)
    runs = [r for r in gated if has(r, NAME)]
    withheld = _mean(gated, "withheld")
    caught = [value(r, f"{NAME} below") for r in runs]
    works = 0.0 < withheld.value < 1.0 and bool(runs) and max(caught) == 0.0
    others = {name: _mean(runs, f"{name} below") for name in OTHERS} if runs else {}
    covers = bool(others) and all(m.value <= 0.01 for m in others.values())
    verdict = Verdict.HOLDS if works and covers else Verdict.PARTLY if works else Verdict.FAILS
    words = ", ".join(f"{name} {m.value:.1%}" for name, m in others.items())
    return Judgement(
        verdict,
        f"withheld {withheld.value:.1%}; released records below the threshold: {NAME} "
        f"{max(caught, default=1.0):.1%} at most, {words} on average",
        value=withheld,
        note="The gate promises something about the attack that it simulates and nothing about another.",
    )
