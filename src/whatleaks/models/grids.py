"""What values the columns of a table can take: the public schema, in encoded coordinates.

Columns are rarely real numbers: they are yes/no, categories, ages, counts, pixels, cents. A
grid says so: ``levels`` values from ``low`` in equal steps, or a short list of values, or free
(any number in a range). A one-hot group is one unknown: exactly one of its columns is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.codec import travels
from whatleaks.errors import UsageError

SPAN_OF_FREE = (0.0, 1.0)


@travels
@dataclass(frozen=True)
class Grid:
    """One encoded column: ``low + step * n`` for n in 0..levels-1, or one of ``values``.

    ``levels`` of 0 is a free column: any number from ``low`` to ``high``. ``blur``: how far a
    float may lie from the grid because its decimals have no exact float (0.1 has none).
    """

    low: float = 0.0
    step: float = 1.0
    levels: int = 2
    values: tuple[float, ...] = ()
    high: float = 1.0
    blur: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a grid with no values or no order."""
        if not all(map(math.isfinite, (self.low, self.step, self.high, *self.values))):
            raise UsageError("a grid needs finite numbers: give a column without bounds as free")
        if self.levels < 0 or (self.levels > 1 and not self.values and self.step <= 0.0):
            raise UsageError(
                f"a grid needs levels in steps above 0, got {self.levels} levels of {self.step}"
            )
        if self.free and self.high < self.low:
            raise UsageError(f"a free column runs from low to high, got {self.low} to {self.high}")
        if self.values and len(self.values) != self.levels:
            raise UsageError(f"a grid lists {len(self.values)} values as {self.levels} levels")
        if len(set(self.values)) != len(self.values):
            raise UsageError("a grid lists a value twice: two levels cannot be told apart")

    @property
    def free(self) -> bool:
        """Say whether the column is an ordinary real number."""
        return self.levels == 0

    @property
    def bits(self) -> float:
        """Return log2 of the number of levels; infinite for a free column."""
        return math.log2(self.levels) if self.levels else math.inf

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the least and the greatest value."""
        if self.free:
            return self.low, self.high
        if self.values:
            return min(self.values), max(self.values)
        return self.low, self.low + self.step * (self.levels - 1)

    def snap(self, values: Floats) -> Floats:
        """Return the nearest value of the grid; a free column is only kept in its range."""
        if self.free or self.levels == 1:
            return np.clip(values, *self.bounds)
        if self.values:
            listed = np.sort(np.array(self.values))
            return np.asarray(listed[np.searchsorted((listed[1:] + listed[:-1]) / 2, values)])
        places = np.clip(np.rint((values - self.low) / self.step), 0, self.levels - 1)
        return np.asarray(self.low + self.step * places)


@travels
@dataclass(frozen=True)
class Grids:
    """The grids of a table's encoded columns; ``one_hot`` names the columns of each group."""

    columns: tuple[Grid, ...]
    one_hot: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse groups that overlap or that are not made of yes/no columns."""
        grouped = [j for group in self.one_hot for j in group]
        if len(set(grouped)) != len(grouped):
            raise UsageError("a column stands in two one-hot groups: it can be in one only")
        for j in grouped:
            if not 0 <= j < len(self.columns) or self.columns[j] != BOOLEAN:
                raise UsageError(f"column {j} of a one-hot group is not a yes/no column of 0 and 1")
        if any(len(group) < 2 for group in self.one_hot):
            raise UsageError("a one-hot group needs at least 2 columns")

    def __len__(self) -> int:
        """Return the number of encoded columns."""
        return len(self.columns)

    @property
    def free(self) -> tuple[int, ...]:
        """Return the columns that are ordinary real numbers."""
        return tuple(j for j, grid in enumerate(self.columns) if grid.free)

    def bits(self) -> float:
        """Return the bits of one record's gridded columns: log2 of how many records there are.

        Free columns hold no finite number of bits; they cost an equation each and are left out.
        """
        grouped = {j for group in self.one_hot for j in group}
        single = (g.bits for j, g in enumerate(self.columns) if not g.free and j not in grouped)
        return math.fsum(single) + math.fsum(math.log2(len(group)) for group in self.one_hot)

    def entropy(self, sample: Floats) -> float:
        """Return the bits that the gridded columns hold where each one's frequencies are known.

        Column by column, so what columns say of each other is not taken off. A small ``sample``
        shows too few levels and gives too little.
        """
        grouped = {j for group in self.one_hot for j in group}
        single = [(j,) for j, g in enumerate(self.columns) if not g.free and j not in grouped]
        bits = 0.0
        for unknown in (*single, *self.one_hot):
            _, counts = np.unique(self.snap(sample)[:, list(unknown)], axis=0, return_counts=True)
            share = counts / counts.sum()
            bits -= float((share * np.log2(share)).sum())
        return bits

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the least and the greatest value of every column."""
        both = np.array([grid.bounds for grid in self.columns]).reshape(-1, 2)
        return both[:, 0].copy(), both[:, 1].copy()

    def snap(self, values: Floats) -> Floats:
        """Move every value to its grid; of a one-hot group the greatest column becomes 1."""
        snapped = np.empty_like(values)
        for j, grid in enumerate(self.columns):
            snapped[:, j] = grid.snap(values[:, j])
        for group in self.one_hot:
            columns = list(group)
            snapped[:, columns] = np.eye(len(columns))[values[:, columns].argmax(axis=1)]
        return snapped

    def pick(self, columns: tuple[int, ...]) -> Grids:
        """Return the grids of some columns, whole one-hot groups only, in the order given."""
        place = {column: i for i, column in enumerate(columns)}
        groups = []
        for group in self.one_hot:
            inside = [j in place for j in group]
            if any(inside) and not all(inside):
                raise UsageError("a one-hot group is one unknown: pick all of its columns or none")
            if all(inside):
                groups.append(tuple(place[j] for j in group))
        return Grids(tuple(self.columns[j] for j in columns), tuple(groups))


