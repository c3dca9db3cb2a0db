"""Encrypted logistic regression on breast cancer: seconds, and how far from plain training.

569 x 30, 15 columns each, 2048-bit keys, batches of 64. Keys are made before the clock starts.
Prints seconds by the clock and of the processor, how far apart the weights are, and the accuracy.

    python benchmarks/bench_secure_linear.py [--epochs 3]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.datasets import load_breast_cancer

from whatleaks.crypto.keys import generate_keys
from whatleaks.federation.regression.linear import Run
from whatleaks.federation.regression.logistic import plain_logistic, run_logistic
from whatleaks.federation.regression.settings import LOGISTIC, SecureLinearSettings
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript

FATE = 20.0  # seconds of its coordinated regression on this set, epochs not recorded


def main() -> None:
    """Train and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    chosen = parser.parse_args()
    x, y = load_breast_cancer(return_X_y=True)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    own, other, y = x[:, :15], x[:, 15:], y.astype(np.float64)
    settings = SecureLinearSettings(
        epochs=chosen.epochs, batch_size=64, learning_rate=0.002, queries=False
    )
    plain = plain_logistic(own, other, y, settings, Streams(0))
    keys = generate_keys(settings.backend, settings.key_bits)
    start, work = time.perf_counter(), time.process_time()
    done: Run = run_logistic(own, other, y, settings, Streams(0), Channel(Transcript([])), keys)
    seconds, busy = time.perf_counter() - start, time.process_time() - work
    gap = max(
        np.abs(done.active_weights - plain.active_weights).max(),
        np.abs(done.passive_weights - plain.passive_weights).max(),
    )
    z = own @ done.active_weights + other @ done.passive_weights
    right = float(((LOGISTIC.score(z) > 0.5) == y).mean())
    print(
        f"{settings.backend}, {chosen.epochs} epochs: {seconds:.1f} s ({busy:.1f} s of the "
        f"processor), weights within {gap:.1e} of plain, accuracy {right:.3f}"
    )
    print(f"FATE 2.2 in three processes, measured on such a machine: {FATE:.0f} s")


if __name__ == "__main__":
    main()
