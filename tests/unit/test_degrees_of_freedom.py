"""Theorems 1 and 2 over many sizes: counts against the rank of the equations (claims L03, L04)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.errors import UsageError
from whatleaks.models.degrees_of_freedom import (
    degrees_of_freedom,
    horizontal_freedom,
    jacobian_freedom,
    known_data_ratio,
)
from whatleaks.models.threshold_queries import queries_per_node

SIZES = st.integers(1, 9)
SEEDS = st.integers(0, 10_000)


@given(SIZES, SIZES, SEEDS)
@settings(max_examples=120, deadline=None)
def test_counts_are_what_the_equations_leave_open(m: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table, weights = rng.uniform(-1, 1, (m, n)), rng.normal(size=n)
    assert jacobian_freedom(table) == degrees_of_freedom(m, n)
    assert jacobian_freedom(table, weights) == degrees_of_freedom(m, n, weights_known=True)


@pytest.mark.parametrize("n", range(1, 12))
def test_theorems_1_and_2_from_n_less_one_rows_on(n: int) -> None:
    for m in range(max(1, n - 1), n + 6):
        assert degrees_of_freedom(m, n) == n * (n - 1) // 2
        assert degrees_of_freedom(m, n, True) == max(0, (n - 1) * (n - 2) // 2)


def test_fewer_rows_than_the_theorem_assumes_leave_fewer_values_open() -> None:
    assert degrees_of_freedom(1, 5) == 4  # one length is known of five values
    assert degrees_of_freedom(2, 10) == 17 < 45


def test_a_table_of_lower_rank_leaves_more_open_than_the_count() -> None:
    """The theorems assume n - 1 independent rows; without them the count is too small."""
    rng = np.random.default_rng(3)
    flat = rng.normal(size=(6, 1)) @ rng.normal(size=(1, 4))
    assert jacobian_freedom(flat) > degrees_of_freedom(6, 4)


@pytest.mark.parametrize(
    ("m", "n", "ratio"),
    [(7, 4, 0.107), (8, 5, 0.15), (7, 7, 0.306), (67, 35, 0.239), (55, 52, 0.446)],
)
def test_known_data_ratios_of_table_2(m: int, n: int, ratio: float) -> None:
    assert known_data_ratio(degrees_of_freedom(m, n, True), m, n) == pytest.approx(ratio, abs=6e-4)


@pytest.mark.parametrize(
    ("m", "n", "ratio"), [(5, 5, 0.4), (11, 11, 0.4545), (4, 11, 0.136), (3, 6, 0.1667)]
)
def test_known_data_ratios_of_table_4(m: int, n: int, ratio: float) -> None:
    assert known_data_ratio(horizontal_freedom(m, n), m, n) == pytest.approx(ratio, abs=5e-4)


@given(SIZES, SIZES, SEEDS)
@settings(max_examples=60, deadline=None)
def test_horizontal_counts_with_more_records_than_columns(m: int, n: int, seed: int) -> None:
    table = np.random.default_rng(seed).normal(size=(m, n))
    assert jacobian_freedom(table.T) == horizontal_freedom(m, n)
    if m > n:  # section 6.2
        assert known_data_ratio(horizontal_freedom(m, n), m, n) == pytest.approx(
            (2 * m - n - 1) / (2 * m)
        )


@pytest.mark.parametrize(
    ("width", "epsilon", "records", "nodes", "queries"),
    [
        (2, 1e-7, 401, 102, 306), (10, 1e-2, 401, 15, 30), (20, 1e-6, 201, 15, 60),  # Table 5
        (2, 1e-2, 401, 102, 102), (2, 1e-4, 401, 102, 204), (2, 1e-6, 401, 102, 306),  # Table 6
        (10, 1e-1, 401, 15, 15), (10, 1e-4, 401, 15, 30), (10, 1e-6, 401, 15, 45),
        (20, 1e-1, 401, 15, 15), (20, 1e-3, 401, 15, 30), (20, 1e-6, 401, 15, 45),
    ],
)  # fmt: skip
def test_query_counts_of_tables_5_and_6(
    width: float, epsilon: float, records: int, nodes: int, queries: int
) -> None:
    assert nodes * queries_per_node(width, epsilon, records) == queries


def test_a_power_of_the_interval_count_needs_no_query_more() -> None:
    assert queries_per_node(1.0, 0.001, 11) == 3  # a logarithm in doubles says 2.9999999999999996
    assert queries_per_node(1.0, 2.0, 11) == 0
    with pytest.raises(UsageError, match="at least 3"):
        queries_per_node(1.0, 0.1, 2)
