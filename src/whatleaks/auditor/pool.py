"""One guess over all seeds: its records pooled, held against its rivals, an interval on each number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints
from whatleaks.auditor.levels import ALARMS
from whatleaks.auditor.people import count_people, held_against
from whatleaks.auditor.result import ColumnFinding, GuessFinding, People
from whatleaks.catalog import guessers
from whatleaks.metrics.column_association import (
    Followed,
    follow,
    gain,
    nothing_followed,
    shares,
)
from whatleaks.metrics.column_intervals import Resamples
from whatleaks.metrics.intervals import clipped, mean_over_seeds
from whatleaks.metrics.leads import lead_over, widened
from whatleaks.metrics.measurement import Measurement
from whatleaks.metrics.swaps import chance_by_swaps, right_by_luck
from whatleaks.seeds import Streams
from whatleaks.trial.isolation import weakest
from whatleaks.trial.limit import WIDE
from whatleaks.trial.scorers.values import Scored

ERROR_UNIT = "mean squared error"
LEARNER = "learner"
TITLES = {
    "limit": "The limit: the best of all that was tried",
    LEARNER: "A regressor that has learnt from other people's truth",
    "alone": "The same regressor without the federation: the partner's own columns only",
}
KEPT = 8  # pools that are remembered: the same rivals are met again and again
# One guess by seed: its scores, and how far the targets lie from their columns' means.
Parts = Mapping[int, tuple[Scored, Floats]]


class Pool:
    """What ``Scored`` holds of each seed, one below the other."""

    def __init__(self, parts: Parts) -> None:
        self.parts = list(parts.values())
        self.sizes = [len(apart) for _, apart in self.parts]
        off = np.concatenate([scored.off for scored, _ in self.parts])
        self.named = np.concatenate([scored.named for scored, _ in self.parts])
        self.off = np.abs(off)  # how far every guess is from the truth, on the scale from 0 to 1
        self.squared = np.square(off)

    @cached_property
    def spread(self) -> Floats:
        """Every target's squared distance from its column's mean."""
        return np.asarray(np.square(np.concatenate([apart for _, apart in self.parts])))

    @cached_property
    def _guessed(self) -> Floats:
        """How far every guess lies from the mean guess of its seed and column."""
        return np.concatenate([scored.guessed(apart) for scored, apart in self.parts])

    def products(self, columns: Ints | slice = slice(None)) -> tuple[Floats, Floats]:
        """Return the guesses' deviations times the truth's, and their squares."""
        guessed = self._guessed[:, columns]
        apart = np.concatenate([apart[:, columns] for _, apart in self.parts])
        return guessed * apart, np.square(guessed)

    @cached_property
    def _followed(self) -> tuple[Followed, Floats]:
        together, moved = self.products()
        starts = np.cumsum([0, *self.sizes])
        by_seed = [shares(together[i:j], moved[i:j], self.spread[i:j]) for i, j in pairwise(starts)]
        return follow(together, moved, self.spread), np.array(by_seed)

    @property
    def followed(self) -> Followed:
        """How far every column's differences are followed, over records."""
        return self._followed[0]

    @property
    def by_seed(self) -> Floats:
        """The same share for each seed (rows) and column."""
        return self._followed[1]

    @cached_property
    def right(self) -> Bools:
        """Where a guess names the value; of one that was scored without a schema nowhere."""
        if self.named.shape == self.off.shape:
            return self.named
        return np.zeros(self.off.shape, dtype=np.bool_)

    @cached_property
    def named_by_seed(self) -> Floats:
        """The share of people named for each seed (rows) and column."""
        parts = np.split(self.right, np.cumsum(self.sizes)[:-1])
        return np.array([np.count_nonzero(part, axis=0) / len(part) for part in parts])

    @cached_property
    def named_shares(self) -> Floats:
        """The share of people named of all seeds, by column."""
        return np.asarray(np.count_nonzero(self.right, axis=0) / len(self.right))

    @cached_property
    def leakage(self) -> list[Measurement]:
        """How far every column's differences are followed, over records and seeds."""
        return widened(self.followed, self.by_seed, told=self.told)

    @cached_property
    def told(self) -> Bools:
        """In which seeds (rows) any two of the people attacked differ in a column."""
        return np.array([apart.any(axis=0) for _, apart in self.parts])

    @cached_property
    def carried(self) -> Ints:
        """By how many people a column's differences are made: an effective number; 0 if nobody differs."""
        size = self.spread.max(axis=0)
        each = self.spread / np.where(size > 0.0, size, 1.0)
        squares = np.square(each).sum(axis=0)
        made = np.square(each.sum(axis=0)) / np.where(squares > 0.0, squares, 1.0)
        return np.asarray(np.rint(made), dtype=np.int64)


