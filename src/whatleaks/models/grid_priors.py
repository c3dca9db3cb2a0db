"""What is known of the unknown columns before any score: nothing, frequencies, whole records.

A prior is a centre for every record and a covariance over the grid's coordinates followed by
the free columns. Its factor is lower triangular, so that its first block is the grid's own and
the rest says what the grid's coordinates tell about the free columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.errors import AttackError
from whatleaks.models.grids import Grids
from whatleaks.models.lattice_basis import Unknowns, unknowns
from whatleaks.models.ridge import fitted

LEAST = 1e-6  # the least deviation of a free column


@dataclass(frozen=True)
class Prior:
    """``root``: the factor of the covariance; ``size``: how many coordinates are the grid's.

    ``tables``: log-frequency of each level of each coordinate (none: the normal density, or,
    where ``flat``, all grid points alike).
    """

    centre: Floats  # records (or 1) x (coordinates, free columns)
    root: Floats
    size: int
    flat: bool = False
    tables: tuple[Floats, ...] = ()

    @property
    def grid_root(self) -> Floats:
        """Return the factor of the grid coordinates' covariance."""
        return self.root[: self.size, : self.size]

    def at(self, rows: Ints) -> Floats:
        """Return the centres of some records."""
        return self.centre if len(self.centre) == 1 else self.centre[rows]

    def pick(self, rows: Ints) -> Prior:
        """Return the prior of some records."""
        return replace(self, centre=self.at(rows))

    def logs(self, points: Ints, rows: Ints) -> Floats:
        """Return the logarithm of the prior of each grid point, up to a constant."""
        if self.flat:
            return np.zeros(len(points))
        if self.tables:
            found = [table[points[:, j]] for j, table in enumerate(self.tables)]
            return np.asarray(np.sum(found, axis=0)) if found else np.zeros(len(points))
        away = points - self.at(rows)[:, : self.size]
        scaled = np.linalg.solve(self.grid_root, away.T)
        return np.asarray(-0.5 * (scaled**2).sum(axis=0))

    def free_centre(self, points: Ints, rows: Ints) -> Floats:
        """Return where the free columns are expected, given the grid's coordinates."""
        centre = self.at(rows)
        scaled = np.linalg.solve(self.grid_root, (points - centre[:, : self.size]).T)
        return np.asarray(centre[:, self.size :] + (self.root[self.size :, : self.size] @ scaled).T)


def flat_prior(grids: Grids) -> Prior:
    """Return the prior of one who knows the grid only.

    The training rows span 0..1 of every scaled column, and most records lie there: that part of
    a longer grid gives the centre and the spread, as one half does for half*.
    """
    unknown = unknowns(grids)
    centre, deviation = unknown.centre.copy(), 1.0 / unknown.weight
    grouped = {j for group in unknown.groups for j in group}
    for j, row in enumerate(unknown.spread):
        if j in grouped:
            continue
        column = int(np.flatnonzero(row)[0])
        zero, one = ((end - unknown.base[column]) / row[column] for end in (0.0, 1.0))
        first, last = max(0.0, zero), min(float(unknown.levels[j] - 1), one)
        if last > first:
            centre[j] = (first + last) / 2.0
            deviation[j] = math.sqrt(((last - first + 1.0) ** 2 - 1.0) / 12.0)
    ends = [(max(grids.columns[j].low, 0.0), min(grids.columns[j].high, 1.0)) for j in grids.free]
    middles = [(low + high) / 2.0 for low, high in ends]
    widths = [max((high - low) / math.sqrt(12.0), LEAST) for low, high in ends]
    return Prior(
        np.concatenate([centre, middles])[None, :],
        np.diag(np.concatenate([deviation, widths])),
        len(centre),
        flat=True,
    )


def frequency_prior(grids: Grids, sample: Floats) -> Prior:
    """Return the prior of one who knows each column's frequencies, from ``sample`` values of it.

    All levels of a column share one record more than was seen: none is impossible.
    """
    if not len(sample):
        raise AttackError("frequencies need at least 1 auxiliary record, got 0")
    unknown = unknowns(grids)
    points = to_points(sample, grids, unknown)
    tables: list[Floats] = []
    centre, deviation = [], []
    for j, levels in enumerate(unknown.levels):
        counts = np.bincount(np.clip(points[:, j], 0, levels - 1), minlength=levels) + 1.0 / levels
        share = counts / counts.sum()
        at = np.arange(levels)
        mean = float(share @ at)
        tables.append(np.log(share))
        centre.append(mean)
        deviation.append(math.sqrt(max(float(share @ (at - mean) ** 2), 1e-4)))
    for group in unknown.groups:  # exactly one is chosen: its frequency alone counts
        for j in group:
            tables[j] = np.array([0.0, tables[j][1]])
    for j in grids.free:
        centre.append(float(sample[:, j].mean()))
        deviation.append(max(float(sample[:, j].std()), LEAST))
    return Prior(np.array(centre)[None, :], np.diag(deviation), len(tables), tables=tuple(tables))


def auxiliary_prior(grids: Grids, own: Floats, known_own: Floats, known: Floats) -> Prior:
    """Return the prior of one who has some complete records beside the targets' ``own`` columns.

    A ridge regression of the unknown columns on the own ones, and the covariance of what it
    misses on records that are left out, drawn towards independent columns as strongly as one
    record per column.
    """
    if len(known) != len(known_own):
        raise AttackError(f"{len(known_own)} own records do not fit {len(known)} of the partner's")
    unknown = unknowns(grids)
    size = len(unknown.levels)
    points = to_points(known, grids, unknown).astype(np.float64)
    seen = np.concatenate([points, known[:, list(grids.free)]], axis=1)
    line = fitted(known_own, seen)
    pull = float(seen.shape[1])
    # Whole numbers are blurred by a step; a level that was never seen is not impossible.
    least = np.full(seen.shape[1], LEAST**2)
    least[:size] = (0.25 / unknown.weight) ** 2 / len(seen) + 1.0 / 12.0
    alone = np.maximum((line.left_out**2).mean(axis=0), least)
    together = line.left_out.T @ line.left_out + pull * np.diag(alone)
    root = np.linalg.cholesky(np.asarray(together / (len(seen) + pull), dtype=np.float64))
    return Prior(line(own), np.asarray(root, dtype=np.float64), size)


def to_points(values: Floats, grids: Grids, unknown: Unknowns) -> Ints:
    """Return the grid coordinates of encoded columns, each moved to its nearest level."""
    snapped = grids.snap(values)
    points = np.zeros((len(values), len(unknown.levels)), dtype=np.int64)
    grouped = {j for group in unknown.groups for j in group}
    for j, row in enumerate(unknown.spread):
        if j not in grouped:
            column = int(np.flatnonzero(row)[0])
            away = (snapped[:, column] - unknown.base[column]) / row[column]
            points[:, j] = np.rint(away).astype(np.int64)
    for group in unknown.groups:
        choices = unknown.spread[list(group)]
        used = np.flatnonzero(np.abs(choices).sum(axis=0))
        away = ((snapped[:, None, used] - choices[None, :, used]) ** 2).sum(axis=2)
        points[np.arange(len(values)), np.array(group)[away.argmin(axis=1)]] = 1
    return points
