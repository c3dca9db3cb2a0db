"""What rounded or noisy scores leave open: the posterior over the grid.

Where few points fit they are listed and weighed by the prior; where many do, the prior is taken
as a normal distribution, the equations as normal errors, and the mean has a closed form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints
from whatleaks.models.bits_rule import entropy_luck
from whatleaks.models.grid_priors import Prior
from whatleaks.models.grids import Grids
from whatleaks.models.lattice import (
    CHUNK,
    PASSES,
    LatticeSettings,
    alike,
    residual,
    right_sides,
)
from whatleaks.models.lattice_basis import (
    Basis,
    Equations,
    Unknowns,
    equations_left,
    exact_slopes,
    reduced,
    unknowns,
)
from whatleaks.models.lattice_search import nearest_plane, search
from whatleaks.models.readings import Longs, Readings

VANISHED = 5.0  # how far below its bound a score that was rounded away is sought, in logarithms
BLURRING = 8  # free columns: of more that take all equations the closed form tells as much
FAR = 6.0  # deviations of a squared length beyond which points are not looked for


@dataclass(frozen=True)
class Posterior:
    """``mean`` and ``mode`` of every record, ``sure``: the weight of the mode among those listed.

    ``listed``: whether points were listed; the others have the closed form in both.
    """

    mean: Floats
    mode: Floats
    sure: Floats
    listed: Bools


def posterior(
    readings: Readings,
    grids: Grids,
    prior: Prior,
    settings: LatticeSettings | None = None,
    noisy: bool = False,
) -> Posterior:
    """Return the posterior of every record; ``noisy`` errors are normal, others have hard bounds.

    A noise of deviation s is given as readings s * sqrt(3) to each side.
    """
    chosen = settings or LatticeSettings()
    unknown = unknowns(grids)
    records = len(readings)
    mean = np.zeros((records, len(grids)))
    mode = np.zeros((records, len(grids)))
    sure = np.zeros(records)
    listed = np.zeros(records, dtype=np.bool_)
    # A score that was rounded to zero is no equation, yet its class is below a bound. Where the
    # other scores alone would put it above, it is sought just below.
    gone = np.isneginf(readings.low)
    soft = readings
    if gone.any():
        first = mean.copy()
        for work in _geometries(readings, readings, grids, unknown, prior, chosen, noisy):
            first[work.rows], _ = work.closed_form()
        above = gone & (readings.outputs(first, np.arange(records)) > readings.high)
        soft = replace(readings, low=np.where(above, readings.high - VANISHED, readings.low))
    for work in _geometries(soft, readings, grids, unknown, prior, chosen, noisy):
        mean[work.rows], mode[work.rows] = work.closed_form()
        worth = len(work.left) or len(grids.free) <= BLURRING
        if (
            len(unknown.moves)
            and worth
            and entropy_luck(work.left, unknown, prior.grid_root) < math.log2(chosen.wider)
        ):
            work.listing(chosen.wider, mean, mode, sure, listed)
    return Posterior(mean, mode, sure, listed)


def _geometries(
    soft: Readings,
    hard: Readings,
    grids: Grids,
    unknown: Unknowns,
    prior: Prior,
    settings: LatticeSettings,
    noisy: bool,
) -> Iterator[_Alike]:
    """Yield the records in groups that share a geometry."""
    slopes = exact_slopes(soft.matrix, unknown)
    for rows, width in alike(soft, settings.octaves):
        left = equations_left(soft.matrix, width, grids.free, unknown, soft.normalised, slopes)
        whole = left
        if grids.free:
            whole = equations_left(soft.matrix, width, (), unknown, soft.normalised, slopes)
        both = soft.pick(rows), hard.pick(rows)
        yield _Alike(*both, grids, unknown, left, whole, prior, rows, noisy)


class _Alike:
    """The records of one geometry.

    ``left``: the equations without free columns, for the grid; ``whole``: all of them.
    """

    def __init__(
        self,
        readings: Readings,
        hard: Readings,
        grids: Grids,
        unknown: Unknowns,
        left: Equations,
        whole: Equations,
        prior: Prior,
        rows: Ints,
        noisy: bool,
    ) -> None:
        self.hard, self.grids, self.unknown = hard, grids, unknown
        self.left, self.whole = left, whole
        self.prior, self.rows, self.noisy = prior, rows, noisy
        self.told: Longs = right_sides(readings, left, unknown)
        self.all_told: Longs = right_sides(readings, whole, unknown)
        free = readings.matrix[:, list(grids.free)].astype(np.longdouble)
        self.free_steep: Longs = whole.mix @ free
        self.steep: Longs = np.concatenate([whole.steep, self.free_steep], axis=1)

    def closed_form(self) -> tuple[Floats, Floats]:
        """Return the mean under normal prior and errors, and the grid point next to it."""
        shape = (len(self.rows), self.steep.shape[1])
        centre = np.broadcast_to(self.prior.at(self.rows), shape)
        found = _normal_mean(self.all_told, self.steep, centre, self.prior.root)
        values = self.unknown.values(found[:, : self.prior.size])
        values[:, list(self.grids.free)] = found[:, self.prior.size :]
        values = np.clip(values, *self.grids.bounds())
        return values, self.grids.snap(values)

    def values(self, part: Ints, points: Ints) -> tuple[Floats, Floats]:
        """Return the encoded columns of grid points, the free ones at their expectation.

        Also the logarithm of how likely it is that free columns make up for what these points leave:
        minus infinity where none within their ranges do.
        """
        values = self.unknown.values(points)
        columns = list(self.grids.free)
        if not columns or not len(part):
            return values, np.zeros(len(part))
        size = self.prior.size
        centre = self.prior.free_centre(points, self.rows[part])
        over = self.all_told[part] - points.astype(np.longdouble) @ self.steep[:, :size].T
        root = self.prior.root[size:, size:]
        values[:, columns] = _normal_mean(over, self.free_steep, centre, root)
        values = np.clip(values, *self.grids.bounds())
        # One free column that the equations solve is as likely at every value of its range.
        alone = len(columns) == 1 and not self.left.short
        even = self.prior.flat and alone and not self.noisy
        logs = np.zeros(len(part)) if even else _normal_logs(over, self.free_steep, centre, root)
        return values, logs if self.noisy else np.where(self._reached(over), logs, -np.inf)

    def _reached(self, over: Longs) -> Bools:
        """Say where free columns within their ranges may add up to what is left of each equation."""
        ends = [self.free_steep * end[list(self.grids.free)] for end in self.grids.bounds()]
        slack = self.whole.reach + 1e-6
        least, most = np.minimum(*ends).sum(axis=1), np.maximum(*ends).sum(axis=1)
        return np.asarray(((over >= least - slack) & (over <= most + slack)).all(axis=1))

    def listing(self, width: int, mean: Floats, mode: Floats, sure: Floats, listed: Bools) -> None:
        """List the points near each record's target and weigh those that fit."""
        whiten: Floats = np.asarray(np.linalg.inv(self.prior.grid_root), dtype=np.float64)
        basis = reduced(self.unknown, self.left, whiten)
        points = self._start(basis, whiten)
        size = max(1, CHUNK // (width * max(len(basis.steps), len(self.grids))))
        for at in range(0, len(self.rows), size):
            part = np.arange(at, min(at + size, len(self.rows)))
            who, values, logs = self._near(part, points, basis, whiten, width)
            if len(who):
                _weigh(self.rows[who], values, logs, mean, mode, sure, listed)

    def _targets(self, part: Ints, points: Ints, whiten: Floats) -> Floats:
        centre = self.prior.at(self.rows[part])[:, : self.prior.size]
        beside = (centre - points) @ whiten.T
        return np.concatenate([beside, residual(self.told[part], points, self.left)], axis=1)

    def _start(self, basis: Basis, whiten: Floats) -> Ints:
        everyone = np.arange(len(self.rows))
        points = np.repeat(self.unknown.start[None, :], len(self.rows), axis=0)
        for _ in range(PASSES):
            points = points + nearest_plane(basis, self._targets(everyone, points, whiten))
        return points

    def _near(
        self, part: Ints, points: Ints, basis: Basis, whiten: Floats, width: int
    ) -> tuple[Ints, Floats, Floats]:
        """Return the points near the targets that fit: whose they are, values, log weights."""
        targets = self._targets(part, points[part], whiten)
        size = targets.shape[1]
        wide = math.sqrt(3.0 * size + FAR * math.sqrt(2.0 * size))
        reach = np.full(size, wide)
        found = search(basis, targets, np.full(len(part), wide), -reach, reach, width)
        who = part[found.rows]
        near = points[who] + found.moves
        good = self.unknown.inside(near)
        who, near = who[good], near[good]
        values, logs = self.values(who, near)
        logs = logs + self.prior.logs(near, self.rows[who])
        over = residual(self.told[who], near, self.left)
        if self.noisy:
            return who, values, logs - 0.5 * (over**2).sum(axis=1)
        if self.grids.free:
            fits = (np.abs(over) <= self.left.reach + 1e-6).all(axis=1) & np.isfinite(logs)
        else:
            fits = self.hard.fits(values, who)
        return who[fits], values[fits], logs[fits]


def _normal_mean(told: Longs, steep: Longs, centre: Floats, root: Floats) -> Floats:
    """Return the mean of normal unknowns (``centre``, factor ``root``) given told = steep x + 1."""
    over = np.asarray(told - centre.astype(np.longdouble) @ steep.T, dtype=np.float64)
    u, s, vt = np.linalg.svd(steep.astype(np.float64) @ root, full_matrices=False)
    gain = (vt.T * (s / (s**2 + 1.0))) @ u.T
    return np.asarray(centre + over @ gain.T @ root.T)


def _normal_logs(told: Longs, steep: Longs, centre: Floats, root: Floats) -> Floats:
    """Return the log-density, up to a constant, of what normal unknowns make of told = steep x + 1.

    Only along what the unknowns can move: the equations that are left without them say the rest.
    """
    over = np.asarray(told - centre.astype(np.longdouble) @ steep.T, dtype=np.float64)
    u, s, _ = np.linalg.svd(steep.astype(np.float64) @ root, full_matrices=False)
    return np.asarray(-0.5 * ((over @ u) ** 2 / (s**2 + 1.0)).sum(axis=1))


def _weigh(
    who: Ints,
    values: Floats,
    logs: Floats,
    mean: Floats,
    mode: Floats,
    sure: Floats,
    listed: Bools,
) -> None:
    """Fill in the mean and the mode of listed points, record by record."""
    order = np.lexsort((-logs, who))
    who, values, logs = who[order], values[order], logs[order]
    first = np.flatnonzero(np.concatenate([[True], np.diff(who) > 0]))
    count = np.diff(np.concatenate([first, [len(who)]]))
    weight = np.exp(logs - np.repeat(logs[first], count))
    total = np.add.reduceat(weight, first)
    there = who[first]
    mean[there] = np.add.reduceat(values * weight[:, None], first) / total[:, None]
    mode[there] = values[first]
    sure[there] = 1.0 / total
    listed[there] = True
