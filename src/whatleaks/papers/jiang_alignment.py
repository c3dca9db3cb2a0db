"""Jiang et al., section 6.2: rows aligned by private set intersection (J16).

Each party holds records that the other does not have, in an order of its own, under an id. The
common records are found in the clear and by the real protocol (``crypto.psi``); the same federation
is trained and attacked on what either way leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from whatleaks.arrays import Ints
from whatleaks.codec import encode
from whatleaks.crypto.psi import Answering, Asking
from whatleaks.papers.check import check
from whatleaks.papers.claim import Judgement
from whatleaks.papers.grouping import value
from whatleaks.papers.jiang_setup import (
    CELLS,
    ESA,
    GIA,
    ROWS,
    SETS,
    SHORT,
    TARGETS,
    base,
    by_cells,
    mean,
    seeds,
)
from whatleaks.papers.own_work import OwnWork
from whatleaks.runs.record import Record
from whatleaks.runs.work import work
from whatleaks.seeds import Streams
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.scenario import from_dict

if TYPE_CHECKING:
    import pandas as pd

ONLY_ONE = 0.1  # of the records, on each side, that the other party does not have
WAYS = ("clear", "psi")


@work
@dataclass(frozen=True)
class AlignedRows(OwnWork):
    """One set, aligned both ways, trained and attacked twice."""

    kind: ClassVar[str] = "jiang-aligned-rows"

    dataset: str
    rows: int
    targets: int
    steps: int
    training: int
    seed: int

    @classmethod
    def perform_group(
        cls, works: Sequence[AlignedRows], table: bytes | None
    ) -> Iterator[tuple[Outcome, bytes]]:
        """Align, train and attack; nothing is kept record by record."""
        del table
        for one in works:
            yield _outcome(one), b""

    def modules(self) -> tuple[str, ...]:
        """Name this file and the parts that are looked up by name."""
        return (__name__, *_scenario(self, "label").modules())


def _scenario(one: AlignedRows, label: str) -> Any:
    fields = base("fast", [ESA, GIA], references=["baselines"])
    fields |= {
        "dataset": f"{one.dataset} of two parties",
        "table": "aligned",
        "data": {"label": label},
        "share": 0.5,
        "targets": one.targets,
        "seed": one.seed,
        "attack_options": {"steps": one.steps},
        "model_options": {"steps": one.training},
    }
    return from_dict(fields, "J16")


def _outcome(one: AlignedRows) -> Outcome:
    from whatleaks.data.loading import load
    from whatleaks.trial.trial import run_trial

    streams = Streams(one.seed)
    found = load(one.dataset)
    frame = found.frame
    if one.rows:
        frame = frame.iloc[streams.rng("rows").permutation(len(frame))[: one.rows]]
    frame = frame.reset_index(drop=True)
    ids, first, second = _holdings(len(frame), streams.rng("parties"))
    numbers: dict[str, Any] = {"records of the first": len(first), "of the second": len(second)}
    for way, common in (("clear", _in_the_clear), ("psi", _by_intersection)):
        chosen, told = common(ids, first, second)
        joined: pd.DataFrame = frame.iloc[chosen].reset_index(drop=True)
        trial = run_trial(_scenario(one, found.label), joined)
        measured = trial.outcome.measurements
        numbers[f"common {way}"] = len(chosen)
        numbers[f"ids of others told {way}"] = told
        for name in (ESA, GIA):
            numbers[f"{name} {way}"] = measured[name]
            numbers[f"{name} accuracy {way}"] = measured[f"{name} accuracy"]
    return Outcome(numbers)


def _holdings(records: int, rng: np.random.Generator) -> tuple[list[str], Ints, Ints]:
    """Return everybody's id and whom each party has, in an order of its own."""
    ids = [f"{number:010d}" for number in rng.permutation(10 * records)[:records]]
    own = int(ONLY_ONE * records)
    order = rng.permutation(records)
    return ids, rng.permutation(order[own:]), rng.permutation(order[: records - own])


