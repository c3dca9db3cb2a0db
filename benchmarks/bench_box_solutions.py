"""Estimators over the box: all records together against one solver call per record; half* everywhere.

python benchmarks/bench_box_solutions.py

Leaves with 1 if CLS, the nearest point or RCC is less than 20 times as fast as one call of a solver
for each record (SciPy's lsq_linear and SLSQP, same system, same run), or if half* takes more than
10 s for all 36 windows of 35 sizes over 6,435 records of 36 columns and 6 classes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import lsq_linear, minimize

from whatleaks.models.box_solutions import (
    constrained,
    half_star,
    nearest,
    null_space,
    parts,
    relaxed_centre,
)

FEWEST = 20.0
LONGEST = 10.0


def _nearest_by_solver(matrix: np.ndarray, b: np.ndarray) -> None:
    minimize(
        lambda x: 0.5 * ((x - 0.5) ** 2).sum(),
        np.full(matrix.shape[1], 0.5),
        jac=lambda x: x - 0.5,
        bounds=[(0, 1)] * matrix.shape[1],
        constraints={"type": "eq", "fun": lambda x: matrix @ x - b, "jac": lambda x: matrix},
        method="SLSQP",
    )


def _centre_by_solver(matrix: np.ndarray, b: np.ndarray) -> None:
    """Solve RCC's primal with D = L L^T: SciPy has no semidefinite programmes."""
    null = null_space(matrix)
    q, free = parts(matrix).inverse @ b, null.shape[1]
    low = np.tril_indices(free)

    def root(v: np.ndarray) -> np.ndarray:
        made = np.zeros((free, free))
        made[low] = v[free:]
        return made

    def room(v: np.ndarray) -> np.ndarray:
        x = q + null @ v[:free]
        return np.asarray(x * (1 - x) - ((null @ root(v)) ** 2).sum(axis=1))

    start = np.concatenate([np.zeros(free), np.eye(free)[low] * 0.05])
    minimize(
        lambda v: -(root(v) ** 2).sum(),
        start,
        constraints={"type": "ineq", "fun": room},
        method="SLSQP",
    )


def _per_record(
    one: Callable[[np.ndarray, np.ndarray], object], matrix: np.ndarray, right: np.ndarray, n: int
) -> float:
    start = time.perf_counter()
    for b in right[:n]:
        one(matrix, b)
    return (time.perf_counter() - start) / n


def main() -> int:
    """Print seconds per record and ratios."""
    rng = np.random.default_rng(0)
    bad = False
    for rows, columns in ((5, 10), (5, 18)):
        matrix = rng.normal(size=(rows, columns))
        right = rng.random((1000, columns)) @ matrix.T
        for name, fast, slow, n in (
            ("cls", constrained, lambda a, b: lsq_linear(a, b, (0, 1)), 50),
            ("nearest", nearest, _nearest_by_solver, 50),
            ("rcc", relaxed_centre, _centre_by_solver, 3),
        ):
            start = time.perf_counter()
            fast(matrix, right)
            ours = (time.perf_counter() - start) / len(right)
            theirs = _per_record(slow, matrix, right, n)
            print(
                f"{rows} x {columns} {name}: {1e3 * ours:.3f} ms, solver {1e3 * theirs:.2f} ms, {theirs / ours:.0f} times",
                flush=True,
            )
            bad |= theirs < FEWEST * ours
    weights, table = rng.normal(size=(5, 36)), rng.random((6435, 36))
    start = time.perf_counter()
    for size in range(1, 36):
        for first in range(36):
            window = (first + np.arange(size)) % 36
            matrix = weights[:, window]
            half_star(matrix, table[:, window] @ matrix.T)
    seconds = time.perf_counter() - start
    print(f"half* on 36 windows of 35 sizes, 6435 records: {seconds:.1f} s")
    return int(bad or seconds > LONGEST)


if __name__ == "__main__":
    sys.exit(main())
