"""What the unknown columns of a record can be, as places in a cube: uniform places, uniform records.

A column is an axis, and so is a one-hot group as a whole. A place between 0 and 1 on an axis stands
for a level of the grid (each has the same length), or for a value of a free column.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.models.grids import Grid, Grids


@dataclass(frozen=True)
class Axis:
    """``columns`` that one place decides; ``table`` lists what they can be, empty for a free column."""

    columns: tuple[int, ...]
    grid: Grid
    table: Floats  # levels x columns, where they are listed

    @property
    def levels(self) -> float:
        """How many values there are; infinite for a free column."""
        if len(self.table):
            return float(len(self.table))
        return math.inf if self.grid.free else float(self.grid.levels)

    def values(self, places: Floats) -> Floats:
        """Return what the columns are at places between 0 and 1, in one more dimension."""
        if len(self.table):
            return np.asarray(
                self.table[
                    np.minimum(places * len(self.table), len(self.table) - 1).astype(np.int64)
                ]
            )
        low, high = self.grid.bounds
        if self.grid.free:
            return np.asarray(low + places * (high - low))[..., None]
        level = np.minimum(np.floor(places * self.grid.levels), self.grid.levels - 1)
        return np.asarray(self.grid.low + self.grid.step * level)[..., None]


@dataclass(frozen=True)
class PossibleRecords:
    """The axes of a table's unknown columns."""

    axes: tuple[Axis, ...]
    width: int

    def values(self, places: Floats) -> Floats:
        """Return records at places of the cube: the last dimension, axes, becomes columns."""
        found = np.empty((*places.shape[:-1], self.width))
        for i, axis in enumerate(self.axes):
            found[..., list(axis.columns)] = axis.values(places[..., i])
        return found

    def count(self) -> float:
        """Return how many records are possible: infinite with a free column."""
        return math.prod(axis.levels for axis in self.axes)

    def longest(self) -> tuple[int, float]:
        """Return which axis has most levels, and how many records the others make."""
        at = int(np.argmax([axis.levels for axis in self.axes]))
        return at, math.prod(axis.levels for i, axis in enumerate(self.axes) if i != at)

    def whole(self, parts: Mapping[int, int] | None = None) -> Floats:
        """Return the places of all possible records, each in the middle of its level.

        ``parts``: in how many equal ones some axes are cut instead.
        """
        cut = parts or {}
        levels = [cut[i] if i in cut else int(axis.levels) for i, axis in enumerate(self.axes)]
        numbers = np.indices(levels).reshape(len(levels), -1).T
        return np.asarray((numbers + 0.5) / np.array(levels))


def possible_records(
    unknown: int, grids: Grids | None, low: Floats, high: Floats
) -> PossibleRecords:
    """Return what the schema's grids allow; without them any value between ``low`` and ``high``."""
    none = np.zeros((0, 1))
    if grids is None:
        bounds = [Grid(float(a), 0.0, 0, (), float(b)) for a, b in zip(low, high, strict=True)]
        return PossibleRecords(
            tuple(Axis((j,), grid, none) for j, grid in enumerate(bounds)), unknown
        )
    axes = [Axis(group, grids.columns[group[0]], np.eye(len(group))) for group in grids.one_hot]
    grouped = {j for group in grids.one_hot for j in group}
    for j, grid in enumerate(grids.columns):
        if j not in grouped:
            axes.append(
                Axis((j,), grid, np.sort(np.array(grid.values))[:, None] if grid.values else none)
            )
    return PossibleRecords(tuple(axes), unknown)
