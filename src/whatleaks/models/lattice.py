"""Decode released numbers into grid points: which records fit, and is it the only one.

For each record: intervals for linear outputs (``Readings``) and a grid for every column. The
answer is a point, how many points fit, and a status that is never more certain than the bits:

- unique: one point fits, and a wrong one would fit by luck in less than ``doubt`` of cases;
- several: more than one point fits;
- none: no point of this grid fits (the whole grid was searched);
- cannot: the bits run out, or the search was cut before it could tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints
from whatleaks.codec import travels
from whatleaks.errors import UsageError
from whatleaks.models.bits_rule import expected_luck
from whatleaks.models.grids import Grids
from whatleaks.models.lattice_basis import (
    Basis,
    Equations,
    Unknowns,
    equations_left,
    exact_slopes,
    reduced,
    unknowns,
)
from whatleaks.models.lattice_search import Found, nearest_plane, search
from whatleaks.models.readings import Longs, Readings

UNIQUE, SEVERAL, NONE, CANNOT = 0, 1, 2, 3
STATUS = ("unique", "several", "none", "cannot")
PASSES = 3  # of nearest plane: the first works with long numbers and loses places
CHUNK = 1 << 22  # numbers held at once in a search


@travels
@dataclass(frozen=True)
class LatticeSettings:
    """``width``: branches kept a record; ``wider``: once more where nothing was found.

    ``doubt``: the chance of a wrong claim that is still called certain. ``octaves``: records
    whose errors differ by less than a factor of two to this power share a reduction.
    ``sharp``: a free column counts as read where its error is below this part of its range.
    ``trust_grid``: take the granted grid as right beyond doubt; one point left by a complete
    search is then proof enough, however few bits there are to spare.
    """

    width: int = 32
    wider: int = 1024
    doubt: float = 2.0**-12
    octaves: float = 1.0
    sharp: float = 1e-6
    trust_grid: bool = False

    def __post_init__(self) -> None:
        """Refuse settings with no meaning."""
        if self.width < 1 or self.wider < self.width:
            raise UsageError(f"a beam needs 1 <= width <= wider, got {self.width}, {self.wider}")
        if not 0.0 < self.doubt < 1.0 or self.octaves <= 0.0:
            raise UsageError(f"doubt lies between 0 and 1, got {self.doubt}")


@dataclass(frozen=True)
class Decoded:
    """``values``: the fitting record (nearest to the middle of the grid where several fit).

    Where none was found a row holds the nearest plane's point moved into range, which does not
    fit: see ``status``. ``fits``: how many points were found to fit; ``complete``: whether these are all;
    ``luck``: log2 of how many wrong points are expected to fit by chance.
    """

    values: Floats
    status: Ints
    fits: Ints
    complete: Bools
    luck: Floats
    reductions: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        """Return the status of each record as a word."""
        return tuple(STATUS[s] for s in self.status)


def decode(readings: Readings, grids: Grids, settings: LatticeSettings | None = None) -> Decoded:
    """Find the grid points behind the readings of every record."""
    chosen = settings or LatticeSettings()
    unknown = unknowns(grids)
    records = len(readings)
    answer = Decoded(
        np.zeros((records, len(grids))),
        np.full(records, CANNOT, dtype=np.int64),
        np.zeros(records, dtype=np.int64),
        np.zeros(records, dtype=np.bool_),
        np.full(records, unknown.bits),
    )
    reductions = 0
    slopes = exact_slopes(readings.matrix, unknown)
    for rows, width in alike(readings, chosen.octaves):
        left = equations_left(
            readings.matrix, width, grids.free, unknown, readings.normalised, slopes
        )
        reductions += _decode_alike(readings, rows, left, unknown, grids, chosen, answer)
    return Decoded(
        answer.values, answer.status, answer.fits, answer.complete, answer.luck, reductions
    )


def alike(readings: Readings, octaves: float) -> list[tuple[Ints, Floats]]:
    """Group records whose outputs are equally exact; return rows and half widths of each group."""
    half = (readings.high - readings.low) / 2.0
    with np.errstate(divide="ignore"):
        size = np.log2(half)
    if len(half) and np.isfinite(size).all() and np.ptp(size, axis=0).max() <= octaves:
        return [(np.arange(len(half)), half.max(axis=0))]
    found, group = np.unique(np.ceil(size / octaves), axis=0, return_inverse=True)
    group = group.reshape(-1)
    # The greatest width of the group: every member's error lies within it.
    return [
        (rows, half[rows].max(axis=0))
        for rows in (np.flatnonzero(group == g) for g in range(len(found)))
    ]


def _decode_alike(
    readings: Readings,
    rows: Ints,
    left: Equations,
    unknown: Unknowns,
    grids: Grids,
    settings: LatticeSettings,
    answer: Decoded,
) -> int:
    """Decode records that share a geometry; fill ``answer``; return the number of reductions."""
    luck = expected_luck(left, unknown)
    answer.luck[rows] = luck
    here = readings.pick(rows)
    # Every equation went to a free column, or far more points fit than a search could hold.
    if luck > math.log2(settings.wider):
        points = np.repeat(unknown.start[None, :], len(rows), axis=0)
        values, _ = completed(here, np.arange(len(rows)), points, unknown, grids)
        answer.values[rows] = np.clip(values, *grids.bounds())
        return 0
    if not len(unknown.moves):  # free columns only: equality solving
        everyone = np.arange(len(rows))
        points = np.zeros((len(rows), 0), dtype=np.int64)
        values, spill = completed(here, everyone, points, unknown, grids)
        answer.values[rows] = values
        told = right_sides(here, left, unknown)
        good = _fit(here, everyone, values, residual(told, points, left), left, grids, spill)
        answer.fits[rows], answer.complete[rows] = good, True
        solved = CANNOT if _blunt(spill, grids, settings) else UNIQUE
        answer.status[rows] = np.where(good, SEVERAL if left.short else solved, NONE)
        return 0
    basis = reduced(unknown, left)
    told = right_sides(here, left, unknown)
    points = babai(told, basis, left, unknown)
    values, _ = completed(here, np.arange(len(rows)), points, unknown, grids)
    values = np.clip(values, *grids.bounds())
    fits = np.zeros(len(rows), dtype=np.int64)
    complete = np.zeros(len(rows), dtype=np.bool_)
    for width in (settings.width, settings.wider):
        todo = np.flatnonzero(~complete & (fits == 0))
        if not len(todo):
            break
        size = max(1, CHUNK // (width * max(1, len(basis.steps))))
        for part in (todo[at : at + size] for at in range(0, len(todo), size)):
            found = around(told[part], points[part], basis, left, unknown, width)
            who = part[found.rows]
            near = points[who] + found.moves
            on_grid = unknown.inside(near)
            who, near, far = who[on_grid], near[on_grid], found.squared[on_grid]
            guess, spill = completed(here, who, near, unknown, grids)
            over = residual(told[who], near, left)
            good = _fit(here, who, guess, over, left, grids, spill)
            complete[part] = found.complete
            fits[part] = np.bincount(who[good], minlength=len(rows))[part]
            who, guess, far = who[good], guess[good], far[good]
            order = np.lexsort((far, who))
            first = (
                order[np.concatenate([[True], np.diff(who[order]) > 0])] if len(order) else order
            )
            values[who[first]] = guess[first]
            points[who[first]] = near[good][first]
    fits += _beside(here, told, points, fits, complete, basis, left, unknown, grids)
    answer.values[rows], answer.fits[rows], answer.complete[rows] = values, fits, complete
    status = np.full(len(rows), CANNOT, dtype=np.int64)
    status[complete & (fits == 0)] = NONE
    status[fits > 1] = SEVERAL
    proven = (fits == 1) & ((luck <= math.log2(settings.doubt)) | (settings.trust_grid & complete))
    _, spill = completed(here, np.arange(len(rows)), points, unknown, grids)
    if left.short:
        status[proven] = SEVERAL
    elif not _blunt(spill, grids, settings):
        status[proven] = UNIQUE
    answer.status[rows] = status
    return 1


def right_sides(readings: Readings, left: Equations, unknown: Unknowns) -> Longs:
    """Return what the whole-number coordinates must add up to, in units of its error."""
    middle = np.where(np.isfinite(readings.low), (readings.low + readings.high) / 2.0, 0.0)
    base = unknown.base.astype(np.longdouble) @ readings.matrix.T.astype(np.longdouble)
    return (middle.astype(np.longdouble) - readings.known - base) @ left.mix.T


def residual(told: Longs, points: Ints, left: Equations) -> Floats:
    """Return what the points leave unexplained."""
    return np.asarray(told - points.astype(np.longdouble) @ left.steep.T, dtype=np.float64)


def babai(told: Longs, basis: Basis, left: Equations, unknown: Unknowns) -> Ints:
    """Return the nearest plane's point of each record."""
    points = np.repeat(unknown.start[None, :], len(told), axis=0)
    for _ in range(PASSES):
        beside = (unknown.centre - points) * unknown.weight
        move = nearest_plane(basis, np.concatenate([beside, residual(told, points, left)], axis=1))
        if not move.any():
            break
        points = points + move
    return points


