"""Yao et al.: what detectors notice (Y06, Y07, Y08, Y17)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.grouping import scenario_of
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement, Verdict
from whatleaks_lab.papers.comparison import OPEN_IS_NOT_FAILED, weighed, weighed_words
from whatleaks_lab.papers.grouping import rate_of
from whatleaks_lab.papers.plot import Bar, BarPlot, Plot, ScorePlot
from whatleaks_lab.papers.yao_setup import (
    BREAKING,
    CREDIT,
    FIRST_SEED,
    IOT,
    OURS,
    SHORT,
    hijacked,
    honest,
    pictures,
    table,
)

HONEST = "honest"
SPLITGUARD, SCRUTINIZER, NORMS = "splitguard", "gradient-scrutinizer", "norm-comparison"
WATCHED_STEPS = {"fast": 200, "standard": 400, "full": 10000}
COUNTS = {"fast": 1, "standard": 4, "full": 10}
MORE_COUNTS = {"fast": 1, "standard": 6, "full": 10}
CAUGHT = ("agn", "fsha")
HALF_RULE = "A rate is shown to be high if its whole Wilson interval lies above one half, low if it lies below. "


def role_of(record: Record) -> str:
    """Name who played the active party."""
    return "+".join(scenario_of(record).attacks) or HONEST


def _roles(
    base: dict[str, Any], roles: Iterable[str], detector: str, chosen: Iterable[int]
) -> list[Scenario]:
    watched = {**base, "detector": detector}
    seeds = tuple(chosen)
    return [
        run
        for role in roles
        for run in (
            honest(watched, seed=seeds) if role == HONEST else hijacked(watched, role, seed=seeds)
        )
    ]


def _tables(profile: str, steps: int) -> list[dict[str, Any]]:
    sets = (CREDIT,) if profile == "fast" else (CREDIT, IOT)
    return [{**table(profile, one), "model_options": {"steps": steps}} for one in sets]


def halts(records: Sequence[Record], **wanted: str) -> Measurement:
    """Return the share of halted trainings with Wilson's interval."""
    found = [
        r
        for r in records
        if all(
            {"role": role_of(r), "detector": scenario_of(r).detector}[key] == value
            for key, value in wanted.items()
        )
    ]
    return rate_of(sum(bool(r.measurements["halted"]) for r in found), len(found))


def told_rate(rate: Measurement) -> str:
    """Write a rate as so many of so many."""
    return f"{round(rate.value * rate.n)} of {rate.n}"


def _y06_runs(profile: str) -> list[Scenario]:
    chosen = range(FIRST_SEED, FIRST_SEED + COUNTS[profile])
    return [
        run
        for base in _tables(profile, WATCHED_STEPS[profile])
        for detector in (SPLITGUARD, SCRUTINIZER)
        for run in _roles(base, (HONEST, *BREAKING), detector, chosen)
    ]


def _score_plot(records: Sequence[Record]) -> Plot | None:
    curves = []
    for record in records:
        scenario, scores = scenario_of(record), record.measurements.get("detector scores")
        mine = scenario.seed == FIRST_SEED and scenario.detector == SPLITGUARD
        if mine and isinstance(scores, list) and scores:
            label = f"{SHORT[scenario.dataset]}, {role_of(record)}"
            curves.append((label, tuple(scores), bool(record.measurements["halted"])))
    title = f"SplitGuard's scores, seed {FIRST_SEED}"
    return ScorePlot(title, tuple(curves), 0.9) if curves else None


DETECTOR_SIZES = {
    "fast": "breast cancer, 200 steps, 1 seed",
    "standard": "6,000 rows of Credit and of RT-IoT2022, 400 steps, 4 seeds each",
    "full": "both sets whole, 10,000 steps, 10 seeds each",
}