BOOLEAN = Grid(0.0, 1.0, 2)


def stepped(least: float, most: float, step: float, low: float, high: float) -> Grid:
    """Return the grid of ``least, least + step, ..., most`` scaled so that low..high is 0..1.

    ``low`` and ``high`` are the training rows' range; the schema's ``least`` and ``most`` may lie
    beyond it, and so may the grid beyond [0, 1].
    """
    if not high > low:
        raise UsageError(f"a column is scaled by a range, got {low} to {high}")
    if not (step > 0.0 and most >= least):
        raise UsageError(f"a grid runs from least to most, got {least} to {most} by {step}")
    span = high - low
    count = (most - least) / step
    levels = round(count) + 1
    if abs(count - round(count)) > 1e-6 * max(1.0, count) or levels > 2**53:
        raise UsageError(f"{least} to {most} is no whole number of steps of {step}")
    whole = all(float(number).is_integer() for number in (least, step, low, high))
    blur = 0.0 if whole else 2.0**-53 * max(abs(least), abs(most), abs(low), abs(high)) / span
    return Grid((least - low) / span, step / span, levels, blur=blur)


def whole_numbers(least: float, most: float, low: float, high: float) -> Grid:
    """Return the grid of the whole numbers least..most scaled so that low..high is 0..1."""
    return stepped(math.ceil(least), math.floor(most), 1.0, low, high)


def listed(values: tuple[float, ...], low: float, high: float) -> Grid:
    """Return the grid of a few values (categories by target mean) scaled so that low..high is 0..1."""
    if not high > low:
        raise UsageError(f"a column is scaled by a range, got {low} to {high}")
    scaled = tuple((value - low) / (high - low) for value in values)
    return Grid(min(scaled), 0.0, len(scaled), scaled)


def free(low: float = SPAN_OF_FREE[0], high: float = SPAN_OF_FREE[1]) -> Grid:
    """Return the grid of an ordinary real number between two bounds (of the scaled column)."""
    return Grid(low, 0.0, 0, (), high)


def scaled_grid(
    kind: str, least: float, most: float, low: float, high: float, step: float = 0.0
) -> Grid:
    """Derive a column's grid from its schema: its kind, its range and the range it is scaled by.

    ``kind`` as in the data room (boolean, integer, category, number, date ...). Categories and
    texts are numbered 0, 1, ...; numbers and dates are free unless a ``step`` is granted
    (1 for dates in whole seconds, 0.01 for amounts in cents).
    """
    if step > 0.0:
        return stepped(least, most, step, low, high)
    if kind in ("boolean", "integer", "category", "text", "id"):
        return whole_numbers(least, most, low, high)
    if not high > low:
        raise UsageError(f"a column is scaled by a range, got {low} to {high}")
    return free((least - low) / (high - low), (most - low) / (high - low))


def decimal_step(values: Floats, most_digits: int = 6) -> float:
    """Return the step of a column written with so many digits after the point; 0 if it has more.

    1 for whole numbers, 0.01 for amounts in cents.
    """
    for digits in range(most_digits + 1):
        scaled = values * 10.0**digits
        near = np.abs(scaled - np.rint(scaled)) <= 1e-9 * np.maximum(1.0, np.abs(scaled))
        if bool(near.all()):
            return float(10.0**-digits)
    return 0.0
