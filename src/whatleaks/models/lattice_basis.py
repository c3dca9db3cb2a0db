"""The lattice of a model: whole-number moves of a record against the scores' precision.

A record's grid point n gives the scores' logarithms up to their rounding. Moves that change no
output by more than its rounding, and no column by more than its range, are short vectors of a
lattice: n in units of its spread beside the equations in units of their error. One LLL
reduction serves all records with the same precision: only the target differs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from whatleaks.arrays import Floats, Ints
from whatleaks.models.grids import Grids
from whatleaks.models.readings import Longs

Whole = npt.NDArray[np.object_]  # Python's own integers: exact
SHIFT = 128  # binary places of exact coefficients
_WHOLE = np.frompyfunc(int, 1, 1)
ROOT3 = math.sqrt(3.0)  # half the width of a uniform error in units of its deviation


@dataclass(frozen=True)
class Unknowns:
    """The gridded columns as whole numbers: ``x = base + n @ spread``.

    ``moves`` are the steps that lead from one grid point to all others; a one-hot group or a
    listed column has one coordinate per choice, exactly one of which is 1.
    """

    base: Floats
    spread: Floats  # coordinates x columns
    levels: Ints  # of each coordinate
    groups: tuple[tuple[int, ...], ...]  # coordinates of which exactly one is 1
    centre: Floats
    weight: Floats  # one over the deviation of a coordinate
    moves: Ints  # moves x coordinates
    start: Ints
    bits: float

    def values(self, points: Ints | Floats) -> Floats:
        """Return the encoded columns of grid points (free columns stay 0)."""
        return np.asarray(self.base + points @ self.spread)

    def inside(self, points: Ints) -> npt.NDArray[np.bool_]:
        """Say which points lie on the grid."""
        good = ((points >= 0) & (points < self.levels)).all(axis=1)
        for group in self.groups:
            good &= points[:, list(group)].sum(axis=1) == 1
        return np.asarray(good)


def unknowns(grids: Grids) -> Unknowns:
    """Turn grids into whole-number coordinates."""
    columns = len(grids)
    base = np.zeros(columns)
    rows: list[Floats] = []
    levels: list[int] = []
    groups: list[tuple[int, ...]] = []
    grouped = {j for group in grids.one_hot for j in group}

    def choose(members: list[Floats]) -> None:
        groups.append(tuple(range(len(rows), len(rows) + len(members))))
        rows.extend(members)
        levels.extend([2] * len(members))

    for j, grid in enumerate(grids.columns):
        unit = np.zeros(columns)
        unit[j] = 1.0
        if grid.free or j in grouped:
            continue
        if grid.levels == 1:
            base[j] = grid.bounds[0]
        elif grid.values:
            choose([value * unit for value in grid.values])
        else:
            base[j] = grid.low
            rows.append(grid.step * unit)
            levels.append(grid.levels)
    for group in grids.one_hot:
        choose([np.eye(columns)[j] for j in group])
    return _unknowns(base, rows, levels, tuple(groups), grids.bits())


def _unknowns(
    base: Floats,
    rows: list[Floats],
    levels: list[int],
    groups: tuple[tuple[int, ...], ...],
    bits: float,
) -> Unknowns:
    size = len(rows)
    counts = np.array(levels, dtype=np.int64)
    centre = (counts - 1) / 2.0
    weight = 1.0 / np.sqrt((counts.astype(np.float64) ** 2 - 1.0) / 12.0)
    start = np.rint(centre).astype(np.int64)
    moves = list(np.eye(size, dtype=np.int64))
    first = {}
    for group in groups:
        # The centre of a simplex and its corners: unit variance in each of its directions.
        centre[list(group)] = 1.0 / len(group)
        weight[list(group)] = math.sqrt(len(group))
        start[list(group)] = 0
        start[group[0]] = 1
        first.update(dict.fromkeys(group[1:], group[0]))
        first[group[0]] = -1
    for j, other in first.items():
        if other >= 0:
            moves[j] = moves[j].copy()
            moves[j][other] = -1
    kept = [move for j, move in enumerate(moves) if first.get(j, 0) != -1]
    spread = np.array(rows).reshape(size, len(base))
    return Unknowns(
        base,
        spread,
        counts,
        groups,
        centre,
        weight,
        np.array(kept, dtype=np.int64).reshape(len(kept), size),
        start,
        bits,
    )


@dataclass(frozen=True)
class Equations:
    """The equations left when common terms and free columns are gone, in units of their error.

    ``mix`` turns intervals' middles into right sides; ``slopes`` says what each coordinate adds.
    """

    mix: Longs  # equations x outputs
    slopes: Whole  # equations x coordinates, times 2**(3 * SHIFT)
    steep: Longs  # the same as numbers
    reach: Floats  # how far an error within its interval can move each equation
    squared: float  # and how long the vector of these moves can be, squared
    short: int = 0  # free columns that no output was left to solve

    def __len__(self) -> int:
        """Return how many equations are left."""
        return len(self.mix)


def exact_slopes(matrix: Floats, unknown: Unknowns) -> Whole:
    """Return what each coordinate adds to each output, exactly, times 2**(2 * SHIFT)."""
    return np.asarray(_exact(matrix).dot(_exact(unknown.spread.T)))


def equations_left(
    matrix: Floats,
    width: Floats,
    free: tuple[int, ...],
    unknown: Unknowns,
    normalised: bool,
    exact: Whole | None = None,
) -> Equations:
    """Eliminate the softmax's common term and the free columns, exactly, and weigh the rest.

    ``width``: half of each output's interval; infinite where the output says nothing.
    Elimination is in rational numbers: a double's rounding is as large as what is looked for.
    ``exact``: the slopes of all outputs, where they were computed before.
    """
    told = np.flatnonzero(np.isfinite(width))
    nuisance = matrix[:, list(free)]
    if normalised:
        nuisance = np.concatenate([np.ones((len(matrix), 1)), nuisance], axis=1)
    pivots, kept = _pivots(nuisance[told], width[told])
    combine = _elimination(nuisance[told][:, kept], pivots)  # rows x told, exact
    rows = combine.astype(np.float64) * 2.0**-SHIFT
    # The errors are rounding: uniform, deviation width / sqrt(3), independent between outputs.
    noise = rows * (width[told] / ROOT3)
    whiten = np.linalg.inv(np.linalg.cholesky(noise @ noise.T)) if len(rows) else noise[:, :0]
    mixed = _exact(whiten).dot(combine) if len(rows) else combine
    whole = exact_slopes(matrix, unknown) if exact is None else exact
    slopes = mixed.dot(whole[told])
    mix = np.zeros((len(rows), len(matrix)), dtype=np.longdouble)
    mix[:, told] = _long(mixed, 2 * SHIFT)
    return Equations(
        mix,
        slopes // (1 << SHIFT) if slopes.size else slopes,
        _long(slopes, 4 * SHIFT),
        np.asarray(np.abs(whiten @ rows) @ width[told]),
        3.0 * len(told),  # whitening is a projection of errors in units of their deviations
        nuisance.shape[1] - len(pivots),
    )


def _pivots(nuisance: Floats, width: Floats) -> tuple[list[int], list[int]]:
    """Choose an output to give up for each nuisance column: the one that knows it best."""
    work = nuisance / width[:, None]
    scale = np.abs(work).max(axis=0, initial=0.0)
    rows: list[int] = []
    kept: list[int] = []
    for column in range(work.shape[1]):
        size = np.abs(work[:, column])
        size[rows] = 0.0
        if not len(size) or size.max() <= 1e-12 * scale[column]:
            continue  # no output left tells this column: it changes none of the others
        best = int(size.argmax())
        factor = work[:, column] / work[best, column]
        factor[best] = 0.0
        work = work - factor[:, None] * work[best]
        rows.append(best)
        kept.append(column)
    return rows, kept


def _elimination(nuisance: Floats, pivots: list[int]) -> Whole:
    """Return combinations of the other outputs with the pivots in which no nuisance is left."""
    from flint import fmpq, fmpq_mat

    count = len(nuisance)
    others = [i for i in range(count) if i not in set(pivots)]
    combine = np.zeros((len(others), count), dtype=object)
    for row, i in enumerate(others):
        combine[row, i] = 1 << SHIFT
    if not pivots or not others:
        return combine
    size = len(pivots)

    def exact(rows: list[int]) -> Any:
        entries = [
            fmpq(*float(nuisance[i, j]).as_integer_ratio()) for i in rows for j in range(size)
        ]
        return fmpq_mat(len(rows), size, entries)

    # others = share * pivots in every nuisance column, so others - share * pivots has none.
    share = exact(pivots).transpose().solve(exact(others).transpose()).transpose()
    for row in range(len(others)):
        for at, pivot in enumerate(pivots):
            ratio = share[row, at]
            combine[row, pivot] = -((int(ratio.p) << SHIFT) // int(ratio.q))
    return combine


def _exact(values: Floats) -> Whole:
    """Return floats as whole numbers times 2**-SHIFT; every place of a normal weight is kept."""
    whole = np.empty(values.shape, dtype=object)
    for at, value in np.ndenumerate(values):
        top, bottom = float(value).as_integer_ratio()
        whole[at] = (top << SHIFT) // bottom
    return whole


def _long(whole: Whole, places: int) -> Longs:
    """Return whole numbers times 2**-places in extended precision: a double and what it leaves."""
    if not whole.size:
        return np.zeros(whole.shape, dtype=np.longdouble)
    high = whole.astype(np.float64)
    low = (whole - _WHOLE(high)).astype(np.float64)
    parts = np.ldexp(high.astype(np.longdouble), -places)
    return np.asarray(parts + np.ldexp(low.astype(np.longdouble), -places))


@dataclass(frozen=True)
class Basis:
    """A reduced basis: ``steps`` (whole-number moves) and their ``vectors`` as floats."""

    steps: Ints
    vectors: Floats
    q: Floats
    r: Floats


def reduced(unknown: Unknowns, left: Equations, prior: Floats | None = None) -> Basis:
    """Reduce the lattice once. ``prior`` (rows x coordinates) replaces the ranges' weights."""
    from flint import fmpz_mat

    weight = np.diag(unknown.weight) if prior is None else prior
    count = len(unknown.moves)
    # Fine enough that rounding to whole numbers moves no vector by more than a small part of it.
    places = math.ceil(math.log2(float(unknown.levels.max(initial=2)))) + 8
    shift = 3 * SHIFT - places
    rows = []
    beside = np.rint(np.ldexp(unknown.moves @ weight.T, places))
    across = unknown.moves.astype(object).dot(left.slopes.T) if len(left) else None
    for i in range(count):
        row = [int(entry) for entry in beside[i]]
        if across is not None:
            row += [int(entry) >> shift for entry in across[i]]
        rows.append(row)
    _, turn = fmpz_mat(rows).lll(True)
    turned = np.array([[int(entry) for entry in row] for row in turn.tolist()], dtype=object)
    whole = turned.dot(unknown.moves.astype(object))
    vectors = whole.astype(np.float64) @ weight.T
    if len(left):
        exact = np.asarray(_long(whole.dot(left.slopes.T), 3 * SHIFT), dtype=np.float64)
        vectors = np.concatenate([vectors, exact], axis=1)
    q, r = np.linalg.qr(vectors.T)
    sign = np.where(np.diag(r) < 0.0, -1.0, 1.0)
    steps = np.array([[int(entry) for entry in row] for row in whole], dtype=np.int64)
    return Basis(steps, vectors, q * sign, sign[:, None] * r)
