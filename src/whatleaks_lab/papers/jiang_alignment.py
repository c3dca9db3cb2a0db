"""Jiang et al., section 6.2: rows aligned by private set intersection (J16).

Each party holds a table of its own columns, with records that the other does not have, in an order
of its own, under an id. The common records are found in the clear and by the real protocol
(``crypto.psi``); each way tells each party which of its own rows to put where, and the two tables are
joined by these. Whether the join is right is measured. If it is, both ways give one and the same
table, and what is trained and attacked on it is the same by construction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from whatleaks.arrays import Ints, sealed_ints
from whatleaks.codec import encode
from whatleaks.runs.grouping import value
from whatleaks.runs.record import Record
from whatleaks.runs.work import work
from whatleaks.seeds import Streams
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.scenario import from_dict
from whatleaks_lab.papers.check import check
from whatleaks_lab.papers.claim import Judgement
from whatleaks_lab.papers.jiang_setup import (
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
)
from whatleaks_lab.papers.own_work import OwnWork
from whatleaks_lab.psi import Answering, Asking

if TYPE_CHECKING:
    import pandas as pd

ONLY_ONE = 0.1  # of the records, on each side, that the other party does not have
WAYS = ("clear", "psi")
# Fresh ones: 20 and 21 were seen under an earlier rule, which compared the numbers of rows alone.
FIRST_SEED = 30
SEEDS = {"fast": 1, "standard": 2, "full": 10}


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
        return (__name__, *_scenario(self, "label", ("column",)).modules())


def _scenario(one: AlignedRows, label: str, passive: tuple[str, ...]) -> Any:
    fields = base("fast", [ESA, GIA], references=["baselines"])
    fields |= {
        "dataset": f"{one.dataset} of two parties",
        "table": "aligned",
        "data": {"label": label},
        "passive": [list(passive)],
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
    passive = _drawn_half(frame, found.label, streams.rng("columns"))
    active_table = frame.drop(columns=list(passive)).iloc[first]
    passive_table = frame[list(passive)].iloc[second]
    named = [ids[i] for i in first], [ids[i] for i in second]
    numbers: dict[str, Any] = {"records of the first": len(first), "of the second": len(second)}
    for way, aligned in (("clear", _in_the_clear), ("psi", _by_intersection)):
        rows = aligned(*named)
        joined = active_table.iloc[rows.first].reset_index(drop=True)
        joined = joined.join(passive_table.iloc[rows.second].reset_index(drop=True))
        trial = run_trial(_scenario(one, found.label, passive), joined)
        measured = trial.outcome.measurements
        numbers[f"joined {way}"] = len(joined)
        numbers[f"wrong {way}"] = _wrong(first, second, rows)
        numbers[f"ids of others told {way}"] = rows.told
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


def _drawn_half(frame: pd.DataFrame, label: str, rng: np.random.Generator) -> tuple[str, ...]:
    """Draw the second party's half of the columns that vary; the label stays with the first."""
    names = [name for name in frame.columns if name != label and frame[name].nunique() > 1]
    return tuple(names[i] for i in sorted(rng.permutation(len(names))[: len(names) // 2]))


@dataclass(frozen=True)
class _Rows:
    """Each party's own rows, in one order; ``told``: others' ids that the second party was sent."""

    first: Ints
    second: Ints
    told: int


def _wrong(first: Ints, second: Ints, rows: _Rows) -> int:
    """Count common records that are not joined, and joined rows that are not one common record."""
    common = set(first.tolist()) & set(second.tolist())
    pairs = zip(first[rows.first].tolist(), second[rows.second].tolist(), strict=True)
    return len({(i, i) for i in common} ^ set(pairs))


def _in_the_clear(mine: Sequence[str], theirs: Sequence[str]) -> _Rows:
    """Send all ids of the first party to the second; both sort the common ones."""
    places = [{name: row for row, name in enumerate(ids)} for ids in (mine, theirs)]
    both = sorted(places[0].keys() & places[1].keys())
    first, second = (sealed_ints([place[name] for name in both]) for place in places)
    return _Rows(first, second, _told(encode(tuple(mine)), mine, set(theirs)))


def _by_intersection(mine: Sequence[str], theirs: Sequence[str]) -> _Rows:
    """Find the common records by the protocol; the first party asks."""
    asking, answering = Asking(mine), Answering(theirs)
    request = asking.request()
    setup = answering.setup()
    rows = asking.rows(setup, answering.respond(request, len(mine)), len(theirs))
    named = asking.common(rows)
    return _Rows(rows, answering.rows(named), _told(request + named, mine, set(theirs)))


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
        for seed in range(FIRST_SEED, FIRST_SEED + SEEDS[profile])
    ]


@check(
    "J16",
    rule=(
        "Per set: each party's own table, joined by the rows that the protocol names to it, has every common record "
        "once, put together with itself, and nothing else (a cell). Per set and attack (equality solving; inversion "
        "with squared distance): on the joined table the error is at most 1.01 times that after an alignment in the "
        "clear, and the attack accuracy not lower by more than 0.01 (a cell; so by construction if both joins are right: "
        "the rows are the same, in the same order)." + CELLS
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
        cells[f"{name} joined"] = all(value(r, "wrong psi") == 0 for r in runs)
        for attack, short in ((ESA, "solving"), (GIA, "inversion")):
            clear, private = (mean(runs, f"{attack} {way}") for way in WAYS)
            seen = [mean(runs, f"{attack} accuracy {way}") for way in WAYS]
            cells[f"{name} {short}"] = private <= 1.01 * clear and seen[1] >= seen[0] - 0.01
            words.append(f"{name} {short} {private:.4g} (in the clear {clear:.4g})")
    told = [mean(records, f"ids of others told {way}") for way in WAYS]
    joined, wrong = (round(sum(value(r, f"{n} psi") for r in records)) for n in ("joined", "wrong"))
    judged = by_cells(
        cells,
        f"Rows joined from each party's own table by the protocol, over all runs: {joined:,}; common records missing or "
        f"rows put together wrongly: {wrong}. Errors after private set intersection: "
        + ", ".join(words)
        + ".",
        "The attack's part is so by construction: both ways give the same rows in the same order, so one table is trained "
        "and attacked twice. It is no measurement of many cases, and has no interval. What could fail is the join. Ids of "
        f"records that the receiving party does not have, found in what it is sent: {told[0]:.0f} in the clear, "
        f"{told[1]:.0f} by the protocol (mean over runs). That is what it protects.",
    )
    return replace(judged, value=None)