def leads(
    pool: Pool, rivals: Sequence[Pool], chosen: Ints, drawn: bool = True
) -> tuple[list[Measurement], Floats]:
    """Return how much more of every column a guess follows than its chosen rival, and the chance of luck.

    Without any rival it is all that it follows. ``drawn``: chances that might raise an alarm are
    drawn too; of defended guesses nobody asks for them.
    """
    if not rivals:
        nothing = nothing_followed(*pool.spread.shape)
        return pool.leakage, gain(pool.followed, nothing).chance
    lead = lead_over([gain(pool.followed, rival.followed) for rival in rivals], chosen)
    columns = np.arange(len(chosen))
    theirs = np.stack([rival.by_seed for rival in rivals])[chosen, :, columns].T
    more = widened(lead, pool.by_seed - theirs, -1.0, told=pool.told)
    return more, _confirmed(lead.chance, pool, rivals) if drawn else lead.chance


def _confirmed(chance: Floats, pool: Pool, rivals: Sequence[Pool]) -> Floats:
    """Return the chances with those that might raise an alarm drawn against every rival too.

    Who reads a column to the last digit leads everybody. Luck is then that the same guesses, given to
    these people in any order, are all right: seldom, unless nearly everybody has the same value.
    """
    compared = len(np.unique(pool.followed.r))  # at least: every column is a comparison of its own
    asked = np.flatnonzero((chance * compared <= ALARMS) & ~pool.followed.exact)
    confirmed = chance.copy()
    for j in np.flatnonzero((chance * compared <= ALARMS) & pool.followed.exact):
        confirmed[j] = max(chance[j], right_by_luck([apart[:, j] for _, apart in pool.parts]))
    for rival in rivals if len(asked) else ():
        one, other = (each.products(asked) for each in (pool, rival))
        apart = np.count_nonzero(pool.squared[:, asked] != rival.squared[:, asked], axis=0)
        drawn = chance_by_swaps(one, other, pool.spread[:, asked], apart)
        confirmed[asked] = np.maximum(confirmed[asked], drawn)
    return confirmed


_pools: dict[tuple[tuple[int, int], ...], Pool] = {}


def pooled(parts: Parts) -> Pool:
    """Return the pool of these scores; one that was made a moment ago is not made again."""
    # A pool holds its scores, so their identities stay theirs while it is remembered.
    key = tuple((seed, id(scored)) for seed, (scored, _) in parts.items())
    found = _pools.pop(key, None) or Pool(parts)
    while len(_pools) >= KEPT:
        _pools.pop(next(iter(_pools)))
    _pools[key] = found
    return found


def named(name: str) -> tuple[str, str]:
    """Return the title and the paper of an attack, a baseline or a limit."""
    if name in TITLES:
        return TITLES[name], ""
    found = guessers().get(name)
    return (name, "") if found is None else (found.title, found.paper)


@lru_cache(maxsize=4)
def resamples(records: int, streams: Streams | None) -> Resamples:
    """Return the resamples that all guesses on so many records share."""
    return Resamples(records, None if streams is None else streams.rng("resamples"))


def mean_of(parts: Sequence[Measurement]) -> Measurement:
    """Average columns; the interval's ends are averaged too, which is cautious: columns move together."""
    first = parts[0]
    value, low, high = (
        float(np.mean([getattr(part, end) for part in parts])) for end in ("value", "low", "high")
    )
    return Measurement(value, low, high, first.n, first.unit, first.over)


def over_seeds(parts: Sequence[Measurement]) -> Measurement:
    """Average seeds; the interval covers that over records and, with several seeds, theirs."""
    pooled = mean_of(parts)
    if len(parts) < 2:
        return pooled
    seeds = mean_over_seeds([part.value for part in parts], pooled.unit)
    low, high = min(pooled.low, seeds.low), max(pooled.high, seeds.high)
    count = sum(part.n for part in parts)
    return Measurement(pooled.value, low, high, count, pooled.unit, "records and seeds")


