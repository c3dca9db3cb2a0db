"""One guess over all seeds: its records pooled, held against its rivals, an interval on each number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.auditor.people import count_people, held_against
from whatleaks.auditor.result import ColumnFinding, GuessFinding, People
from whatleaks.catalog import guesser
from whatleaks.errors import UsageError
from whatleaks.metrics.column_association import Followed, follow, gain, nothing_followed
from whatleaks.metrics.column_intervals import Resamples
from whatleaks.metrics.intervals import clipped, mean_over_seeds
from whatleaks.metrics.leads import lead_over, widened
from whatleaks.metrics.measurement import Measurement
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
# One guess by seed: its scores and the targets' spread.
Parts = Mapping[int, tuple[Scored, Floats]]


class Pool:
    """What ``Scored`` holds of each seed, one below the other."""

    def __init__(self, parts: Parts) -> None:
        self.parts = list(parts.values())
        self.squared, self.together, self.moved, self.named = (
            np.concatenate([getattr(scored, name) for scored, _ in self.parts])
            for name in ("squared", "together", "moved", "named")
        )
        self.spread = np.concatenate([spread for _, spread in self.parts])

    @cached_property
    def off(self) -> Floats:
        """How far every guess is from the truth, on the scale from 0 to 1."""
        return np.asarray(np.sqrt(self.squared))

    @cached_property
    def followed(self) -> Followed:
        """How far every column's differences are followed, over records."""
        return follow(self.together, self.moved, self.spread)

    @cached_property
    def by_seed(self) -> Floats:
        """The same share for each seed (rows) and column."""
        return np.array([follow(s.together, s.moved, d).value for s, d in self.parts])

    @cached_property
    def leakage(self) -> list[Measurement]:
        """How far every column's differences are followed, over records and seeds."""
        return widened(self.followed, self.by_seed)


def leads(pool: Pool, rivals: Sequence[Pool], chosen: Ints) -> tuple[list[Measurement], Floats]:
    """Return how much more of every column a guess follows than its chosen rival, and the chance of luck.

    Without any rival it is all that it follows.
    """
    if not rivals:
        nothing = nothing_followed(*pool.spread.shape)
        return pool.leakage, gain(pool.followed, nothing).chance
    lead = lead_over([gain(pool.followed, rival.followed) for rival in rivals], chosen)
    columns = np.arange(len(chosen))
    theirs = np.stack([rival.by_seed for rival in rivals])[chosen, :, columns].T
    return widened(lead, pool.by_seed - theirs, -1.0), lead.chance


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
    try:
        found = guesser(name)
    except UsageError:
        return name, ""
    return found.title, found.paper


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
    ``streams`` None: the columns' errors are left open.
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
    made = _leads(pool, held, columns, alone or {})
    counters = [*held, *(one for one in more if one.spread.shape == pool.spread.shape)]
    if told is not None:
        before = [column.people for column in told.columns if column.people is not None]
        return _held_again(told, made, held_against(before, pool, counters))
    # All columns of all guesses are resampled alike; thousands of columns have the t interval.
    drawn = resamples(len(pool.spread), streams if len(columns) <= WIDE else None)
    title, paper = named(first.name)
    by_column, people = count_people(pool, counters, spans)
    found = tuple(replace(c, people=p) for c, p in zip(made, by_column, strict=True))
    if streams is not None:
        errors = drawn.means(pool.squared, ERROR_UNIT)
        recovered = drawn.recovered(pool.squared, pool.spread)
        found = tuple(
            replace(
                column,
                error=clipped(errors[j], 0.0, np.inf),
                recovered=clipped(recovered[j], 0.0, 1.0),
            )
            for j, column in enumerate(found)
        )
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


def _held_again(
    told: GuessFinding, leads: Sequence[ColumnFinding], people: Sequence[People]
) -> GuessFinding:
    """Return a guess with what it adds to other rivals; the rest of it stays."""
    columns = tuple(
        replace(new, error=old.error, recovered=old.recovered, people=counted)
        for old, new, counted in zip(told.columns, leads, people, strict=True)
    )
    return replace(told, columns=columns, adds=mean_of([column.adds for column in columns]))


def _leads(
    pool: Pool,
    rivals: Sequence[Pool],
    columns: Sequence[str],
    alone: Mapping[str, Measurement],
) -> tuple[ColumnFinding, ...]:
    """Hold every column against the rival that follows most of it; errors are left open."""
    best = np.array([rival.followed.value for rival in rivals] or [np.zeros(len(columns))])
    chosen = best.argmax(axis=0)
    lead, luck = leads(pool, rivals, chosen)
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
                nothing,
                leakage,
                nothing,
                rivals[of].leakage[j] if rivals else nothing,
                adds if known is None else left_open(adds, known),
                0.0 if known is None else known.value,
                chance,
                differs=bool(differs[j]),
            )
        )
    return tuple(made)
