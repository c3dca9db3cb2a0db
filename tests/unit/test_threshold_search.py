"""The search for thresholds: found within epsilon, with the paper's count of queries or fewer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.errors import UsageError
from whatleaks.models.threshold_queries import queries_per_node
from whatleaks.models.threshold_search import (
    Thresholds,
    all_at_once,
    from_known,
    one_by_one,
    record_intervals,
)


class Partner:
    """Nodes with a column and a threshold; counts what it is asked."""

    def __init__(self, column: np.ndarray, threshold: np.ndarray) -> None:
        self.column, self.threshold, self.queries = column, threshold, 0

    def __call__(self, table: np.ndarray, record: np.ndarray, node: np.ndarray) -> np.ndarray:
        self.queries += 1
        return table[record, self.column[node]] < self.threshold[node]


def partner(nodes: int, columns: int, seed: int) -> Partner:
    rng = np.random.default_rng(seed)
    return Partner(rng.integers(0, columns, nodes), rng.uniform(-1, 1, nodes))


@given(st.integers(1, 12), st.integers(1, 5), st.integers(3, 60), st.integers(0, 9999))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_every_threshold_is_found_with_the_papers_count(
    nodes: int, columns: int, records: int, seed: int
) -> None:
    them, epsilon = partner(nodes, columns, seed), 1e-5
    low, high = -np.ones(columns), np.ones(columns)
    found = one_by_one(them, them.column, low, high, epsilon, records)
    assert found.queries == them.queries == nodes * queries_per_node(2.0, epsilon, records)
    assert ((found.low < them.threshold) & (them.threshold <= found.high)).all()
    assert (found.high - found.low <= epsilon * (1 + 1e-6)).all()


@given(st.integers(1, 20), st.integers(1, 5), st.integers(8, 60), st.integers(0, 9999))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_all_together_learns_columns_too_and_asks_less(
    nodes: int, columns: int, records: int, seed: int
) -> None:
    them, epsilon = partner(nodes, columns, seed), 1e-5
    low, high = -np.ones(columns), np.ones(columns)
    found = all_at_once(them, nodes, low, high, epsilon, records)
    assert (found.column == them.column).all()
    assert ((found.low < them.threshold) & (them.threshold <= found.high)).all()
    assert (found.high - found.low <= epsilon).all()
    assert found.queries == them.queries
    if nodes >= 4:
        assert found.queries < nodes * queries_per_node(2.0, epsilon, records)


def test_vehicles_nodes_take_six_queries_instead_of_306() -> None:
    them = partner(102, 9, 3)
    found = all_at_once(them, 102, -np.ones(9), np.ones(9), 1e-7, 401)
    assert found.queries <= 7


def test_epsilon_below_the_spacing_of_doubles_ends() -> None:
    them = partner(3, 1, 1)
    found = all_at_once(them, 3, -np.ones(1), np.ones(1), 1e-300, 50)
    assert (found.high - found.low < 1e-15).all()


def test_record_intervals_hold_the_values_and_narrow_with_nodes() -> None:
    rng = np.random.default_rng(2)
    values = rng.uniform(-1, 1, (30, 3))
    them = partner(40, 3, 5)
    bits = (values[:, them.column] < them.threshold).astype(float)
    exact = Thresholds(them.column, them.threshold - 1e-9, them.threshold, 0, 0)
    low, high = record_intervals(bits, exact, -np.ones(3), np.ones(3))
    assert ((low <= values) & (values <= high)).all()
    assert (high - low).mean() < 0.5
    unseen = np.where(rng.uniform(size=bits.shape) < 0.7, np.nan, bits)
    wide_low, wide_high = record_intervals(unseen, exact, -np.ones(3), np.ones(3))
    assert ((wide_low <= low) & (high <= wide_high)).all()


def test_known_records_isolate_columns_as_they_grow() -> None:
    rng = np.random.default_rng(4)
    them = partner(10, 8, 6)
    left = []
    for known in (5, 30, 200):
        values = rng.uniform(-1, 1, (known, 8))
        bits = (values[:, them.column] < them.threshold).astype(float)
        found, count = from_known(bits, values, -np.ones(8), np.ones(8))
        sure = count == 1
        assert (found.column[sure] == them.column[sure]).all()
        assert ((found.low < them.threshold) & (them.threshold <= found.high))[sure].all()
        left.append(count.mean())
    assert left[0] > left[1] >= left[2] == 1.0


def test_a_query_too_small_for_the_columns_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one record per column"):
        all_at_once(partner(2, 5, 1), 2, np.zeros(5), np.ones(5), 1e-3, 4)
