"""People, not only columns: how many records come close, who is worst off. Only counts leave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Bools, Floats
from whatleaks.auditor.result import GroupFinding, Headline, People
from whatleaks.errors import argument
from whatleaks.metrics.intervals import wilson
from whatleaks.metrics.leads import lead_over, widened
from whatleaks.metrics.measurement import Measurement
from whatleaks.metrics.naming import names_more

if TYPE_CHECKING:
    from whatleaks.auditor.combine import Entry
    from whatleaks.auditor.pool import Pool

SHARES = (0.01, 0.05, 0.10)  # of the range
NEAR = SHARES[1]
OUTER = 0.1  # the people furthest from the average
ROUNDING = 1e-12  # of a step, lost where it is put on another scale
TAIL = 0.025  # of a 95 % interval on one side
FEWEST = 5  # a smaller group is not shown: it would point at somebody


def rate(hits: Bools) -> Measurement:
    """Return the share of people for whom something holds."""
    return _share(int(hits.sum()), len(hits))


def _share(hits: int, people: int) -> Measurement:
    return wilson(hits, people, "share of people")


def count_people(
    pool: Pool, rivals: Sequence[Pool], spans: Sequence[Sequence[float]]
) -> tuple[tuple[People, ...], People]:
    """Count close guesses by column, and records that are close in every column.

    ``rivals`` join nothing; of every count the best of them stands beside.
    """
    off = pool.off
    right = pool.right
    known = spans if len(spans) == len(pool.parts) and spans and spans[0] else []
    steps = [round_number(NEAR * span) if span > 0.0 else 0.0 for span in (known or [[]])[0]]
    steps = steps or [0.0] * off.shape[1]
    reach = _reach(pool, steps, known)
    # Who is named is near: a guess that has not been moved to a possible value may lie further off.
    inside, *others = (
        np.count_nonzero((one.off <= reach) | one.right, axis=0) for one in (pool, *rivals)
    )
    otherwise = np.max([np.zeros_like(inside), *others], axis=0)
    columns = []
    counted = zip(
        np.count_nonzero(right, axis=0).tolist(),
        inside.tolist(),
        otherwise.tolist(),
        *(np.count_nonzero((off <= share) | right, axis=0).tolist() for share in SHARES),
        strict=True,
    )
    for j, (named, close, without, *within) in enumerate(counted):
        columns.append(
            People(
                _share(named, len(off)),
                _share(0, len(off)),
                tuple(_share(hits, len(off)) for hits in within),
                steps[j],
                _share(close, len(off)),
                _share(without, len(off)),
            )
        )
    worst = np.where(right, 0.0, off).max(axis=1)
    nobody = np.zeros(len(off), dtype=np.bool_)
    whole = People(
        rate(np.asarray(right.all(axis=1))),
        max(
            (rate(np.asarray(one.right.all(axis=1))) for one in rivals),
            key=lambda share: share.value,
            default=rate(nobody),
        ),
        tuple(rate(worst <= share) for share in SHARES),
        0.0,
        rate(worst <= NEAR),
    )
    return held_against(columns, pool, rivals), whole


def held_against(
    people: Sequence[People], pool: Pool, rivals: Sequence[Pool]
) -> tuple[People, ...]:
    """Say of every column how many people are named without joining, and what joining adds to that.

    The best rival of a column is the best by luck too, as in ``lead_over``. Where a rival makes the
    very same guess, nothing is added, however few people were asked about.
    """
    if not rivals or pool.named.shape != pool.off.shape:
        return tuple(people)
    shares = np.array([one.named_shares for one in rivals])
    chosen = shares.argmax(axis=0)
    lead = lead_over([names_more(pool.named, one.right) for one in rivals], chosen)
    columns = np.arange(len(chosen))
    theirs = np.stack([one.named_by_seed for one in rivals])[chosen, :, columns].T
    more = widened(lead, pool.named_by_seed - theirs, -1.0, "share of people")
    same = np.any([(pool.squared == one.squared).all(axis=0) for one in rivals], axis=0)
    most = _left_open(shares[chosen, columns], lead.n, len(rivals))
    made = []
    for j, one in enumerate(people):
        nothing = Measurement(0.0, 0.0, 0.0, lead.n, more[j].unit, more[j].over)
        without = _share(round(float(shares[chosen[j], j]) * lead.n), lead.n)
        made.append(
            People(
                one.named,
                without,
                one.within,
                one.tolerance,
                one.inside,
                one.inside_without,
                nothing if same[j] else _at_most(more[j], float(most[j])),
                1.0 if same[j] else float(lead.chance[j]),
            )
        )
    return tuple(made)


def _left_open(named: Floats, people: int, rivals: int) -> Floats:
    """Return of every column what share at most the best guess without joining leaves unnamed, surely.

    Where it names everybody nothing is open, whatever weaker rivals leave. The end is that of Clopper and
    Pearson, for the best of so many rivals (Bonferroni).
    """
    from scipy.special import betaincinv

    hits = np.rint(named * people)
    sure = betaincinv(np.maximum(hits, 1.0), people - hits + 1.0, TAIL / rivals)
    return np.asarray(np.where(hits > 0.0, 1.0 - sure, 1.0))


def _at_most(more: Measurement, most: float) -> Measurement:
    """Bound an interval from above; its value stays within it."""
    return more if more.high <= most else replace(more, high=max(more.value, most))


def _reach(pool: Pool, steps: Sequence[float], spans: Sequence[Sequence[float]]) -> Floats:
    """Return how far off a guess may be for every record and column: every seed has a scale of its own.

    Where a column has no units it is a share of its range.
    """
    scale = np.array(spans) if spans else np.ones((len(pool.sizes), len(steps)))
    wanted = np.array(steps)
    reach = np.where(wanted > 0.0, wanted / np.where(scale > 0.0, scale, 1.0), NEAR)
    return np.repeat(reach * (1.0 + ROUNDING), pool.sizes, axis=0)


def round_number(value: float) -> float:
    """Return the nearest of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return min((step * power for step in (1, 2, 5, 10)), key=lambda step: abs(step - value))