@check(
    "Y06",
    rule=(
        "Credit and RT-IoT2022, both detectors with the paper's thresholds. Statements, for each of SplitGuard and "
        "Gradient Scrutinizer: AGN and FSHA are halted (rate high), honest training, URVFL and its synchronous "
        "variant are not (rate low): ten in all. "
        + HALF_RULE
        + "Holds if all are shown."
        + OPEN_IS_NOT_FAILED
    ),
    sizes=DETECTOR_SIZES,
    runs=_y06_runs,
    draw=_score_plot,
)
def y06(records: Sequence[Record]) -> Judgement:
    """Judge detection beside false alarms."""
    shown, leaning, words = [], [], []
    for detector in (SPLITGUARD, SCRUTINIZER):
        said = []
        for role in (HONEST, *BREAKING):
            rate = halts(records, role=role, detector=detector)
            high = role in CAUGHT
            shown.append(rate.low > 0.5 if high else rate.high < 0.5)
            leaning.append(rate.value > 0.5 if high else rate.value < 0.5)
            said.append(f"{role} {told_rate(rate)}")
        words.append(f"{detector} halts {', '.join(said)}")
    false = halts(records, role=HONEST, detector=SPLITGUARD)
    return Judgement(
        weighed(shown, leaning),
        "; ".join(words),
        value=false,
        note=weighed_words(shown, leaning)
        + f" The value is SplitGuard's false-halt rate; Gradient Scrutinizer's is "
        f"{told_rate(halts(records, role=HONEST, detector=SCRUTINIZER))}. {_by_set(records)}",
    )


def _by_set(records: Sequence[Record]) -> str:
    """Tell the false halts set by set: the detectors see few classes or many."""
    said = []
    for dataset in sorted({scenario_of(r).dataset for r in records}):
        mine = [r for r in records if scenario_of(r).dataset == dataset]
        for detector in (SPLITGUARD, SCRUTINIZER):
            rates = ", ".join(
                f"{role} {told_rate(halts(mine, role=role, detector=detector))}"
                for role in (HONEST, *BREAKING)
            )
            said.append(f"{SHORT[dataset]}, {detector}: {rates}")
    return "; ".join(said) + "."


def _y07_runs(profile: str) -> list[Scenario]:
    return [
        run
        for run in _y06_runs(profile)
        if run.detector == SCRUTINIZER
        and run.attacks in ((), ("agn",), ("fsha",))
        and run.dataset != IOT
    ]


@check(
    "Y07",
    rule=(
        "Gradient Scrutinizer on Credit. Its worth is the share of AGN's and FSHA's trainings that it halts less the "
        "share of honest ones. Holds if this is below one half, fails if not."
    ),
    sizes={**DETECTOR_SIZES, "standard": "6,000 rows of Credit, 400 steps, 4 seeds"},
    runs=_y07_runs,
)
def y07(records: Sequence[Record]) -> Judgement:
    """Judge whether it tells hijacks from honest training there."""
    attacked = [r for r in records if role_of(r) != HONEST]
    caught = rate_of(sum(bool(r.measurements["halted"]) for r in attacked), len(attacked))
    false = halts(records, role=HONEST, detector=SCRUTINIZER)
    worth = caught.value - false.value
    return Judgement(
        Verdict.HOLDS if worth < 0.5 else Verdict.FAILS,
        f"it halts AGN and FSHA in {told_rate(caught)} trainings, honest training in {told_rate(false)}",
        value=false,
        note="The paper leaves it out on Credit; here it is given the labels that a passive party does not have.",
    )


def _y08_runs(profile: str) -> list[Scenario]:
    base = pictures(profile)
    options = {
        **base["model_options"],
        "steps": {"fast": 40, "standard": 300, "full": 8500}[profile],
    }
    base = {**base, "model_options": options}
    chosen = range(FIRST_SEED, FIRST_SEED + MORE_COUNTS[profile])
    both = {**base, "attack_options": {"classification": 1.0}}
    return _roles(base, (HONEST,), SPLITGUARD, chosen) + _roles(both, CAUGHT, SPLITGUARD, chosen)


