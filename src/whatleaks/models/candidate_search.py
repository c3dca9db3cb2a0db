"""The mean of the possible records that a model scores as was released (approximate Bayesian computation).

Before any score all records that the schema and the ranges allow are alike. Given the scores, those
remain that reproduce them, and their mean is the best answer by squared error. Where all possible
records can be listed they are; elsewhere an even set of them stands for all, and those that come
nearest to the released scores for those that reproduce them: with h the distance of the k-th nearest, a
candidate at distance d < h weighs 1 - (d/h)^2 (Epanechnikov's kernel, as in Beaumont, Zhang and
Balding 2002).

Where that leaves the scores too wide a margin the search goes on around the nearest: places are drawn
from boxes about them, and a candidate weighs one over the density that it was drawn with, so that
all possible records stay alike (population Monte Carlo: Beaumont, Cornuet, Marin and Robert 2009).
Boxes wrap around at the borders of the cube, so their density is a count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints
from whatleaks.models.possible_records import PossibleRecords
from whatleaks.models.reproduced import Reproduced, nearest

EXACT = 1e-9  # of a distance: reproduced up to the arithmetic
MOST, FEWEST = 1 << 14, 1 << 6  # candidates in the first round
ONE_AXIS = 1 << 10
EFFORT = 4e9  # multiplications for all records: about a second
CELLS = 2_000_000  # numbers held at a time, in each of several tables
THICK = 0.02  # of the scores' spread: a wider margin is searched again
OPEN = 2  # axes for each equation: with more, most of a record stays open and many candidates count more
ROUNDS = 2
ROUNDS_ON_ONE_AXIS = (
    8  # each 16 times as fine: to 2e-13 of the range, for who is near names nobody yet
)
KEPT_ON_ONE_AXIS, DRAWN_ON_ONE_AXIS = 8, 128  # for each record of the axes that are listed
BESIDE = 1 << 8  # candidates that are twice those kept: so many records may be listed
KEPT, DRAWN = 128, 1024


class Scoring(Protocol):
    """A model with the own columns of some records put in."""

    @property
    def cost(self) -> float:
        """How many multiplications one candidate of one record takes."""
        ...

    @property
    def wide(self) -> int:
        """How many numbers are held for it."""
        ...

    @property
    def redrawn(self) -> bool:
        """Whether candidates of their own for every record are affordable."""
        ...

    def shared(self, rows: Ints, values: Floats) -> Floats:
        """Return outputs of some records with all candidates: records x candidates x outputs."""
        ...

    def each(self, rows: Ints, values: Floats) -> Floats:
        """Return outputs with candidates of their own: ``values`` is records x candidates x columns."""
        ...


@dataclass(frozen=True)
class Candidates:
    """Places in the cube with their values. ``weights``: how many records each stands for.

    ``complete``: they are all there is, so one of them is the record itself. ``along``: the one axis
    that is not listed whole, and how many records the others make; None if there are several.
    """

    places: Floats
    values: Floats
    weights: Floats
    complete: bool
    along: tuple[int, int] | None = None


def candidate_mean(
    scoring: Scoring,
    told: Reproduced,
    possible: PossibleRecords,
    first: Candidates,
    rng: np.random.Generator,
) -> Floats:
    """Return the mean of every record's reproducing candidates: records x unknown columns."""
    records = len(told.released)
    found = np.empty((records, possible.width))
    if first.along is not None:
        kept, many = (each * first.along[1] for each in (KEPT_ON_ONE_AXIS, DRAWN_ON_ONE_AXIS))
    else:
        kept, many = max(KEPT_ON_ONE_AXIS, len(first.values) // 64), min(DRAWN, len(first.values))
    rounds = (
        0 if first.complete or not scoring.redrawn else rounds_needed(told, possible, first, kept)
    )
    drawn = rng.random((rounds, many, len(possible.axes) + 1))
    if first.along is not None:  # every kept part is cut into equal ones, and listed axes stay
        drawn[:] = 0.5
        drawn[..., 0], drawn[..., 1 + first.along[0]] = _even(many), _even(many // kept, many)
    held = max(len(first.values) * scoring.wide, many * max(scoring.wide, KEPT) * min(rounds, 1))
    step = max(1, CELLS // max(1, held))
    for i in range(0, records, step):
        rows = np.arange(i, min(i + step, records))
        apart = told.apart(rows, scoring.shared(rows, first.values))
        weights = weighed(apart, told, kept, first.complete) * first.weights
        found[rows] = weights @ first.values / weights.sum(axis=1, keepdims=True)
        # Where the nearest fit alike (a class, a step, a flat part of the model) none is to be preferred.
        moving = np.flatnonzero(~_alike(apart, kept)) if rounds else np.zeros(0, dtype=np.int64)
        if len(moving):
            found[rows[moving]] = _searched_on(
                scoring, told, possible, first, apart[moving], rows[moving], drawn
            )
    return found


def weighed(apart: Floats, told: Reproduced, kept: int, complete: bool = False) -> Floats:
    """Return what candidates weigh by their distances: records x candidates."""
    least = apart.min(axis=1, keepdims=True)
    if told.noise > 0.0:  # the likelihood of normal noise
        return np.asarray(np.exp(-0.5 * (apart**2 - least**2)))
    if complete:  # the record itself is among them, at a distance of rounding
        return np.asarray((apart <= 3.0 * least + EXACT).astype(np.float64))
    width = nearest(apart, kept)
    kernel = np.maximum(1.0 - (apart / np.maximum(width, EXACT)) ** 2, 0.0)
    return np.asarray(np.where(_alike(apart, kept)[:, None], apart <= width + EXACT, kernel))


def _alike(apart: Floats, kept: int) -> Bools:
    """Say whose nearest are all as near: votes come in steps, and a class is all or nothing."""
    return np.asarray(nearest(apart, kept)[:, 0] <= apart.min(axis=1) + EXACT)


def rounds_needed(told: Reproduced, possible: PossibleRecords, first: Candidates, kept: int) -> int:
    """Return how often to search on: not if the nearest reproduce the scores closely as they are."""
    if told.noise > 0.0 or told.classes_only:
        return 0
    if first.along is not None:
        return ROUNDS_ON_ONE_AXIS
    if len(possible.axes) > OPEN * told.equations:
        return 0
    directions = min(told.equations, len(possible.axes))
    thick = (kept / len(first.values)) ** (1.0 / max(1, directions))
    return ROUNDS if thick > THICK else 0


def _searched_on(
    scoring: Scoring,
    told: Reproduced,
    possible: PossibleRecords,
    first: Candidates,
    apart: Floats,
    rows: Ints,
    drawn: Floats,
) -> Floats:
    """Draw around the nearest candidates, round by round, and return the last round's mean."""
    records, axes = len(apart), len(possible.axes)
    parts = 0 if first.along is None else first.along[1]
    kept = KEPT_ON_ONE_AXIS * parts if parts else min(KEPT, drawn.shape[1] // 8)
    places = np.broadcast_to(first.places, (records, *first.places.shape))
    density = np.ones_like(apart)
    volume, values = 1.0, first.values[None]
    for luck in drawn:
        order = np.argpartition(apart, kept - 1, axis=1)[:, :kept]
        near = np.take_along_axis(places, order[..., None], axis=1)  # records x kept x axes
        # The kept ones fill a share of what was searched; boxes about them cover that share.
        volume *= kept / apart.shape[1]
        box = volume / kept
        half = 0.5 * box * parts if parts else min(0.5, box ** (1.0 / axes))
        parent = near[:, (luck[:, 0] * kept).astype(np.int64)]
        places = (parent + half * (2.0 * luck[:, 1:] - 1.0)) % 1.0
        density = _boxes(places, near, half)
        values = possible.values(places)
        apart = told.apart(rows, scoring.each(rows, values))
    weights = weighed(apart, told, kept) / density
    return np.asarray(np.einsum("rc,rcj->rj", weights / weights.sum(axis=1, keepdims=True), values))


def _even(parts: int, count: int = 0) -> Floats:
    """Return the middles of equal parts of 0 to 1, over and over up to ``count``."""
    return np.asarray((np.arange(count or parts) % parts + 0.5) / parts)


def _boxes(places: Floats, near: Floats, half: float) -> Floats:
    """Count the boxes that every place lies in: it was drawn from one, so there is one at least."""
    inside = np.ones((*places.shape[:2], near.shape[1]), dtype=np.bool_)
    for j in range(places.shape[2]):
        gap = np.abs(places[:, :, None, j] - near[:, None, :, j])
        inside &= np.minimum(gap, 1.0 - gap) <= half * (1.0 + 1e-9)
    return np.asarray(np.maximum(inside.sum(axis=2), 1).astype(np.float64))


def first_candidates(
    possible: PossibleRecords,
    records: int,
    cost: float,
    rng: np.random.Generator,
    listed: bool = True,
) -> Candidates:
    """Return all possible records where they are few, else an even set of them.

    Sobol's points moved by one random vector around the cube (Cranley and Patterson 1976). Where all
    axes but one can be listed, beside each of their records the middles of equal parts of that one.
    ``listed``: whether they may: not where equal lengths of an axis are not levels.
    """
    affordable = EFFORT / max(1.0, records * cost)
    most = int(
        2 ** np.floor(np.log2(np.clip(min(affordable, 8 * CELLS / possible.width), FEWEST, MOST)))
    )
    complete = possible.count() <= most
    at, beside = possible.longest()
    along = None
    if complete:
        places = possible.whole()
    elif beside * 2 * KEPT_ON_ONE_AXIS <= min(most, BESIDE) and (listed or len(possible.axes) == 1):
        along = (at, int(beside))
        places = possible.whole({at: min(most // along[1], ONE_AXIS)})
    else:
        from scipy.stats import qmc

        even = qmc.Sobol(len(possible.axes), scramble=False).random(most)
        places = (even + rng.random(len(possible.axes))) % 1.0
    return Candidates(places, possible.values(places), np.ones(len(places)), complete, along)
