"""Jiang et al., section 5.3: without the partner's model (J12 to J15)."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.models.shadow import enough_records
from whatleaks.runs.grouping import grouped
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers.claim import Judgement
from whatleaks_lab.papers.grouping import grid, has
from whatleaks_lab.papers.jiang_setup import (
    BANK,
    COLUMNS,
    DRIVE,
    GIA,
    OUTPUTS,
    REGRESSION,
    ROBOT,
    SATELLITE,
    SHADOW,
    SHORT,
    WEIGHED,
    base,
    beside,
    by_cells,
    cells_check,
    mean,
    seeds,
)

PARTS = (0.1, 0.25, 0.5, 1.0)
OWN = "auxiliary-regression"  # the known people without any score
# What is had without a shadow; a regression on few people can be worse than their mean.
BARS = (OWN, REGRESSION, "auxiliary-mean", "half")
EVERY = [SHADOW, GIA, REGRESSION, WEIGHED]
FEWEST = 3  # known people that a regression can learn from: a tenth of tau may be less


def _known(dataset: str, hidden: tuple[int, ...], part: float) -> int:
    """Return so much of tau at r = 1, as the paper takes it (Eqs 21, 22)."""
    return max(FEWEST, round(part * enough_records(COLUMNS[dataset], hidden, OUTPUTS[dataset])))


def _by_number(
    profile: str, sets: Sequence[str], model: str, hidden: tuple[int, ...]
) -> list[Scenario]:
    # One adversary with both: white box beside black box on the same records.
    fields = {**base(profile, EVERY), "model": model, "share": 0.5, "threat": "white-box-known"}
    return [
        run
        for dataset in sets
        for run in grid(
            {**fields, "dataset": dataset},
            known=[_known(dataset, hidden, part) for part in PARTS],
            seed=seeds(profile),
        )
    ]


def _bar(records: Sequence[Record]) -> str:
    """Say what the same people give without a shadow."""
    found = []
    for (dataset, known), runs in grouped(records, "dataset", "known").items():
        numbers = "/".join(
            f"{mean(runs, n):.3f}" if all(has(r, n) for r in runs) else "refused"
            for n in (SHADOW, GIA, OWN, REGRESSION, WEIGHED)
        )
        found.append(f"{SHORT[dataset]} {known}: {numbers}")
    return (
        "Errors of the shadow, the white box, regression on own columns, with scores, and all weighed, by known people: "
        + "; ".join(found)
        + "."
    )


def _judged(records: Sequence[Record], hidden: tuple[int, ...]) -> Judgement:
    cells = {}
    for (dataset,), group in grouped(records, "dataset").items():
        by = {known: runs for (known,), runs in sorted(grouped(group, "known").items())}
        errors = {known: mean(runs, SHADOW) for known, runs in by.items()}
        few, enough = min(by), _known(dataset, hidden, 1.0)
        quarter = _known(dataset, hidden, 0.25)
        name = SHORT[dataset]
        cells[f"{name} falls"] = errors[enough] < errors[few]
        cells[f"{name} tau"] = errors[enough] <= 1.1 * mean(by[enough], GIA)
        cells[f"{name} quarter"] = errors[quarter] <= 1.25 * mean(by[quarter], GIA)
    return by_cells(
        cells,
        _bar(records),
        _without_a_shadow(records) + beside(records, ("dataset", "known"), WEIGHED),
    )


def _without_a_shadow(records: Sequence[Record]) -> str:
    """Say where the shadow beats the least error that is had without it."""
    groups = list(grouped(records, "dataset", "known").values())
    answered = [runs for runs in groups if all(has(r, WEIGHED) for r in runs)]
    ours, weighed = _below(groups, SHADOW), _below(answered, WEIGHED)
    return (
        f"In {ours} of {len(groups)} cases the shadow has a lower error than all of these: the two regressions on the "
        "same people, their mean, and one half. Elsewhere it has shown nothing about scores. All weighed is lower than "
        f"these in {weighed} of the {len(answered)} cases that it answers. "
    )


def _below(groups: Sequence[Sequence[Record]], attack: str) -> int:
    """Count the cases in which an attack's mean error is below that of every bar."""
    return sum(mean(runs, attack) < min(mean(runs, n) for n in BARS) for runs in groups)


RULE = (
    "Per set: the shadow's error is lower with tau records than with the fewest (a cell); with tau it is at most 1.1 times "
    "the white box's (a cell); with a quarter of tau at most 1.25 times (a cell)."
)


