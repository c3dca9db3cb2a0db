"""Jiang et al., section 6: what defenses cost and stop (J17 to J20).

Every number of a defense is that of the strongest of the attacks tried with it, some of which are
told what it is: inversion with the cut scores' likelihood or through the purifier, the average of
ten noisy answers, and the regression on known people, who are scored behind the same defense.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whatleaks.catalog import card
from whatleaks.runs.grouping import grouped, scenario_of
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario
from whatleaks_lab.papers.claim import Judgement
from whatleaks_lab.papers.grouping import grid
from whatleaks_lab.papers.jiang_setup import (
    ALONE,
    GIA,
    GIA_KL,
    SETS,
    SHORT,
    WEIGHED,
    base,
    beside,
    by_cells,
    cells_check,
    mean,
    seeds,
)

WHITE, BLACK = (GIA, GIA_KL), (WEIGHED,)  # with the partner's model, and without it
ATTACKS = [*WHITE, *BLACK]
MODELS = ("lr", "network")
SETTINGS = "four sets, logistic regression and networks, 50 % of the columns, 25 known people"
COSTLESS = 0.01  # of accuracy
MARKED = 0.1  # of attack accuracy


def _runs(profile: str, defenses: Sequence[str]) -> list[Scenario]:
    found = []
    sets = SETS[:2] if profile == "fast" else SETS
    for name in ("", *defenses):
        built: Any = card("defense", name).build() if name else None
        told = dict(getattr(built, "told", dict)())
        options = {key: value for key, value in told.items() if key in ("cut", "purifier")}
        # The limit and the control of what is not defended stand for all.
        references = ALONE if name else [*ALONE, "limit", "control"]
        fields = base(profile, ATTACKS, attack_options=options, references=references)
        fields |= {"share": 0.5, "threat": "white-box-known", "defense": name}
        asks = tuple(dict.fromkeys((1, getattr(built, "asked", 1))))
        found += grid(fields, dataset=sets, model=MODELS, asks=asks, seed=seeds(profile))
    return found


@dataclass(frozen=True)
class Found:
    """What a defense leaves of the model and of the attacks, as means over seeds."""

    accuracy: float
    white: float  # attack accuracy of the strongest attack that has the model
    black: float  # and of the one that has not
    plain: float  # and of inversion with squared distance
    error: float

    @property
    def leak(self) -> float:
        """The attack accuracy of the strongest attack."""
        return max(self.white, self.black)


Case = tuple[str, str]  # a set and a model


def tables(records: Sequence[Record]) -> dict[Case, dict[tuple[str, int], Found]]:
    """Return what was found, by set and model, then by defense and how often a record was asked."""

    def strongest(runs: Sequence[Record], attacks: Sequence[str]) -> float:
        return max(mean(runs, f"{attack} accuracy") for attack in attacks)

    return {
        case: {
            key: Found(
                mean(runs, "accuracy"),
                strongest(runs, WHITE),
                strongest(runs, BLACK),
                mean(runs, f"{GIA} accuracy"),
                min(mean(runs, attack) for attack in ATTACKS),
            )
            for key, runs in grouped(group, "defense", "asks").items()
        }
        for case, group in grouped(records, "dataset", "model").items()
    }


def _by_case(records: Sequence[Record]) -> list[tuple[str, dict[tuple[str, int], Found]]]:
    return [(f"{SHORT[name]} {model}", by) for (name, model), by in tables(records).items()]


def _words(records: Sequence[Record]) -> str:
    return (
        "Model accuracy / attack accuracy of the strongest attack / of inversion with squared distance / least error: "
        + "; ".join(
            f"{case} {defense or 'none'}{f' asked {asks} times' if asks > 1 else ''} "
            f"{found.accuracy:.2f}/{found.leak:.2f}/{found.plain:.2f}/{found.error:.3f}"
            for case, by in _by_case(records)
            for (defense, asks), found in by.items()
        )
        + "."
    )


def _judged(cells: Mapping[str, bool], records: Sequence[Record], note: str = "") -> Judgement:
    """Judge the cells; limit and control are those of what is not defended."""
    plain = [record for record in records if not scenario_of(record).defense]
    told = beside(plain, ("dataset", "model"), WEIGHED)
    return by_cells(cells, _words(records), f"{note}Without a defense, {WEIGHED}: {told}")


@cells_check(
    "J17",
    rule=(
        "Per set and model: at epsilon 10 the strongest attack's accuracy is not lower than without a defense by 0.1 or "
        "more (a cell); at epsilon 0.1 the model loses at least 0.05 of accuracy (a cell)."
    ),
    standard=SETTINGS,
    runs=lambda profile: _runs(profile, ("dp-sgd-0.1", "dp-sgd-1", "dp-sgd-10")),
)
def j17(records: Sequence[Record]) -> Judgement:
    """Judge private training."""
    cells = {}
    for case, by in _by_case(records):
        open_, weak, strong = (by[name, 1] for name in ("", "dp-sgd-10", "dp-sgd-0.1"))
        cells[f"{case} epsilon 10"] = weak.leak > open_.leak - MARKED
        cells[f"{case} epsilon 0.1"] = strong.accuracy <= open_.accuracy - 0.05
    return _judged(
        cells,
        records,
        "The budget is for (epsilon, 1e-5) in at most 300 steps; small tables need more noise than the paper's. ",
    )


@cells_check(
    "J18",
    rule=(
        "Per set and model: sigma 0.1 lowers the strongest attack's accuracy by at least 0.1, asked ten times, at a loss "
        "of at most 0.05 of the model's accuracy (a cell); sigma 1 loses more than 0.05 of the model's accuracy (a cell)."
    ),
    standard=f"{SETTINGS}; asked once and ten times",
    runs=lambda profile: _runs(profile, ("noise-0.01", "noise-0.1", "noise-1")),
)
def j18(records: Sequence[Record]) -> Judgement:
    """Judge noise on scores."""
    cells = {}
    for case, by in _by_case(records):
        often = max(asks for _, asks in by)
        open_, fair, loud = by["", 1], by["noise-0.1", often], by["noise-1", 1]
        cells[f"{case} 0.1 balances"] = (
            fair.leak <= open_.leak - MARKED
            and by["noise-0.1", 1].accuracy >= open_.accuracy - 0.05
        )
        cells[f"{case} 1 costs"] = loud.accuracy < open_.accuracy - 0.05
    return _judged(cells, records)


@cells_check(
    "J19",
    rule=(
        "Per set and model: label-only lowers the strongest attack's accuracy by at least 0.1 (a cell), and the model's "
        f"accuracy changes by at most {COSTLESS} (a cell)."
    ),
    standard=SETTINGS,
    runs=lambda profile: _runs(profile, ("rounding-2", "rounding-1", "label-only")),
)
def j19(records: Sequence[Record]) -> Judgement:
    """Judge the release of labels alone."""
    cells = {}
    for case, by in _by_case(records):
        open_, label = by["", 1], by["label-only", 1]
        cells[f"{case} lowers"] = label.leak <= open_.leak - MARKED
        cells[f"{case} costs nothing"] = abs(label.accuracy - open_.accuracy) <= COSTLESS
    return _judged(cells, records)


@cells_check(
    "J20",
    rule=(
        "Per set, model and purifier: the strongest attack's accuracy falls by at least 0.1 (a cell) and the model loses at "
        "most 0.02 of accuracy (a cell); per set and model, the one trained on random numbers leaks no more and loses no "
        "more than the other, within 0.01 (a cell)."
    ),
    standard=SETTINGS,
    runs=lambda profile: _runs(profile, ("purifier-real", "purifier-random")),
)
def j20(records: Sequence[Record]) -> Judgement:
    """Judge purification."""
    cells = {}
    for case, by in _by_case(records):
        open_, real, made_up = (by[name, 1] for name in ("", "purifier-real", "purifier-random"))
        for name, found in (("real", real), ("random", made_up)):
            cells[f"{case} {name} lowers"] = found.leak <= open_.leak - MARKED
            cells[f"{case} {name} costs little"] = found.accuracy >= open_.accuracy - 0.02
        cells[f"{case} random as good"] = (
            made_up.leak <= real.leak + COSTLESS and made_up.accuracy >= real.accuracy - COSTLESS
        )
    return _judged(cells, records)