def _in_the_clear(ids: Sequence[str], first: Ints, second: Ints) -> tuple[Ints, int]:
    """Send all ids of the first party to the second; return the common records by id.

    The number is that of ids in the messages to the second party that it does not have.
    """
    named = {ids[i]: i for i in first}
    theirs = {ids[i] for i in second}
    both = np.array([named[name] for name in sorted(named.keys() & theirs)], dtype=np.int64)
    return both, _told(encode(tuple(named)), named, theirs)


def _by_intersection(ids: Sequence[str], first: Ints, second: Ints) -> tuple[Ints, int]:
    """Find the common records by the protocol; the first party asks."""
    mine, theirs = [ids[i] for i in first], [ids[i] for i in second]
    asking, answering = Asking(mine), Answering(theirs)
    request = asking.request()
    setup = answering.setup(len(mine))
    rows = asking.rows(setup, answering.respond(request, len(mine)), len(theirs))
    named = asking.common(rows)
    both = first[rows]
    if not np.array_equal(both, second[answering.rows(named)]):
        raise ValueError("the parties put different records in one row")
    return both, _told(request + named, mine, set(theirs))


def _told(sent: bytes, held: Iterable[str], known: set[str]) -> int:
    """Count the ids in what was sent that the receiver does not have."""
    return sum(name.encode() in sent for name in held if name not in known)


def _runs(profile: str) -> list[AlignedRows]:
    options = base(profile, [GIA])
    return [
        AlignedRows(
            dataset,
            ROWS[profile],
            TARGETS[profile],
            options["attack_options"]["steps"],
            options["model_options"]["steps"],
            seed,
        )
        for dataset in SETS
        for seed in seeds(profile)
    ]


@check(
    "J16",
    rule=(
        "Per set and attack (equality solving; inversion with squared distance): after private set intersection the "
        "error is at most 1.01 times that after an alignment in the clear, and the attack accuracy not lower by more "
        "than 0.01; and the protocol finds exactly the common records (a cell per set)." + CELLS
    ),
    sizes={
        "fast": "600 rows, 10 % of which only one party has, on each side; 50 records, 300 steps of inversion, 1 seed",
        "standard": "1,500 rows of four sets, 10 % of which only one party has, on each side; 100 records, 1,500 steps "
        "of inversion, 2 seeds",
        "full": "all rows of four sets, 10 % of which only one party has, on each side; 100 records, 20,000 steps of "
        "inversion, 10 seeds",
    },
    runs=_runs,
)
def j16(records: Sequence[Record]) -> Judgement:
    """Judge what private alignment takes from an attack on scores."""
    cells, words, by_set = {}, [], dict[str, list[Record]]()
    for record in records:
        by_set.setdefault(record.work.to_dict()["dataset"], []).append(record)
    for dataset, runs in by_set.items():
        name = SHORT[dataset]
        cells[f"{name} common"] = all(
            value(r, "common psi") == value(r, "common clear") for r in runs
        )
        for attack, short in ((ESA, "solving"), (GIA, "inversion")):
            clear, private = (mean(runs, f"{attack} {way}") for way in WAYS)
            seen = [mean(runs, f"{attack} accuracy {way}") for way in WAYS]
            cells[f"{name} {short}"] = private <= 1.01 * clear and seen[1] >= seen[0] - 0.01
            words.append(f"{name} {short} {private:.4g} (in the clear {clear:.4g})")
    told = [mean(records, f"ids of others told {way}") for way in WAYS]
    return by_cells(
        cells,
        "Errors after private set intersection: " + ", ".join(words) + ".",
        f"Ids of records that the receiving party does not have, found in what it is sent: {told[0]:.0f} in the clear, "
        f"{told[1]:.0f} by the protocol (mean over runs). That is what it protects; the scores come from the same rows.",
    )
