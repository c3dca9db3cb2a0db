"""Search a reduced basis for the points near a target, for many records at once.

Level by level from the last Gram-Schmidt direction to the first. One branch a record is
Babai's nearest plane; all branches that the bounds allow is a complete enumeration; a limited
number is a beam. The same code does all three, and says whether anything was cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints
from whatleaks.models.lattice_basis import Basis


@dataclass(frozen=True)
class Found:
    """Points near the targets: ``moves`` (coordinates) from record ``rows``, and what was cut."""

    rows: Ints
    moves: Ints
    squared: Floats
    complete: Bools  # per record


def nearest_plane(basis: Basis, targets: Floats) -> Ints:
    """Return Babai's lattice point for each target, as moves of the coordinates.

    Coefficients may be far beyond the grid before they cancel: their sum is exact because whole
    numbers wrap around.
    """
    left = targets @ basis.q
    coefficients = np.zeros(left.shape, dtype=np.int64)
    for i in range(left.shape[1] - 1, -1, -1):
        chosen = np.clip(np.rint(left[:, i] / basis.r[i, i]), -(2.0**62), 2.0**62)
        coefficients[:, i] = chosen
        left -= chosen[:, None] * basis.r[:, i]
    return coefficients @ basis.steps


def search(
    basis: Basis, targets: Floats, radius: Floats, low: Floats, high: Floats, width: int
) -> Found:
    """Return up to ``width`` points a record whose distance is at most ``radius``.

    ``low`` and ``high`` bound every component of (point - target): each Gram-Schmidt direction
    inherits an interval from them.
    """
    records, size = len(targets), basis.r.shape[0]
    along = targets @ basis.q
    # What no lattice point can remove: the part of the target beside the lattice's span.
    squared = np.maximum((targets**2).sum(axis=1) - (along**2).sum(axis=1), 0.0)
    # The difference of two squares loses places where targets are long; never prune on that.
    squared -= 1e-9 * (targets**2).sum(axis=1)
    below = np.minimum(basis.q * low[:, None], basis.q * high[:, None]).sum(axis=0) - 1e-6
    above = np.maximum(basis.q * low[:, None], basis.q * high[:, None]).sum(axis=0) + 1e-6
    rows = np.arange(records)
    coefficients = np.zeros((records, size), dtype=np.int64)
    complete = np.ones(records, dtype=np.bool_)
    limit = radius**2 * (1.0 + 1e-9)
    for i in range(size - 1, -1, -1):
        scale = basis.r[i, i]
        at = along[:, i]
        room = np.sqrt(np.maximum(limit[rows] - squared, 0.0))
        room[limit[rows] < squared] = -1.0
        first = np.ceil((at + np.maximum(below[i], -room)) / scale)
        last = np.floor((at + np.minimum(above[i], room)) / scale)
        last[room < 0.0] = first[room < 0.0] - 1.0
        count = last - first + 1.0
        wide = count > width
        if wide.any():  # keep the nearest ones
            complete[rows[wide]] = False
            middle = np.clip(np.rint(at[wide] / scale), first[wide], last[wide])
            first[wide] = np.clip(middle - width // 2, first[wide], last[wide] - width + 1)
            count[wide] = width
        number = np.maximum(count, 0.0).astype(np.int64)
        parent = np.repeat(np.arange(len(rows)), number)
        offset = np.arange(len(parent)) - np.repeat(np.cumsum(number) - number, number)
        chosen = first[parent] + offset
        moved = chosen * scale - at[parent]
        distance = squared[parent] + moved**2
        keep = _best(rows[parent], distance, width, complete)
        parent, chosen, squared = parent[keep], chosen[keep], distance[keep]
        rows = rows[parent]
        coefficients = coefficients[parent]
        coefficients[:, i] = chosen
        along = along[parent] - chosen[:, None] * basis.r[:, i]
    return Found(rows, coefficients @ basis.steps, squared, complete)


def _best(rows: Ints, distance: Floats, width: int, complete: Bools) -> Ints:
    """Return which nodes to keep: at most ``width`` a record, the nearest; note where some went."""
    counts = np.bincount(rows, minlength=len(complete))
    if counts.max(initial=0) <= width:
        return np.arange(len(rows))
    complete[counts > width] = False
    order = np.lexsort((distance, rows))
    place = np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows[order]]
    return np.sort(order[place < width])
