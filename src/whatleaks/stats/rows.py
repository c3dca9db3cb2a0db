"""From who is known to rows: the leak, its intervals over people, and luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.stats.columns import FEWEST
from whatleaks.stats.pool import Comparison

DRAWS, FLIPS = 1000, 999
TAIL = 0.025  # beyond either end


@dataclass(frozen=True)
class Row:
    """What a partner can tell of one column by one question, enough in people."""

    partner: str
    threat: str
    release: str
    defense: str  # "" for none
    attack: str
    column: str
    question: str
    people: int
    unknown: float  # that the partner could not tell; a mean where people are asked about in several trials
    without: float
    with_: float
    leak: float
    low: float  # of the leak, this row by itself
    high: float
    chance: float  # that the largest of all rows' gains is so large by luck
    lowest: float  # of the leak, all rows of this partner, release and defense together
    highest: float

    @property
    def counts(self) -> bool:
        """Say whether enough people are unknown for a leak."""
        return self.unknown >= FEWEST

    def record(self) -> dict[str, str | float]:
        """Return what audit.json holds of a row; other tools read these names.

        A leak is a share, and so are its ends: where joining may also lose people, ``low`` is 0.
        """
        apart = ("lowest", "highest")  # these stand beside the headline
        record = {
            field.name.rstrip("_"): getattr(self, field.name)
            for field in fields(self)
            if field.name not in apart
        }
        return record | {"low": max(0.0, self.low), "high": min(1.0, self.high)}


def rows(
    comparisons: Sequence[Comparison],
    rng: np.random.Generator,
    *,
    partner: str,
    threat: str = "",
    release: str = "",
    defense: str = "",
) -> tuple[Row, ...]:
    """Judge all questions of one partner, release and defense together: one draw of people for all."""
    if not comparisons:
        return ()
    persons = np.unique(np.concatenate([k.persons for k in comparisons]))
    gain, most, unknown = np.zeros((3, len(comparisons), len(persons)))
    for i, k in enumerate(comparisons):
        place = np.searchsorted(persons, k.persons)
        gain[i, place], unknown[i, place] = k.with_ - k.without, 1 - k.without
        most[i, place] = k.by_joining - k.without
    counts = unknown.sum(axis=1) >= FEWEST - 1e-6
    ends = np.tile([0.0, 1.0, 1.0, 0.0, 1.0], (len(comparisons), 1))  # of rows that do not count
    if counts.any():
        low, high, lowest, highest = intervals(gain[counts], most[counts], unknown[counts], rng)
        ends[counts] = np.stack([low, high, luck(gain[counts], rng), lowest, highest], axis=1)
    return tuple(
        Row(
            partner=partner,
            threat=threat,
            release=release,
            defense=defense,
            attack=k.attack,
            column=k.column,
            question=k.question,
            people=len(k.persons),
            unknown=_figure(u.sum()),
            without=_figure(k.without.sum()),
            with_=_figure(k.with_.sum()),
            leak=float(g.sum() / u.sum()) if enough else 0.0,
            low=low,
            high=high,
            chance=chance,
            lowest=lowest,
            highest=highest,
        )
        for k, g, u, enough, (low, high, chance, lowest, highest) in zip(
            comparisons, gain, unknown, counts, ends.tolist(), strict=True
        )
    )


def intervals(
    gain: Floats, most: Floats, unknown: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the leaks' ends, row by row and for all rows together, over people drawn anew.

    With one person more, who is unknown: not told for the lower end, told for the upper end.
    Without this one, three told of three would be 100 to 100 %. ``most``: the gain by the best way
    with joining where it happens to be behind the best without. The gain is none then, but the
    upper end is that of what may be ahead among other people.
    """
    weights = rng.dirichlet(np.ones(gain.shape[1] + 1), DRAWS).T * (gain.shape[1] + 1)
    one_more = weights[-1]
    told, left = gain @ weights[:-1], unknown @ weights[:-1] + one_more
    behind = most @ weights[:-1]
    lows, highs = told / left, np.maximum(told, behind) / left + one_more / left
    low, high = np.quantile(lows, TAIL, axis=1), np.quantile(highs, 1 - TAIL, axis=1)
    total = unknown.sum(axis=1) + 1
    lowest = _together(lows, gain.sum(axis=1) / total)
    highest = 1 - _together(1 - highs, 1 - (gain.sum(axis=1) + 1) / total)
    return low, high, np.maximum(lowest, 0.0), np.minimum(highest, 1.0)


def _together(draws: Floats, centre: Floats) -> Floats:
    """Return lower ends that hold for all rows together: the lower of two, as each fails somewhere.

    By standard errors: as far below the centre as the farthest row of a draw is above its own.
    This holds for the largest of many small leaks, and not for few people nearly all of whom are
    told. By shares: the share of each row's draws below it is that of the lowest row of a draw.
    This holds for those.
    """
    error = draws.std(axis=1) + 1e-12
    reach = np.quantile(((draws.T - centre) / error).max(axis=1), 1 - TAIL)
    in_order = np.sort(draws, axis=1)
    places = [np.searchsorted(a, b, side="right") for a, b in zip(in_order, draws, strict=True)]
    lowest = int(np.quantile(np.min(places, axis=0), TAIL)) - 1  # a row without any gain: the last
    ends: Floats = np.minimum(centre - reach * error, in_order[:, lowest])
    return ends


def luck(gain: Floats, rng: np.random.Generator) -> Floats:
    """Return for each row how often luck alone makes the largest of all rows' gains as large.

    Where joining tells nothing, a person is as often known with it only as without it only: the
    signs of a person's gains are drawn anew, together for all rows.
    """
    scale = np.sqrt((gain**2).sum(axis=1) + 0.25)
    signs = rng.choice([-1.0, 1.0], (FLIPS, gain.shape[1]))
    largest = ((signs @ gain.T) / scale).max(axis=1)
    t = gain.sum(axis=1) / scale
    chance: Floats = (1 + (largest >= t[:, None] - 1e-9).sum(axis=1)) / (FLIPS + 1)
    return chance


def _figure(people: float) -> float:
    """Drop what adding thirds leaves behind the sixth digit."""
    return round(float(people), 6)