@check(
    "Y08",
    rule=(
        "MNIST, SplitGuard watching, the honest loss added with weight 1 (as the paper's text says; its code has "
        "0.001). Statements: AGN and FSHA are still halted (rate high). "
        + HALF_RULE
        + "Holds if both are shown."
        + OPEN_IS_NOT_FAILED
    ),
    sizes={
        "fast": "220 pictures, 40 steps, 1 seed",
        "standard": "3,300 pictures, 300 steps, 6 seeds",
        "full": "all pictures, 8,500 steps, 10 seeds",
    },
    runs=_y08_runs,
)
def y08(records: Sequence[Record]) -> Judgement:
    """Judge whether hiding behind the label helps."""
    rates = {role: halts(records, role=role, detector=SPLITGUARD) for role in CAUGHT}
    shown, leaning = [r.low > 0.5 for r in rates.values()], [r.value > 0.5 for r in rates.values()]
    false = halts(records, role=HONEST, detector=SPLITGUARD)
    return Judgement(
        weighed(shown, leaning),
        "halted with the loss added: "
        + ", ".join(f"{role} {told_rate(rate)}" for role, rate in rates.items())
        + f"; honest training {told_rate(false)}",
        value=rates["fsha"],
        note=weighed_words(shown, leaning),
    )


def _y17_runs(profile: str) -> list[Scenario]:
    chosen = range(FIRST_SEED, FIRST_SEED + MORE_COUNTS[profile])
    runs = [
        run
        for base in _tables(profile, {"fast": 40, "standard": 150, "full": 1000}[profile])
        for run in _roles(base, (HONEST, *OURS), NORMS, chosen)
    ]
    if profile != "fast":
        return runs
    return grid_with(runs, {"rehearsals": 3, "watched": 20, "window": 10})


def grid_with(runs: Sequence[Scenario], options: dict[str, Any]) -> list[Scenario]:
    """Return runs with settings of their detector."""
    return [replace(run, detector_options=Settings(options)) for run in runs]


@check(
    "Y17",
    rule=(
        "A passive party that rehearses honest training 19 times for 100 steps on public records and compares lengths "
        "of gradients, on Credit and RT-IoT2022. Statements: URVFL and its synchronous variant are halted (rate high), "
        "honest training is not (rate low). "
        + HALF_RULE
        + "Holds if all three are shown."
        + OPEN_IS_NOT_FAILED
    ),
    sizes={
        "fast": "breast cancer, 40 steps, 3 rehearsals of 20 steps, 1 seed",
        "standard": "6,000 rows each, 150 steps, 6 seeds each",
        "full": "both sets whole, 1,000 steps, 10 seeds each",
    },
    runs=_y17_runs,
    draw=lambda records: BarPlot(
        "Trainings halted by the lengths of gradients",
        "share halted",
        tuple(Bar(role, halts(records, role=role, detector=NORMS)) for role in (HONEST, *OURS)),
    ),
)
def y17(records: Sequence[Record]) -> Judgement:
    """Judge the paper's own suggestion."""
    rates = {role: halts(records, role=role, detector=NORMS) for role in (HONEST, *OURS)}
    high = {role: role != HONEST for role in rates}
    shown = [r.low > 0.5 if high[role] else r.high < 0.5 for role, r in rates.items()]
    leaning = [r.value > 0.5 if high[role] else r.value < 0.5 for role, r in rates.items()]
    return Judgement(
        weighed(shown, leaning),
        "halted: " + ", ".join(f"{role} {told_rate(rate)}" for role, rate in rates.items()),
        value=rates[HONEST],
        note=weighed_words(shown, leaning)
        + " Nominal false-halt rate 1 in 20. The rehearsal knows the active party's networks and rates and has "
        "public records with labels: more than most passive parties have.",
    )