def around(
    told: Longs, points: Ints, basis: Basis, left: Equations, unknown: Unknowns, width: int
) -> Found:
    """Search around given points for all that lie on the grid and fit the equations."""
    beside = (unknown.centre - points) * unknown.weight
    targets = np.concatenate([beside, residual(told, points, left)], axis=1)
    low = np.concatenate([-unknown.centre * unknown.weight, -left.reach])
    top = (unknown.levels - 1 - unknown.centre) * unknown.weight
    high = np.concatenate([top, left.reach])
    radius = math.sqrt(grid_radius(unknown) + left.squared)
    return search(basis, targets, np.full(len(told), radius), low, high, width)


def grid_radius(unknown: Unknowns) -> float:
    """Return the greatest squared distance of a grid point from the centre, in deviations."""
    single = np.ones(len(unknown.levels), dtype=np.bool_)
    for group in unknown.groups:
        single[list(group)] = False
    far = (unknown.centre * unknown.weight)[single]
    return float((far**2).sum()) + sum(len(group) - 1.0 for group in unknown.groups)


def _beside(
    readings: Readings,
    told: Longs,
    points: Ints,
    fits: Ints,
    complete: Bools,
    basis: Basis,
    left: Equations,
    unknown: Unknowns,
    grids: Grids,
) -> Ints:
    """Count fits one short basis vector away from the found ones, where the search was cut.

    Equal or proportional weights make such vectors: moves that no score can show.
    """
    more = np.zeros(len(points), dtype=np.int64)
    rows = np.flatnonzero(~complete & (fits == 1))
    if not len(rows):
        return more
    visible = residual(np.zeros((1, len(left)), np.longdouble), basis.steps, left)
    for move in basis.steps[(visible**2).sum(axis=1) <= 4.0 * left.squared]:
        for sign in (1, -1):
            near = points[rows] + sign * move
            inside = unknown.inside(near)
            who, near = rows[inside], near[inside]
            guess, spill = completed(readings, who, near, unknown, grids)
            over = residual(told[who], near, left)
            more[who] += _fit(readings, who, guess, over, left, grids, spill)
    return more