def combine_guess(
    parts: Parts,
    columns: Sequence[str],
    streams: Streams | None,
    rivals: Sequence[Parts] = (),
    alone: Mapping[str, Measurement] | None = None,
    spans: Sequence[Sequence[float]] = (),
    told: GuessFinding | None = None,
    beside: Sequence[Parts] = (),
) -> GuessFinding:
    """Pool one guess over seeds and hold it against the strongest of its rivals, by column.

    ``rivals`` know what can be known without joining: the control, and baselines that see the
    own columns and the granted records. ``alone``: what the own columns tell of a column.
    ``beside``: who else must be beaten where people are counted: whoever has learnt from other
    people's records without joining, and one value for everybody.
    ``told``: the same guess as held against others; its errors and people are the same.
    ``streams`` None: the columns' errors are left open, and luck is not drawn.
    """
    pool = pooled(parts)
    first = pool.parts[0][0]
    held, more = (
        [
            pooled({seed: rival[seed] for seed in parts})
            for rival in some
            if parts.keys() <= rival.keys()
        ]
        for some in (rivals, beside)
    )
    counters = [*held, *(one for one in more if one.off.shape == pool.off.shape)]
    if told is not None:
        before = [column.people for column in told.columns if column.people is not None]
        again = held_against(before, pool, counters)
        errors, recovered = (
            [getattr(c, of) for c in told.columns] for of in ("error", "recovered")
        )
        found = _leads(pool, held, columns, alone or {}, again, errors, recovered, drawn=False)
        return replace(told, columns=found, adds=mean_of([column.adds for column in found]))
    # All columns of all guesses are resampled alike; thousands of columns have the t interval.
    drawn = resamples(len(pool.off), streams if len(columns) <= WIDE else None)
    title, paper = named(first.name)
    by_column, people = count_people(pool, counters, spans)
    first_leak = pool.leakage[0]
    nothing = Measurement(0.0, 0.0, 0.0, first_leak.n, first_leak.unit, first_leak.over)
    errors = recovered = [nothing] * len(columns)
    if streams is not None:
        errors = [clipped(one, 0.0, np.inf) for one in drawn.means(pool.squared, ERROR_UNIT)]
        recovered = [clipped(one, 0.0, 1.0) for one in drawn.recovered(pool.squared, pool.spread)]
    drawn_luck = streams is not None
    found = _leads(pool, held, columns, alone or {}, by_column, errors, recovered, drawn_luck)
    per_seed = [float(scored.squared.mean()) for scored, _ in pool.parts]
    overall = drawn.means(pool.squared.mean(axis=1, keepdims=True), ERROR_UNIT)[0]
    return GuessFinding(
        name=first.name,
        title=title,
        role=first.role,
        paper=paper,
        error=clipped(overall, 0.0, np.inf),
        leakage=mean_of([column.leakage for column in found]),
        adds=mean_of([column.adds for column in found]),
        recovered=mean_of([column.recovered for column in found]),
        columns=found,
        over_seeds=mean_over_seeds(per_seed, ERROR_UNIT) if len(per_seed) > 1 else None,
        alternatives=max(scored.alternatives for scored, _ in pool.parts),
        isolated=weakest([scored.isolated for scored, _ in pool.parts]),
        seconds=float(sum(scored.seconds for scored, _ in pool.parts)),
        settings=dict(first.settings),
        people=people,
    )


def left_open(adds: Measurement, known: Measurement) -> Measurement:
    """Bound what joining adds by what the own columns leave open; that is uncertain itself."""
    return Measurement(
        min(adds.value, 1.0 - known.value),
        min(adds.low, 1.0 - known.high),
        min(adds.high, 1.0 - known.low),
        adds.n,
        adds.unit,
        adds.over,
    )


def _leads(
    pool: Pool,
    rivals: Sequence[Pool],
    columns: Sequence[str],
    alone: Mapping[str, Measurement],
    people: Sequence[People],
    errors: Sequence[Measurement],
    recovered: Sequence[Measurement],
    drawn: bool,
) -> tuple[ColumnFinding, ...]:
    """Hold every column against the rival that follows most of it."""
    best = np.array([rival.followed.value for rival in rivals] or [np.zeros(len(columns))])
    chosen = best.argmax(axis=0)
    lead, luck = leads(pool, rivals, chosen, drawn)
    differs = pool.spread.sum(axis=0) > 0.0
    first = pool.leakage[0]
    nothing = Measurement(0.0, 0.0, 0.0, first.n, first.unit, first.over)
    made = []
    for j, (column, of) in enumerate(zip(columns, chosen.tolist(), strict=True)):
        leakage, adds, chance = pool.leakage[j], lead[j], float(luck[j])
        known = alone.get(column)
        made.append(
            ColumnFinding(
                column,
                errors[j],
                leakage,
                recovered[j],
                rivals[of].leakage[j] if rivals else nothing,
                adds if known is None else left_open(adds, known),
                0.0 if known is None else known.value,
                chance,
                people[j],
                differs=bool(differs[j]),
                carried=int(pool.carried[j]),
            )
        )
    return tuple(made)