@cells_check(
    "J12",
    rule=RULE,
    standard="bank and robot, 50 % of the columns, 0.1 to 1 times tau known people, at least 3",
    runs=lambda profile: _by_number(profile, (BANK, ROBOT), "lr", ()),
)
def j12(records: Sequence[Record]) -> Judgement:
    """Judge shadows of logistic regression."""
    return _judged(records, ())


@cells_check(
    "J13",
    rule=RULE,
    standard="satellite and drive, 50 % of the columns, 0.1 to 1 times tau known people",
    runs=lambda profile: _by_number(profile, (SATELLITE, DRIVE), "network", (8, 8)),
)
def j13(records: Sequence[Record]) -> Judgement:
    """Judge shadows of networks."""
    return _judged(records, (8, 8))


def _j14_runs(profile: str) -> list[Scenario]:
    fields = {**base(profile, [SHADOW]), "share": 0.5, "threat": "black-box-known"}
    return [
        run
        for dataset in (BANK, ROBOT)
        for run in grid(
            {**fields, "dataset": dataset, "known": _known(dataset, (), 1.0)},
            known_from=("", "uniform", "gaussian", "laplace"),
            seed=seeds(profile),
        )
    ]


@cells_check(
    "J14",
    rule=(
        "Per set and distribution: the shadow's attack accuracy is not above that with real people by more than 0.01 (a "
        "cell), and above the uniform guess's (a cell)."
    ),
    standard="bank and robot, 50 % of the columns, tau known people",
    runs=_j14_runs,
)
def j14(records: Sequence[Record]) -> Judgement:
    """Judge people who are made up."""
    cells, words = {}, []
    for (dataset,), group in grouped(records, "dataset").items():
        by = {source: runs for (source,), runs in grouped(group, "known_from").items()}
        real = mean(by[""], f"{SHADOW} accuracy")
        for source in sorted(set(by) - {""}):
            found = mean(by[source], f"{SHADOW} accuracy")
            guess = mean(by[source], "uniform accuracy")
            cells[f"{SHORT[dataset]} {source} lower"] = found <= real + 0.01
            cells[f"{SHORT[dataset]} {source} above guess"] = found > guess
            words.append(
                f"{SHORT[dataset]} {source} {found:.2f} (real {real:.2f}, uniform guess {guess:.2f})"
            )
    return by_cells(
        cells,
        "Attack accuracy: " + ", ".join(words) + ".",
        "Where no distribution is named, people are real. "
        + beside(records, ("dataset", "known_from"), SHADOW),
    )


STRUCTURES = ("8-8", "linear", "8", "8-8-8")


def _j15_runs(profile: str) -> list[Scenario]:
    fields = {
        **base(profile, [SHADOW]),
        "model": "network",
        "share": 0.5,
        "threat": "black-box-known",
    }
    return [
        run
        for dataset in (ROBOT, SATELLITE)
        for run in grid(
            {**fields, "dataset": dataset, "known": _known(dataset, (8, 8), 1.0)},
            attack_options__structure=STRUCTURES,
            seed=seeds(profile),
        )
    ]


@cells_check(
    "J15",
    rule=(
        "Per set, of four shadows (linear; one, two, three hidden layers of 8; two is the truth): linear has the largest "
        "error (a cell), two layers the smallest (a cell), three more than two (a cell)."
    ),
    standard="robot and satellite, 50 % of the columns, tau known people",
    runs=_j15_runs,
)
def j15(records: Sequence[Record]) -> Judgement:
    """Judge the shadow's structure."""
    cells, words = {}, []
    for (dataset,), group in grouped(records, "dataset").items():
        errors = {
            s: mean(runs, SHADOW)
            for (s,), runs in grouped(group, "attack_options.structure").items()
        }
        cells[f"{SHORT[dataset]} linear worst"] = errors["linear"] == max(errors.values())
        cells[f"{SHORT[dataset]} same best"] = errors["8-8"] == min(errors.values())
        cells[f"{SHORT[dataset]} deeper worse"] = errors["8-8-8"] > errors["8-8"]
        words.append(f"{SHORT[dataset]} " + ", ".join(f"{s} {e:.3f}" for s, e in errors.items()))
    return by_cells(
        cells,
        "Errors: " + "; ".join(words) + ".",
        beside(records, ("dataset", "attack_options.structure"), SHADOW),
    )
