"""The other direction of L section 4.1: what a passive party's own gradients say about labels.

Its gradient g = X_A^T d + alpha W_A determines the residuals of a batch once it has as many
independent columns as the batch has records. From d = slope (z_A + z_B) + offset - y it takes
its own part off, and y - slope z_B is left: the label, less what the others' columns say. With
fewer columns it has the part of d that lies along its own columns: the label as a regression on
these would predict it, fitted to labels that it does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.models.adam_roots import undone
from whatleaks.models.grids import Grid
from whatleaks.models.regression_history import OwnSteps
from whatleaks.models.residuals import independent_records, passes, residuals

SHIFTS = 201  # common shifts of all labels that are tried, over one step of the grid


def determined(own: Floats, batches: Sequence[Ints]) -> bool:
    """Say whether the own columns determine the residuals of every batch."""
    return all(independent_records(own[rows]) == len(rows) for rows in batches)


def nearest_labels(left: Floats, grid: Grid, exact: bool = True) -> Floats:
    """Move y - slope z_B to the nearest label, after the one shift that brings all nearest.

    The others' output z_B of small weights is mostly a constant, as values lie in 0..1 and their
    means do not vanish. Among shifts of less than half a step the one is taken that leaves the
    smallest mean squared distance; it is found from ``left`` alone. A label that is an ordinary
    number stays as it is. Where the residuals are not ``exact``, but their part along the own
    columns, no shift is looked for.
    """
    if grid.free or grid.levels < 2:
        return left
    if not exact:
        return grid.snap(left)
    shifts = np.linspace(-0.5, 0.5, SHIFTS) * grid.step
    moved = left[None, :] + shifts[:, None]
    distance = ((moved - grid.snap(moved)) ** 2).mean(axis=1)
    best = shifts[int(distance.argmin())]
    return np.asarray(grid.snap(left + best), dtype=np.float64)


def labels_behind_adam(steps: OwnSteps, grid: Grid) -> Floats:
    """Name the labels of the batches of the first pass whose directions can be undone.

    All other records get the commonest of these.
    """
    count = len(steps.batches) // passes(steps.batches, len(steps.batches), len(steps.columns))
    gradients = undone(
        steps.gradients[:count], steps.weights, steps.columns, steps.batches[:count], steps.alpha
    )
    read = steps.batches[: len(gradients)]
    parts = []
    for rows, gradient, weights in zip(read, gradients, steps.weights, strict=False):
        own = steps.columns[rows]
        d = residuals(own, gradient[None], weights[None], steps.alpha)[:, 0]
        parts.append(steps.slope * own @ weights + steps.offset - d)
    named = nearest_labels(np.concatenate(parts), grid, determined(steps.columns, read))
    values, counts = np.unique(named, return_counts=True)
    found = np.full(len(steps.columns), values[counts.argmax()])
    found[np.concatenate(read)] = named
    return found
