"""Search for the thresholds of a partner's tree nodes with made-up records (L Algorithm 1).

A node sends a value left if it is below the threshold. Many values between two bounds, asked
at once, leave one gap between neighbours in which the threshold lies.

``one_by_one`` is Algorithm 1: m evenly spaced records a query, one node after another, the
node's column being known. ``all_at_once`` is ours: a made-up record has a value in every
column, so one query narrows all nodes; nodes on one column share its m values. It first asks
one query to learn which column each node tests, which Algorithm 1 takes as given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed, sealed_ints
from whatleaks.codec import travels
from whatleaks.errors import UsageError
from whatleaks.models.threshold_queries import queries_per_node

MOST_QUERIES = 10_000
# (made-up records, record of each pair, node of each pair) -> which pairs go left
Oracle = Callable[[Floats, Ints, Ints], Bools]


@travels
@dataclass(frozen=True)
class Thresholds:
    """The column of every node, and between which values its threshold lies: (low, high]."""

    column: Ints
    low: Floats
    high: Floats
    queries: int
    records: int


def columns_of(oracle: Oracle, nodes: int, low: Floats, high: Floats) -> Ints:
    """Ask one query: a record per column that is high there and low elsewhere."""
    width = len(low)
    step = np.where(high > low, high - low, 1.0)
    table = np.tile(low - step, (width, 1))
    np.fill_diagonal(table, high + step)
    record, node = np.divmod(np.arange(width * nodes), nodes)
    right = ~oracle(table, record, node).reshape(width, nodes)
    if (right.sum(axis=0) != 1).any():
        raise UsageError("a node does not test one column inside the public ranges")
    return np.asarray(right.argmax(axis=0), dtype=np.int64)


def one_by_one(
    oracle: Oracle, column: Ints, low: Floats, high: Floats, epsilon: float, records: int
) -> Thresholds:
    """Find every node's threshold as Algorithm 1 does, with its count of queries."""
    nodes = len(column)
    below, above = low[column].copy(), high[column].copy()
    asked = 0
    for node in range(nodes):
        width = float(above[node] - below[node])
        for _ in range(queries_per_node(width, epsilon, records) if width > 0.0 else 0):
            grid = np.linspace(below[node], above[node], records)
            table = np.tile((low + high) / 2.0, (records, 1))
            table[:, column[node]] = grid
            left = oracle(table, np.arange(records), np.full(records, node))
            below[node], above[node] = gap(grid, left, below[node], above[node])
            asked += 1
    return Thresholds(sealed_ints(column), sealed(below), sealed(above), asked, asked * records)


def all_at_once(
    oracle: Oracle,
    nodes: int,
    low: Floats,
    high: Floats,
    epsilon: float,
    records: int,
    most: int = MOST_QUERIES,
) -> Thresholds:
    """Find all thresholds together: every query narrows every node that is still too wide."""
    if records < len(low) or not epsilon > 0.0:
        raise UsageError(
            f"a query of {records} records for {len(low)} columns and epsilon {epsilon:g}: use at "
            "least one record per column and a positive epsilon"
        )
    if most == 1:
        return _in_one_query(oracle, nodes, low, high, records)
    column = columns_of(oracle, nodes, low, high)
    below, above = low[column].copy(), high[column].copy()
    asked = 1
    while (above - below > epsilon).any() and asked < most:
        table = np.tile((low + high) / 2.0, (records, 1))
        plans: list[tuple[int, Ints, Floats]] = []
        for one in np.unique(column):
            wide = np.flatnonzero((column == one) & (above - below > epsilon))
            spans = np.unique(np.stack([below[wide], above[wide]], axis=1), axis=0)
            shares = np.array_split(np.arange(records), max(1, len(spans)))
            for span, rows in zip(spans, shares, strict=False):
                values = np.linspace(span[0], span[1], len(rows) + 2)[1:-1]
                table[rows, one] = values
                same = wide[(below[wide] == span[0]) & (above[wide] == span[1])]
                plans += [(int(node), rows, values) for node in same]
        left = oracle(
            table,
            np.concatenate([rows for _, rows, _ in plans]),
            np.concatenate([np.full(len(rows), node) for node, rows, _ in plans]),
        )
        asked, at = asked + 1, 0
        before = above - below
        for node, rows, values in plans:
            part = left[at : at + len(rows)]
            below[node], above[node] = gap(values, part, below[node], above[node])
            at += len(rows)
        if ((above - below) == before).all():
            break  # neighbours among doubles: nothing is left between them
    return Thresholds(sealed_ints(column), sealed(below), sealed(above), asked, asked * records)


