"""The search for thresholds where owners answer only along a record's real path (ours).

A made-up record has a value in every column, so it can be led to any node: once the thresholds
above are known, values on the right sides of them are chosen. The nodes above are searched
first. A query serves one node: two nodes seldom share a path.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats, sealed, sealed_ints
from whatleaks.models.shared_trees import Above
from whatleaks.models.threshold_search import MOST_QUERIES, Oracle, Thresholds, gap


def along_paths(
    oracle: Oracle,
    above: Sequence[Above],
    low: Floats,
    high: Floats,
    epsilon: float,
    records: int,
    most: int = MOST_QUERIES,
) -> Thresholds:
    """Find the thresholds from the roots down; ``above``: the owner's own splits above each one.

    A node whose path could not be walked, or that no column explains within it, keeps column -1
    and the whole range. One query for a node's column, then as many as Algorithm 1 needs.
    """
    nodes, width = len(above), len(low)
    column = np.full(nodes, -1, dtype=np.int64)
    below, beyond = np.full(nodes, low.min(initial=0.0)), np.full(nodes, high.max(initial=1.0))
    step = np.where(high > low, high - low, 1.0)
    asked = 0
    for node in sorted(range(nodes), key=lambda one: len(above[one])):
        if any(column[number] < 0 for _, number, _ in above[node]) or asked >= most:
            continue
        least, largest = low - step, high + step
        for _, number, left in above[node]:
            at = column[number]
            if left:
                largest[at] = min(largest[at], below[number])
            else:
                least[at] = max(least[at], beyond[number])
        if (least > largest).any():
            continue
        table = np.tile(least, (width + 1, 1))
        table[np.arange(width), np.arange(width)] = largest
        sides = oracle(table, np.arange(width + 1), np.full(width + 1, node))
        asked += 1
        moved = np.flatnonzero(sides[:width] != sides[width])
        if len(moved) != 1:
            continue
        at = int(moved[0])
        column[node] = at
        below[node], beyond[node] = max(low[at], least[at]), min(high[at], largest[at])
        while beyond[node] - below[node] > epsilon and asked < most:
            grid = np.linspace(below[node], beyond[node], records)
            table = np.tile(least, (records, 1))
            table[:, at] = grid
            left_of = oracle(table, np.arange(records), np.full(records, node))
            asked += 1
            before = beyond[node] - below[node]
            below[node], beyond[node] = gap(grid, left_of, below[node], beyond[node])
            if beyond[node] - below[node] == before:
                break  # neighbours among doubles: nothing is left between them
    return Thresholds(sealed_ints(column), sealed(below), sealed(beyond), asked, asked * records)
