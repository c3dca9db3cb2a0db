"""How many digits the outputs of training must carry before they span a victim's columns.

WHATLEAKS_DATA=... python benchmarks/study_precision.py

Gradient descent on one batch as in Table 2 of Li et al., in multi-precision from start to end. The
outputs of all epochs are made orthogonal one after another, the largest first; the n-th pivot over
the first says how small the last direction is. Outputs with fewer digits than that do not show it,
whatever solver is used: the Gram matrix of all n columns is not determined.
"""

from __future__ import annotations

import time

import mpmath as mp
import numpy as np

from whatleaks.data.loading import load
from whatleaks.data.numbers import prepare_numbers

DIGITS = 400  # that everything is computed in
ROWS = (
    ("motor-temperature", 2, 9), ("motor-temperature", 7, 7), ("wine-quality", 6, 7),
    ("residential-building", 6, 76), ("residential-building", 35, 67),
    ("residential-building", 52, 55),
)  # fmt: skip


def outputs(x: np.ndarray, y: np.ndarray, own: np.ndarray, epochs: int) -> list[list[mp.mpf]]:
    """Return the victim's z of every epoch, in multi-precision."""
    rng = np.random.default_rng(10)
    both = np.concatenate([x, own], axis=1)
    table = [[mp.mpf(float(v)) for v in row] for row in both]
    weights = [mp.mpf(float(v)) for v in rng.normal(0.0, 0.1, both.shape[1])]
    rate = mp.mpf(1) / (both.shape[0] * both.shape[1])
    alpha, width, seen = mp.mpf("0.01"), x.shape[1], []
    columns = list(zip(*table, strict=True))
    for _ in range(epochs):
        seen.append([mp.fdot(row[:width], weights[:width]) for row in table])
        d = [mp.fdot(row, weights) - mp.mpf(float(t)) for row, t in zip(table, y, strict=True)]
        weights = [
            w - rate * (mp.fdot(column, d) + alpha * w)
            for w, column in zip(weights, columns, strict=True)
        ]
    return seen


def pivots(vectors: list[list[mp.mpf]], count: int) -> list[mp.mpf]:
    """Return the lengths that Gram-Schmidt leaves, the longest vector first."""
    held, found = [list(v) for v in vectors], []
    for _ in range(count):
        squares = [mp.fdot(v, v) for v in held]
        at = max(range(len(held)), key=lambda i: squares[i])
        length = mp.sqrt(squares[at])
        found.append(length)
        if not length:
            break
        unit = [value / length for value in held.pop(at)]
        held = [
            [a - share * b for a, b in zip(v, unit, strict=True)]
            for v in held
            for share in (mp.fdot(v, unit),)
        ]
    return found


if __name__ == "__main__":
    mp.mp.dps = DIGITS
    for name, unknown, records in ROWS:
        start = time.perf_counter()
        data = load(name)
        made = prepare_numbers(data.frame, data.label, np.random.default_rng(10))
        rows = np.random.default_rng(11).permutation(len(made.target))[:records]
        epochs = 2 * unknown + 8
        x, own = made.values[rows][:, :unknown], made.values[rows][:, unknown:]
        found = pivots(outputs(x, made.target[rows], own, epochs), min(unknown, records, epochs))
        rank = int(np.linalg.matrix_rank(x))
        lost = [-float(mp.log10(p / found[0])) if p else float("inf") for p in found]
        seen = sum(one < 15 for one in lost)
        print(
            f"{name}, {unknown} columns (rank {rank} in the batch), {records} records, {epochs} epochs: "
            f"doubles show {seen} directions; direction {min(rank, len(lost))} needs "
            f"{lost[min(rank, len(lost)) - 1]:.0f} digits ({time.perf_counter() - start:.0f} s)",
            flush=True,
        )
