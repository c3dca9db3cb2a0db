"""Solving A A^T = C with known elements: Lemma 2, Corollary 1, any positions (claim L05)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.errors import AttackError
from whatleaks.models.degrees_of_freedom import degrees_of_freedom, jacobian_freedom
from whatleaks.models.gram_rotation import turned_tables
from whatleaks.models.gram_rows import Bounds, corollary_positions, fitting_tables


def best(tables, truth) -> float:
    return min(float(np.abs(table - truth).max()) for table in tables)


@given(st.integers(2, 8), st.integers(0, 8), st.booleans(), st.integers(0, 10_000))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_corollary_1_elements_leave_finitely_many_tables_and_the_truth_is_one(
    n: int, more: int, weighted: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    m = n + more
    table, weights = rng.uniform(size=(m, n)), rng.normal(size=n) if weighted else None
    known = corollary_positions(table, weights)
    assert known.sum() == degrees_of_freedom(m, n, weighted)
    assert jacobian_freedom(table, weights, known) == 0
    outputs = None if weights is None else table @ weights
    fit = fitting_tables(table @ table.T, known, table, weights, outputs, None, most=512)
    assert fit.complete
    assert len(fit.tables) <= 2 ** (n - 1 + (not weighted))
    assert best(fit.tables, table) < 1e-6
    for found in fit.tables:
        assert np.abs(found @ found.T - table @ table.T).max() < 1e-6
        assert np.abs(found - table)[known].max(initial=0.0) < 1e-6


def test_the_papers_counter_example_leaves_a_rotation_open() -> None:
    """Section 4.3: 3 x 3 with the whole first column known, three elements as Theorem 1 asks."""
    table = np.random.default_rng(1).uniform(size=(3, 3))
    known = np.zeros((3, 3), dtype=bool)
    known[:, 0] = True
    assert known.sum() == degrees_of_freedom(3, 3)
    assert jacobian_freedom(table, None, known) == 1
    with pytest.raises(AttackError, match="Corollary 1 leaves one at most"):
        fitting_tables(table @ table.T, known, table)
    assert jacobian_freedom(table, None, corollary_positions(table)) == 0


@pytest.mark.parametrize(
    "shape", [((0, 1, 2), (0, 1), (0,)), ((1, 2, 3), (0, 3), (2,)), ((0, 2, 3), (1, 2), (3,))]
)
def test_positions_of_figure_5_are_equivalent(shape: tuple[tuple[int, ...], ...]) -> None:
    table = np.random.default_rng(4).uniform(size=(9, 4))
    known = np.zeros((9, 4), dtype=bool)
    for row, columns in zip((5, 0, 7), shape, strict=True):
        known[row, list(columns)] = True
    assert jacobian_freedom(table, None, known) == 0
    assert best(fitting_tables(table @ table.T, known, table).tables, table) < 1e-8


def test_public_ranges_rule_tables_out_and_the_truth_stays() -> None:
    table = np.random.default_rng(6).uniform(size=(12, 6))
    weights = np.random.default_rng(7).normal(size=6)
    known = corollary_positions(table, weights)
    every = fitting_tables(table @ table.T, known, table, weights, table @ weights)
    bounds = Bounds(np.zeros(6), np.ones(6))
    inside = fitting_tables(table @ table.T, known, table, weights, table @ weights, bounds)
    assert 1 <= len(inside.tables) < len(every.tables) <= 32
    assert best(inside.tables, table) < 1e-9
    assert all(bounds.misses(one).max() <= 1e-3 for one in inside.tables)


def test_wrong_ranges_and_wrong_elements_are_said() -> None:
    table = np.random.default_rng(8).uniform(size=(6, 3))
    weights = np.ones(3)
    known = corollary_positions(table, weights)
    far = Bounds(np.full(3, 5.0), np.full(3, 6.0))
    with pytest.raises(AttackError, match="no table fits"):
        fitting_tables(table @ table.T, known, table, weights, table @ weights, far)
    with pytest.raises(AttackError, match="no table fits"):
        fitting_tables(table @ table.T, known, 9.0 + table, weights, table @ weights)


def test_a_batch_of_lower_rank_than_its_columns_is_solved_too() -> None:
    """Records that share values (one quarter's economy) leave A without n - 1 independent rows."""
    rng = np.random.default_rng(9)
    table = rng.uniform(size=(14, 6)) @ rng.uniform(size=(6, 10))
    weights = rng.normal(size=10)
    known = corollary_positions(table, weights)
    assert known.sum() <= degrees_of_freedom(14, 10, True)
    fit = fitting_tables(table @ table.T, known, table, weights, table @ weights)
    assert best(fit.tables, table) < 1e-5 * np.abs(table).max()


@pytest.mark.parametrize("n", [2, 3, 4])
def test_any_positions_are_solved_by_turning(n: int) -> None:
    """Random positions that determine the table, no triangle among them."""
    rng = np.random.default_rng(n)
    table, weights = rng.uniform(size=(9, n)), rng.normal(size=n)
    count = degrees_of_freedom(9, n, True) + 2
    known = np.zeros(9 * n, dtype=bool)
    known[rng.permutation(9 * n)[:count]] = True
    known = known.reshape(9, n)
    factor = np.linalg.cholesky(table[:n] @ table[:n].T)  # another factor of the same matrix
    factor = table @ np.linalg.solve(table[:n], factor)
    assert np.abs(factor @ factor.T - table @ table.T).max() < 1e-9
    found = turned_tables(factor, known, table, rng, weights, table @ weights)
    assert best(found, table) < 1e-6
    plain = turned_tables(factor, known, table, rng, starts=80)
    for one in plain:
        assert np.abs(one @ one.T - table @ table.T).max() < 1e-8


def test_both_solvers_find_the_same_tables() -> None:
    table = np.random.default_rng(12).uniform(size=(8, 3))
    weights = np.random.default_rng(13).normal(size=3)
    known = corollary_positions(table, weights)
    rows = fitting_tables(table @ table.T, known, table, weights, table @ weights).tables
    values, vectors = np.linalg.eigh(table @ table.T)
    factor = vectors[:, -3:] * np.sqrt(values[-3:])
    rng = np.random.default_rng(1)
    turned = turned_tables(factor, known, table, rng, weights, table @ weights, starts=60)
    assert len(turned) == len(rows)
    for one in turned:
        assert best(rows, one) < 1e-5


def test_rows_that_tell_nothing_are_no_basis() -> None:
    """With noise on C a row of zeros looked like a new direction, and solving with it went wrong."""
    rng = np.random.default_rng(3)
    table = rng.uniform(size=(6, 3))
    table[2] = 0.7 * table[0]
    table[3] = 0.0
    known = np.zeros((6, 3), dtype=bool)
    known[0, :2] = known[1, :1] = True
    noise = rng.normal(size=(6, 6)) * 1e-12
    fit = fitting_tables(table @ table.T + noise + noise.T, known, table)
    assert best(fit.tables, table) < 1e-6
