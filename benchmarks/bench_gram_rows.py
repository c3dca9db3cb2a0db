"""Speed of the solver for A A^T = C, A W = Z with known elements, against a general one.

``python benchmarks/bench_gram_rows.py`` solves the sizes of Li et al.'s Table 2 from an exact Gram
matrix, with their seconds beside ours, and the small ones also with SciPy's least-squares solver
from a random start, the fastest of three that end at a solution. Ratios are what to look at.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.optimize import least_squares

from whatleaks.models.gram_rows import Bounds, corollary_positions, fitting_tables

# Records, victim's columns, the paper's seconds.
ROWS = (
    (9, 2, 0.015), (7, 4, 0.14), (8, 5, 0.312), (7, 7, 0.781), (8, 3, 0.063), (9, 5, 0.282),
    (7, 6, 0.532), (76, 6, 0.704), (67, 35, 593.812), (55, 52, 2541.02),
)  # fmt: skip
GENERAL = 60  # unknown values up to which the general solver is tried


def general(table: np.ndarray, weights: np.ndarray, known: np.ndarray) -> float | None:
    """Return the seconds of a general solver that knows nothing of the structure."""
    gram, outputs, upper = table @ table.T, table @ weights, np.triu_indices(len(table))

    def misses(unknown: np.ndarray) -> np.ndarray:
        guess = table.copy()
        guess[~known] = unknown
        return np.concatenate([(guess @ guess.T - gram)[upper], guess @ weights - outputs])

    best = None
    for start in range(3):
        first = np.random.default_rng(start).uniform(size=int((~known).sum()))
        began = time.perf_counter()
        found = least_squares(misses, first, xtol=1e-12, ftol=1e-12, gtol=1e-12)
        seconds = time.perf_counter() - began
        if found.cost < 1e-16 and (best is None or seconds < best):
            best = seconds
    return best


def main() -> None:
    """Print one line per size."""
    for m, n, paper in ROWS:
        rng = np.random.default_rng(m * 100 + n)
        table, weights = rng.uniform(size=(m, n)), rng.normal(size=n)
        known = corollary_positions(table, weights)
        bounds = Bounds(np.zeros(n), np.ones(n))
        began = time.perf_counter()
        fit = fitting_tables(table @ table.T, known, table, weights, table @ weights, bounds)
        ours = time.perf_counter() - began
        error = min(float(np.abs(one - table).mean() / table.mean()) for one in fit.tables)
        line = (
            f"{m} x {n}: {ours:.4f} s, {len(fit.tables)} tables fit, best error {error:.0e}; "
            f"paper {paper:g} s on its machine"
        )
        if (~known).sum() <= GENERAL:
            other = general(table, weights, known)
            line += "; general solver " + (
                f"{other:.3f} s, {other / ours:.0f} times ours" if other else "ended nowhere"
            )
        print(line, flush=True)


if __name__ == "__main__":
    main()
