"""People, not only columns: how many records come close, who is worst off. Only counts leave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Bools, Floats
from whatleaks.auditor.result import GroupFinding, Headline, People
from whatleaks.metrics.intervals import wilson
from whatleaks.metrics.measurement import Measurement

if TYPE_CHECKING:
    from whatleaks.auditor.combine import Entry
    from whatleaks.auditor.pool import Pool

SHARES = (0.01, 0.05, 0.10)  # of the range
NEAR = SHARES[1]
OUTER = 0.1  # the people furthest from the average
FEWEST = 5  # a smaller group is not shown: it would point at somebody


def rate(hits: Bools) -> Measurement:
    """Return the share of people for whom something holds."""
    return _share(int(hits.sum()), len(hits))


def _share(hits: int, people: int) -> Measurement:
    return wilson(hits, people, "share of people")


def count_people(
    pool: Pool, control: Pool | None, spans: Sequence[Sequence[float]]
) -> tuple[tuple[People, ...], People]:
    """Count close guesses by column, and records that are close in every column."""
    off = np.sqrt(pool.squared)
    right = pool.named
    without = np.zeros_like(right) if control is None else control.named
    if right.shape != off.shape:  # a guess that was scored without a schema
        right = without = np.zeros(off.shape, dtype=np.bool_)
    known = spans if len(spans) == len(pool.parts) and spans and spans[0] else []
    steps = [round_number(NEAR * span) if span > 0.0 else 0.0 for span in (known or [[]])[0]]
    steps = steps or [0.0] * off.shape[1]
    columns = []
    counted = zip(
        *(np.count_nonzero(hits, axis=0).tolist() for hits in (right, without)),
        *(np.count_nonzero(off <= share, axis=0).tolist() for share in SHARES),
        strict=True,
    )
    for j, (named, otherwise, *within) in enumerate(counted):
        step = steps[j]
        inside = within[SHARES.index(NEAR)]
        if step:
            units = _in_units(pool, off[:, j], [seed[j] for seed in known])
            inside = int(np.count_nonzero(units <= step))
        columns.append(
            People(
                _share(named, len(off)),
                _share(otherwise, len(off)),
                tuple(_share(hits, len(off)) for hits in within),
                step,
                _share(inside, len(off)),
            )
        )
    worst = off.max(axis=1)
    whole = People(
        rate(np.asarray(right.all(axis=1))),
        rate(np.asarray(without.all(axis=1))),
        tuple(rate(worst <= share) for share in SHARES),
        0.0,
        rate(worst <= NEAR),
    )
    return tuple(columns), whole


def _in_units(pool: Pool, off: Floats, spans: Sequence[float]) -> Floats:
    """Return errors in the column's own units: every seed has a scale of its own."""
    sizes = [len(spread) for _, spread in pool.parts]
    return np.asarray(off * np.repeat(np.array(spans), sizes))


def round_number(value: float) -> float:
    """Return the nearest of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return min((step * power for step in (1, 2, 5, 10)), key=lambda step: abs(step - value))


def groups_of(entries: Sequence[Entry], head: Headline) -> tuple[GroupFinding, ...]:
    """Say who is worst off in the headline's column under its attack: outliers, and named groups."""
    from whatleaks.auditor.combine import base_name  # combine counts people by this module

    runs = [e for e in entries if e.plain and e.guessed and e.scenario.threat == head.threat]
    off, right, outer, groups = [], [], [], []
    for run in runs:
        found = next((s for s in run.records.scored if s.name == base_name(head.attack)), None)
        if found is None or head.column not in run.records.columns:
            return ()
        j = run.records.columns.index(head.column)
        spread = run.records.spread[:, j]
        off.append(np.sqrt(found.squared[:, j]))
        right.append(found.named[:, j])
        outer.append(spread > np.quantile(spread, 1.0 - OUTER))
        groups.append(run.records.groups)
    if not runs:
        return ()
    near, exact = np.concatenate(off) <= NEAR, np.concatenate(right)
    far = np.concatenate(outer)
    told = [("the tenth furthest from the average", far), ("all others", ~far)]
    names = runs[0].records.group_names
    if names:
        member = np.concatenate(groups)
        told += [(name, member == k) for k, name in enumerate(names)]
    counted = tuple(
        GroupFinding(name, rate(near[who]), rate(exact[who]))
        for name, who in told
        if int(who.sum()) >= FEWEST
    )
    return counted if len(counted) > 1 else ()  # one group is worse off than nobody
