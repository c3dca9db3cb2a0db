"""How far known records open an encrypted regression: by their number, passes, batches, shuffling.

``python benchmarks/study_subspace.py`` trains on scikit-learn's breast cancer set (569 records, 10
own columns, 20 of the partner) in doubles, with the protocol's own maths and no ciphertexts, and
lets the subspace regression loose on what the active party would remember. Printed: R2 on the
records that are not known, over all 20 columns, as the mean over seeds and half the width of its t
interval; beside it the same regression from own columns alone. Both keep to the public range.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from sklearn.datasets import load_breast_cancer

from whatleaks.arrays import Floats, Ints
from whatleaks.federation.regression.linear import plain_linear
from whatleaks.federation.regression.settings import SecureLinearSettings
from whatleaks.metrics.intervals import mean_over_seeds
from whatleaks.models.subspace import from_known_records
from whatleaks.seeds import Streams

KNOWN = (10, 20, 30, 60)


def outputs_of(
    own: Floats, theirs: Floats, y: Floats, size: int, epochs: int, shuffle: bool, seed: int
) -> Floats:
    """Train and return the partner's z of every record in every pass."""
    settings = SecureLinearSettings(
        epochs=epochs,
        batch_size=size,
        learning_rate=1.0 / (size * 30),
        shuffle=shuffle,
        shuffle_seed=seed,
    )
    steps = iter(plain_linear(own, theirs, y, settings, Streams(seed)).outputs)
    z = np.empty((len(y), epochs))
    for epoch in range(epochs):
        for rows in settings.batches(len(y), epoch):
            z[rows, epoch] = next(steps)
    return z


def r2(found: Floats, truth: Floats, rest: Ints) -> float:
    """Return the share of the variance of all columns that answers within 0..1 explain."""
    missed = np.square(found.clip(0.0, 1.0) - truth)[rest].sum()
    return float(1.0 - missed / np.square(truth[rest] - truth[rest].mean(axis=0)).sum())


def spread(values: Sequence[float]) -> str:
    """Write a mean over seeds and half the width of its interval."""
    told = mean_over_seeds(values, "R2")
    return f"{told.value:.2f} ± {(told.high - told.low) / 2:.2f}"


def main() -> None:
    """Print one line for every setting."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(10, 10 + parser.parse_args().seeds)
    x, labels = load_breast_cancer(return_X_y=True)
    x = (x - x.min(axis=0)) / (x.max(axis=0) - x.min(axis=0))
    y = labels.astype(np.float64)
    print("batch, shuffled, passes: R2 by known records", KNOWN)
    for size, shuffle in ((569, False), (32, False), (10, False), (32, True), (10, True)):
        for epochs in (1, 5, 10, 31, 100):
            told: dict[int, list[tuple[float, float]]] = {k: [] for k in KNOWN}
            for seed in seeds:
                rng = np.random.default_rng(seed)
                columns, order = rng.permutation(30), rng.permutation(len(y))
                own, theirs = x[:, columns[:10]], x[:, columns[10:]]
                z = outputs_of(own, theirs, y, size, epochs, shuffle, seed)
                beside = np.concatenate([own, y[:, None]], axis=1)
                for k in KNOWN:
                    known, rest = order[:k], order[k:]
                    values = theirs[known]
                    found, _ = from_known_records(z, beside, known, values)
                    alone, _ = from_known_records(0.0 * z, beside, known, values, shares=(1.0,))
                    told[k].append((r2(found, theirs, rest), r2(alone, theirs, rest)))
            cells = [[spread(part) for part in zip(*told[k], strict=True)] for k in KNOWN]
            line = "  ".join(f"{a} (own {b})" for a, b in cells)
            print(f"{size}, {'yes' if shuffle else 'no'}, {epochs}: {line}", flush=True)


if __name__ == "__main__":
    main()