def _in_one_query(
    oracle: Oracle, nodes: int, low: Floats, high: Floats, records: int
) -> Thresholds:
    """Make the most of a single query: a Latin square of evenly spaced values in every column.

    Orders that differ from column to column tell which one a node tests.
    """
    orders = np.random.default_rng(records)
    place = np.stack([orders.permutation(records) for _ in low], axis=1)
    table = low + (high - low) * place / (records - 1)
    record, node = np.divmod(np.arange(records * nodes), nodes)
    left = oracle(table, record, node).reshape(records, nodes)
    found, explained = from_known(left.astype(np.float64), table, low, high)
    sure = explained == 1
    return Thresholds(
        sealed_ints(np.where(sure, found.column, -1)),
        sealed(np.where(sure, found.low, low.min(initial=0.0))),
        sealed(np.where(sure, found.high, high.max(initial=1.0))),
        1,
        records,
    )


def gap(values: Floats, left: Bools, low: float, high: float) -> tuple[float, float]:
    """Return the bounds of the threshold: above every value that went left, up to the next."""
    below = float(values[left].max()) if left.any() else low
    above = float(values[~left].min()) if not left.all() else high
    return max(low, below), min(high, above)


def record_intervals(
    bits: Floats, found: Thresholds, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Return each record's bounds in every column, from the sides that it took.

    ``bits``: records x nodes, 1 left, 0 right, NaN where the record was not asked. Left means
    below a threshold that is at most ``high``, right at least one that is above ``low``.
    """
    lower = np.tile(low, (len(bits), 1))
    upper = np.tile(high, (len(bits), 1))
    for node, column in enumerate(found.column):
        side = bits[:, node]
        upper[:, column] = np.where(
            side == 1.0, np.minimum(upper[:, column], found.high[node]), upper[:, column]
        )
        lower[:, column] = np.where(
            side == 0.0, np.maximum(lower[:, column], found.low[node]), lower[:, column]
        )
    return lower, upper


def from_known(bits: Floats, values: Floats, low: Floats, high: Floats) -> tuple[Thresholds, Ints]:
    """Find columns and thresholds from real records whose values are known, with no query.

    A column explains a node if every known record that went left lies below every one that
    went right. Returns the first such column's bounds, and how many columns explain each node
    (none: -1 as column).
    """
    nodes = bits.shape[1]
    column, count = np.full(nodes, -1), np.zeros(nodes, dtype=np.int64)
    below, above = np.full(nodes, -np.inf), np.full(nodes, np.inf)
    for node in range(nodes):
        left, right = values[bits[:, node] == 1.0], values[bits[:, node] == 0.0]
        least = np.maximum(low, left.max(axis=0)) if len(left) else low
        most = np.minimum(high, right.min(axis=0)) if len(right) else high
        fits = np.flatnonzero(least < most)
        count[node] = len(fits)
        if len(fits):
            column[node] = fits[0]
            below[node], above[node] = least[fits[0]], most[fits[0]]
    return Thresholds(sealed_ints(column), sealed(below), sealed(above), 0, 0), count


def bounds_from(
    asked: Floats, values: Floats, bits: Floats, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Find columns and thresholds from records whose values and sides are known; bound the others."""
    found, explained = from_known(asked, values, low, high)
    sure = explained == 1
    kept = Thresholds(
        found.column[sure], found.low[sure], found.high[sure], found.queries, found.records
    )
    return record_intervals(bits[:, sure], kept, low, high)