def completed(
    readings: Readings, rows: Ints, points: Ints | Floats, unknown: Unknowns, grids: Grids
) -> tuple[Floats, Floats]:
    """Return the encoded columns of points, the free ones solved from what the others leave.

    Also how far off each free column may be, given the outputs' errors.
    """
    values = unknown.values(points)
    columns = list(grids.free)
    if not columns or not len(rows):
        return values, np.zeros(len(columns))
    low, high = readings.low[rows], readings.high[rows]
    half = (high - low) / 2.0
    widest = half.max(axis=0)
    weight = np.where(np.isfinite(widest), 1.0 / np.maximum(widest, 1e-300), 0.0)
    middle = np.where(np.isfinite(half), (low + high) / 2.0, 0.0)
    least, most = grids.bounds()
    values[:, columns] = ((least + most) / 2.0)[columns]
    unexplained = middle - readings.known[rows] - values @ readings.matrix.T
    nuisance = readings.matrix[:, columns]
    if readings.normalised:
        nuisance = np.concatenate([nuisance, np.ones((len(nuisance), 1))], axis=1)
    nuisance = nuisance * weight[:, None]
    shift, *_ = np.linalg.lstsq(nuisance, (unexplained * weight).astype(np.float64).T, rcond=1e-13)
    values[:, columns] += shift.T[:, : len(columns)]
    return values, np.abs(np.linalg.pinv(nuisance, rcond=1e-13)).sum(axis=1)[: len(columns)]


def _blunt(spill: Floats, grids: Grids, settings: LatticeSettings) -> bool:
    """Say whether some free column is known too loosely to be called read."""
    least, most = grids.bounds()
    span = (most - least)[list(grids.free)]
    return bool((spill > settings.sharp * np.maximum(span, 1e-300)).any())


def _fit(
    readings: Readings,
    rows: Ints,
    values: Floats,
    over: Floats,
    left: Equations,
    grids: Grids,
    spill: Floats,
) -> Bools:
    """Say which candidates explain the release.

    With free columns the outputs themselves cannot be checked, for the solved values took up
    their errors: what the elimination left must then lie within its bounds, and the free
    columns in their ranges, as exactly as they are known.
    """
    if not grids.free:
        return readings.fits(values, rows)
    columns = list(grids.free)
    least, most = grids.bounds()
    slack = spill + 1e-9
    inside = (values[:, columns] >= least[columns] - slack) & (
        values[:, columns] <= most[columns] + slack
    )
    good = (np.abs(over) <= left.reach + 1e-6).all(axis=1) & (
        (over**2).sum(axis=1) <= left.squared * (1.0 + 1e-6)
    )
    if left.short:  # some free columns are open: others of their values may be in range
        return np.asarray(good)
    return np.asarray(inside.all(axis=1) & good)
