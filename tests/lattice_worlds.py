"""Random linear federations on grids, and the slow reference: try every point."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints
from whatleaks.models.additive import Additive
from whatleaks.models.grids import BOOLEAN, Grid, Grids, free, listed, whole_numbers
from whatleaks.models.linear import Linear
from whatleaks.models.precision import Precision, decimals, float32, float64
from whatleaks.models.readings import Readings, score_readings


@dataclass(frozen=True)
class World:
    """A model, the grids, own and secret columns, and the scores as released."""

    model: Additive
    grids: Grids
    own: Floats
    secret: Floats
    scores: Floats
    precision: Precision

    @property
    def readings(self) -> Readings:
        """What the scores say."""
        active, passive = self.model.active, self.model.passive
        assert isinstance(active, Linear)
        assert isinstance(passive, Linear)
        return score_readings(self.own, self.scores, active, passive, self.grids, self.precision)

    def exact(self, values: Floats) -> Bools:
        """Which records have every gridded column right."""
        gridded = [j for j in range(len(self.grids)) if j not in self.grids.free]
        return (np.abs(values - self.secret)[:, gridded] < 1e-9).all(axis=1)

    def read(self, values: Floats) -> Bools:
        """Which records have every column right, free ones to a millionth of their range."""
        free = list(self.grids.free)
        near = np.abs(values - self.secret)[:, free] <= 1e-6
        return np.asarray(self.exact(values) & near.all(axis=1))


def released(scores: Floats, precision: str) -> tuple[Floats, Precision]:
    """Scores as they leave the house: "64", "32" or a number of decimals."""
    if precision == "64":
        return scores, float64()
    if precision == "32":
        return scores.astype(np.float32).astype(np.float64), float32()
    return np.round(scores, int(precision)), decimals(int(precision))


def draw(grids: Grids, records: int, rng: np.random.Generator) -> Floats:
    """Records drawn evenly from the grid."""
    secret = np.zeros((records, len(grids)))
    for j, grid in enumerate(grids.columns):
        if grid.free:
            secret[:, j] = rng.uniform(*grid.bounds, records)
        elif grid.values:
            secret[:, j] = rng.choice(grid.values, records)
        else:
            secret[:, j] = grid.low + grid.step * rng.integers(0, grid.levels, records)
    for group in grids.one_hot:
        secret[:, list(group)] = np.eye(len(group))[rng.integers(0, len(group), records)]
    return secret


def world(
    grids: Grids,
    classes: int,
    precision: str,
    rng: np.random.Generator,
    records: int = 20,
    weights: Floats | None = None,
    shift: Floats | None = None,
) -> World:
    """A random model over the grids; ``shift`` moves the secret off its grid."""
    outputs = 1 if classes == 2 else classes
    if weights is None:
        weights = rng.normal(size=(len(grids), outputs)) * rng.uniform(0.3, 2.0)
    model = Additive(
        Linear(rng.normal(size=(2, outputs)), rng.normal(size=outputs)),
        Linear(weights, np.zeros(outputs)),
    )
    own = rng.random((records, 2))
    secret = draw(grids, records, rng)
    if shift is not None:
        secret = secret + shift
    scores, known = released(model.scores(own, secret), precision)
    return World(model, grids, own, secret, scores, known)


def random_grids(rng: np.random.Generator, most: int = 12, freely: bool = True) -> Grids:
    """Whole numbers, yes/no, one-hot groups, listed values and (``freely``) free columns."""
    columns: list[Grid] = []
    groups: list[tuple[int, ...]] = []
    for _ in range(int(rng.integers(1, most + 1))):
        kind = rng.random()
        if kind < 0.15:
            size = int(rng.integers(2, 6))
            groups.append(tuple(range(len(columns), len(columns) + size)))
            columns += [BOOLEAN] * size
        elif kind < 0.25:
            columns.append(listed(tuple(rng.random(int(rng.integers(2, 5)))), 0.0, 1.0))
        elif kind < 0.32 and freely:
            columns.append(free())
        elif kind < 0.5:
            columns.append(BOOLEAN)
        else:
            levels, low = int(2 ** rng.uniform(1, 8)), int(rng.integers(-5, 5))
            high = low + max(1, int(levels * rng.uniform(0.5, 1.0)))
            columns.append(whole_numbers(low, low + levels - 1, low, high))
    return Grids(tuple(columns), tuple(groups))


def every_point(grids: Grids) -> Floats:
    """All points of a small grid without free columns."""
    grouped = {j for group in grids.one_hot for j in group}
    choices: list[list[dict[int, float]]] = []
    for j, grid in enumerate(grids.columns):
        if j not in grouped:
            values = grid.values or tuple(grid.low + grid.step * n for n in range(grid.levels))
            choices.append([{j: value} for value in values])
    for group in grids.one_hot:
        choices.append([{j: float(j == one) for j in group} for one in group])
    rows = []
    for chosen in itertools.product(*choices):
        row = np.zeros(len(grids))
        for part in chosen:
            for j, value in part.items():
                row[j] = value
        rows.append(row)
    return np.array(rows)


def count_by_trying(readings: Readings, grids: Grids) -> Ints:
    """How many grid points fit each record."""
    points = every_point(grids)
    return np.array(
        [int(readings.fits(points, np.full(len(points), i)).sum()) for i in range(len(readings))]
    )
