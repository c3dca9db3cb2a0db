"""Jiang et al., section 6: what defenses cost and stop (J17 to J20).

Every number of a defense is that of the strongest of the attacks tried with it, some of which are
told what it is: inversion with the cut scores' likelihood or through the purifier, the average of
ten noisy answers, and the regression on known people, who are scored behind the same defense.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from whatleaks.catalog import card
from whatleaks.papers.check import check
from whatleaks.papers.claim import Judgement
from whatleaks.papers.grouping import grid, grouped
from whatleaks.papers.jiang_setup import (
    BANK,
    CELLS,
    GIA,
    GIA_KL,
    ROBOT,
    SHORT,
    WEIGHED,
    base,
    by_cells,
    mean,
    seeds,
    sizes,
)
from whatleaks.runs.record import Record
from whatleaks.trial.scenario import Scenario

ATTACKS = [GIA, GIA_KL, WEIGHED]
SETS = (BANK, ROBOT)
COSTLESS = 0.01  # of accuracy
MARKED = 0.1  # of attack accuracy


def _runs(profile: str, defenses: Sequence[str]) -> list[Scenario]:
    found = []
    for name in ("", *defenses):
        built: Any = card("defense", name).build() if name else None
        told = dict(getattr(built, "told", dict)())
        options = {key: value for key, value in told.items() if key in ("cut", "purifier")}
        fields = base(profile, ATTACKS, attack_options=options)
        fields |= {"share": 0.5, "threat": "white-box-known", "defense": name}
        asks = (1, getattr(built, "asked", 1))
        found += grid(fields, dataset=SETS, asks=tuple(dict.fromkeys(asks)), seed=seeds(profile))
    return found


def _leak(runs: Sequence[Record]) -> float:
    """Return the attack accuracy of the strongest attack."""
    return max(mean(runs, f"{attack} accuracy") for attack in ATTACKS)


def _table(
    records: Sequence[Record], dataset: str
) -> Mapping[tuple[str, int], tuple[float, float, float, float]]:
    """Return accuracy, adaptive attack accuracy, that of plain inversion, least error, by defense and asks."""
    mine = [
        r for (name,), runs in grouped(records, "dataset").items() if name == dataset for r in runs
    ]
    return {
        key: (
            mean(runs, "accuracy"),
            _leak(runs),
            mean(runs, f"{GIA} accuracy"),
            min(mean(runs, attack) for attack in ATTACKS),
        )
        for key, runs in grouped(mine, "defense", "asks").items()
    }


def _words(records: Sequence[Record]) -> str:
    return (
        "Model accuracy / attack accuracy of the strongest attack / of inversion with squared distance / least error: "
        + "; ".join(
            f"{SHORT[dataset]} {defense or 'none'}{f' asked {asks} times' if asks > 1 else ''} "
            + "/".join(f"{number:.2f}" for number in found[:3])
            + f"/{found[3]:.3f}"
            for dataset in SETS
            for (defense, asks), found in _table(records, dataset).items()
        )
        + "."
    )


@check(
    "J17",
    rule=(
        "Per set: at epsilon 10 the strongest attack's accuracy is not lower than without a defense by 0.1 or more (a cell); "
        "at epsilon 0.1 the model loses at least 0.05 of accuracy (a cell)." + CELLS
    ),
    sizes=sizes("bank and robot, logistic regression, 50 % of the columns, 25 known people"),
    runs=lambda profile: _runs(profile, ("dp-sgd-0.1", "dp-sgd-1", "dp-sgd-10")),
)
def j17(records: Sequence[Record]) -> Judgement:
    """Judge private training."""
    cells = {}
    for dataset in SETS:
        by = _table(records, dataset)
        cells[f"{SHORT[dataset]} epsilon 10"] = by["dp-sgd-10", 1][1] > by["", 1][1] - MARKED
        cells[f"{SHORT[dataset]} epsilon 0.1"] = by["dp-sgd-0.1", 1][0] <= by["", 1][0] - 0.05
    return by_cells(
        cells, _words(records),
        "The budget is for (epsilon, 1e-5) in at most 300 steps; small tables need more noise than the paper's.",
    )  # fmt: skip


@check(
    "J18",
    rule=(
        "Per set: sigma 0.1 lowers the strongest attack's accuracy by at least 0.1, asked ten times, at a loss of at most "
        "0.05 of the model's accuracy (a cell); sigma 1 loses more than 0.05 of the model's accuracy (a cell)."
        + CELLS
    ),
    sizes=sizes(
        "bank and robot, logistic regression, 50 % of the columns, 25 known people; asked once and ten times"
    ),
    runs=lambda profile: _runs(profile, ("noise-0.01", "noise-0.1", "noise-1")),
)
def j18(records: Sequence[Record]) -> Judgement:
    """Judge noise on scores."""
    cells = {}
    for dataset in SETS:
        by = _table(records, dataset)
        often = max(asks for _, asks in by)
        free, fair, loud = by["", 1], by["noise-0.1", often], by["noise-1", 1]
        cells[f"{SHORT[dataset]} 0.1 balances"] = (
            fair[1] <= free[1] - MARKED and by["noise-0.1", 1][0] >= free[0] - 0.05
        )
        cells[f"{SHORT[dataset]} 1 costs"] = loud[0] < free[0] - 0.05
    return by_cells(cells, _words(records))


@check(
    "J19",
    rule=(
        "Per set: label-only lowers the strongest attack's accuracy by at least 0.1 (a cell), and the model's accuracy "
        f"changes by at most {COSTLESS} (a cell)." + CELLS
    ),
    sizes=sizes("bank and robot, logistic regression, 50 % of the columns, 25 known people"),
    runs=lambda profile: _runs(profile, ("rounding-2", "rounding-1", "label-only")),
)
def j19(records: Sequence[Record]) -> Judgement:
    """Judge the release of labels alone."""
    cells = {}
    for dataset in SETS:
        by = _table(records, dataset)
        cells[f"{SHORT[dataset]} lowers"] = by["label-only", 1][1] <= by["", 1][1] - MARKED
        cells[f"{SHORT[dataset]} costs nothing"] = (
            abs(by["label-only", 1][0] - by["", 1][0]) <= COSTLESS
        )
    return by_cells(cells, _words(records))


@check(
    "J20",
    rule=(
        "Per set and purifier: the strongest attack's accuracy falls by at least 0.1 (a cell) and the model loses at most "
        "0.02 of accuracy (a cell); per set, the one trained on random numbers leaks no more and loses no more than the "
        "other, within 0.01 (a cell)." + CELLS
    ),
    sizes=sizes("bank and robot, logistic regression, 50 % of the columns, 25 known people"),
    runs=lambda profile: _runs(profile, ("purifier-real", "purifier-random")),
)
def j20(records: Sequence[Record]) -> Judgement:
    """Judge purification."""
    cells = {}
    for dataset in SETS:
        by = _table(records, dataset)
        free, real, made_up = (by[name, 1] for name in ("", "purifier-real", "purifier-random"))
        for name, found in (("real", real), ("random", made_up)):
            cells[f"{SHORT[dataset]} {name} lowers"] = found[1] <= free[1] - MARKED
            cells[f"{SHORT[dataset]} {name} costs little"] = found[0] >= free[0] - 0.02
        cells[f"{SHORT[dataset]} random as good"] = (
            made_up[1] <= real[1] + COSTLESS and made_up[0] >= real[0] - COSTLESS
        )
    return by_cells(cells, _words(records))