def _best(hits: Bools) -> Measurement | None:
    """Return the largest share of several guesses (rows); None of none."""
    return max((rate(row) for row in hits), key=lambda share: share.value, default=None)


def too_small(by: str, runs: Sequence[Entry]) -> list[str]:
    """Say how many groups are not shown: the rarest people are those whom a reader looks for."""
    names = runs[0].records.group_names if runs else ()
    if not names:
        return []
    member = np.concatenate([run.records.groups for run in runs])
    few = int(sum((member == k).sum() < FEWEST for k in range(len(names))))
    if not few:
        return []
    return [
        f"{argument('by')} {by}: {few} of {len(names)} groups not shown, as fewer than {FEWEST} of their "
        f"people were attacked. Attack more ({argument('targets')}, {argument('seeds')})."
    ]


def groups_of(entries: Sequence[Entry], head: Headline) -> tuple[GroupFinding, ...]:
    """Say who is worst off in the headline's column under its attack: outliers, and named groups."""
    from whatleaks.auditor.combine import (  # which counts people by this module
        base_name,
        beside_of,
        guesses_of,
        rivals_of,
    )

    runs = [e for e in entries if e.plain and e.guessed and e.scenario.threat == head.threat]
    attack, guesses = base_name(head.attack), guesses_of(runs)
    tried = [*rivals_of(attack, guesses, guesses), *beside_of(guesses, guesses)]
    seeds = {run.scenario.seed for run in runs}
    rivals = [rival for rival in tried if seeds <= rival.keys()]
    near, exact, outer, groups = [], [], [], []  # the attack first, then who joins nothing
    for run in runs:
        found = next((s for s in run.records.scored if s.name == attack), None)
        if found is None or head.column not in run.records.columns:
            return ()
        j = run.records.columns.index(head.column)
        spread = np.square(run.records.apart[:, j])
        held = [found, *(rival[run.scenario.seed][0] for rival in rivals)]
        near.append([(np.abs(one.off[:, j]) <= NEAR) | one.named[:, j] for one in held])
        exact.append([one.named[:, j] for one in held])
        outer.append(spread > np.quantile(spread, 1.0 - OUTER))
        groups.append(run.records.groups)
    if not runs:
        return ()
    close, right = (np.concatenate(parts, axis=1) for parts in (near, exact))
    far = np.concatenate(outer)
    told = [("the tenth furthest from the average", far), ("all others", ~far)]
    told = told if min(far.sum(), (~far).sum()) >= FEWEST else []
    names = runs[0].records.group_names
    if names:
        member = np.concatenate(groups)
        told += [(name, member == k) for k, name in enumerate(names)]
    counted = tuple(
        GroupFinding(
            name,
            rate(close[0, who]),
            rate(right[0, who]),
            _best(close[1:, who]),
            _best(right[1:, who]),
        )
        for name, who in told
        if int(who.sum()) >= FEWEST
    )
    return counted if len(counted) > 1 else ()  # one group is worse off than nobody
