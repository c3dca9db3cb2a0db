"""Estimators over A x = b' and the box, against plain solvers, one record at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize

from whatleaks.attacks.box_solution import BoxSolution
from whatleaks.errors import UsageError
from whatleaks.models.box_solutions import (
    ESTIMATORS,
    SOFT,
    all_to_half,
    clamp,
    constrained,
    half_star,
    least_squares,
    minimum_norm,
    nearest,
    null_space,
    outside_to_half,
    parts,
    relaxed_centre,
)


def _system(rows: int, columns: int, records: int, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(rows, columns))
    truth = rng.random((records, columns)) ** 2
    return matrix, truth @ matrix.T, truth


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 4), st.integers(1, 8), st.integers(0, 10**6))
def test_whoever_has_enough_equations_finds_the_values(rows: int, columns: int, seed: int) -> None:
    matrix, right, truth = _system(rows, columns, 5, seed)
    for name, estimate in ESTIMATORS.items():
        if name == "half":
            continue
        values = estimate(matrix, right)
        assert np.abs(values @ matrix.T - right).max() < 1e-5 * (1 + np.abs(right).max()), name
        if name in ("nearest", "cls", "rcc", "rcc2"):
            assert values.min() >= -1e-9
            assert values.max() <= 1 + 1e-9
        if rows >= columns and (condition := np.linalg.cond(matrix)) < 100:
            # What a soft equation leaves open: SOFT times the condition squared, along the diagonal.
            room = SOFT * condition**2 * np.sqrt(columns) + 1e-12 * condition
            assert np.abs(values - truth).max() < room, name


def test_half_star_is_nearest_to_one_half_and_the_others_lie_farther() -> None:
    matrix, right, _ = _system(2, 6, 40, 1)
    inverse = np.linalg.pinv(matrix)
    slow = right @ inverse.T + 0.5 * (np.eye(6) - inverse @ matrix) @ np.ones(6)
    assert np.abs(half_star(matrix, right) - slow).max() < 1e-12
    far = {
        n: ((e(matrix, right) - 0.5) ** 2).sum(axis=1) for n, e in ESTIMATORS.items() if n != "half"
    }
    for name, distance in far.items():
        assert (distance >= far["half-star"] - 1e-7).all(), name
    assert np.abs(minimum_norm(matrix, right) - right @ inverse.T).max() < 1e-12
    inside = ((slow >= 0) & (slow <= 1)).all(axis=1)
    assert 0 < inside.sum() < 40
    assert np.abs(nearest(matrix, right) - slow)[inside].max() < 1e-6


def test_nearest_against_a_solver_for_each_record() -> None:
    matrix, right, _ = _system(3, 7, 6, 2)
    fast = nearest(matrix, right)
    for i in range(6):
        slow = minimize(
            lambda x: 0.5 * ((x - 0.5) ** 2).sum(),
            np.full(7, 0.5),
            jac=lambda x: x - 0.5,
            bounds=[(0, 1)] * 7,
            constraints={"type": "eq", "fun": lambda x, b=right[i]: matrix @ x - b},
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
        )
        assert np.abs(slow.x - fast[i]).max() < 1e-5


def test_constrained_least_squares_against_a_solver_where_no_solution_lies_in_the_box() -> None:
    matrix, right, _ = _system(3, 7, 20, 3)
    wrong = right + 3.0 * np.random.default_rng(0).normal(size=right.shape)
    fast = constrained(matrix, wrong)
    costs = ((fast @ matrix.T - wrong) ** 2).sum(axis=1)
    slow = [2 * lsq_linear(matrix, b, (0, 1), tol=1e-14).cost for b in wrong]
    assert np.abs(costs - slow).max() < 1e-8
    assert max(slow) > 0.1
    assert (
        np.linalg.norm(fast, axis=1) <= np.linalg.norm(nearest(matrix, wrong), axis=1) + 1e-7
    ).all()
    assert (
        np.abs(relaxed_centre(matrix, wrong) - nearest(matrix, wrong))[np.array(slow) > 0.1].max()
        == 0.0
    )


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (2, 3), (2, 4), (3, 5)])
def test_relaxed_centre_by_its_dual_against_its_primal(rows: int, columns: int) -> None:
    """max tr(D) over D >= 0 and n_i D n_i <= x_i (1 - x_i), with D = L L^T, by SLSQP."""
    matrix, right, _ = _system(rows, columns, 3, 4)
    fast = relaxed_centre(matrix, right)
    pieces = parts(matrix)
    free = columns - rows
    low = np.tril_indices(free)
    for b, answer in zip(right, fast, strict=True):
        q = pieces.inverse @ b

        def taken(v: np.ndarray, q: np.ndarray = q) -> tuple[np.ndarray, np.ndarray]:
            root = np.zeros((free, free))
            root[low] = v[free:]
            return root, q + null_space(matrix) @ v[:free]

        def room(v: np.ndarray) -> np.ndarray:
            root, x = taken(v)
            return x * (1 - x) - ((null_space(matrix) @ root) ** 2).sum(axis=1)

        best = None
        for seed in range(4):
            start = np.random.default_rng(seed).normal(size=free + len(low[0])) * 0.05
            start[:free] = null_space(matrix).T @ (answer - q)
            found = minimize(
                lambda v: -(taken(v)[0] ** 2).sum(),
                start,
                constraints={"type": "ineq", "fun": room},
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 1000},
            )
            if room(found.x).min() > -1e-8 and (best is None or found.fun < best.fun):
                best = found
        assert best is not None
        assert np.abs(taken(best.x)[1] - answer).max() < 2e-3


def test_what_lies_outside() -> None:
    values = np.array([[-0.5, 0.25], [0.5, 2.0], [0.1, 0.9]])
    assert clamp(values).tolist() == [[0.0, 0.25], [0.5, 1.0], [0.1, 0.9]]
    assert outside_to_half(values).tolist() == [[0.5, 0.25], [0.5, 0.5], [0.1, 0.9]]
    assert all_to_half(values).tolist() == [[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]]


def test_rank_and_names() -> None:
    matrix = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])
    assert null_space(matrix).shape == (3, 2)
    twice = np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]])
    assert np.allclose(least_squares(twice, np.array([[1.0, 1.0, 2.0]])), 0.5)
    with pytest.raises(UsageError, match="there is no 'rccc'"):
        BoxSolution(estimator="rccc")


@pytest.mark.filterwarnings("error")
def test_weights_that_are_all_zero_leave_the_middle() -> None:
    right = np.array([[0.3], [0.0]])
    assert np.array_equal(nearest(np.zeros((1, 2)), right), np.full((2, 2), 0.5))
