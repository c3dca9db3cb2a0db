"""Encrypted logistic regression: the fast backend against phe, same protocol, one run.

Breast cancer (569 x 30, 15 columns each), 2048-bit keys, 3 epochs of batches of 64. Keys are
made before the clock starts. The backends take turns, one epoch each, so that neighbours on
the machine disturb both alike. Prints seconds, the ratio, how far apart the weights are, and
the accuracy. phe takes minutes: --epochs shortens both alike.

    python benchmarks/bench_secure_linear.py [--epochs 3] [--backend heu-paillier]
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np
from sklearn.datasets import load_breast_cancer

from whatleaks.crypto.keys import BACKENDS, generate_keys
from whatleaks.federation.regression.linear import Run
from whatleaks.federation.regression.logistic import plain_logistic, run_logistic
from whatleaks.federation.regression.settings import LOGISTIC, SecureLinearSettings
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript

REFERENCE = "phe-paillier"
FATE = 20.0  # seconds of its coordinated regression on this set, epochs not recorded


def main() -> None:
    """Run both backends in turn and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--backend", choices=BACKENDS, default="heu-paillier")
    parser.add_argument("--without-reference", action="store_true")
    chosen = parser.parse_args()
    x, y = load_breast_cancer(return_X_y=True)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    own, other, y = x[:, :15], x[:, 15:], y.astype(np.float64)
    settings = SecureLinearSettings(epochs=1, batch_size=64, learning_rate=0.002, queries=False)
    plain = plain_logistic(own, other, y, settings, Streams(0))
    backends = [chosen.backend] if chosen.without_reference else [chosen.backend, REFERENCE]
    keys = {backend: generate_keys(backend, settings.key_bits) for backend in backends}
    seconds: Counter[str] = Counter()
    busy: Counter[str] = Counter()  # of the processor: what a loaded machine blurs less
    for epoch in range(chosen.epochs):
        for backend in backends:
            channel = Channel(Transcript([]))
            start, work = time.perf_counter(), time.process_time()
            done: Run = run_logistic(own, other, y, settings, Streams(0), channel, keys[backend])
            seconds[backend] += time.perf_counter() - start
            busy[backend] += time.process_time() - work
            gap = max(
                np.abs(done.active_weights - plain.active_weights).max(),
                np.abs(done.passive_weights - plain.passive_weights).max(),
            )
            z = own @ done.active_weights + other @ done.passive_weights
            right = float(((LOGISTIC.score(z) > 0.5) == y).mean())
            print(
                f"{backend}, {epoch + 1} epochs: {seconds[backend]:.1f} s "
                f"({busy[backend]:.1f} s of the processor), weights within {gap:.1e} of plain, "
                f"accuracy {right:.3f}",
                flush=True,
            )
    if not chosen.without_reference:
        ratio = seconds[REFERENCE] / seconds[chosen.backend]
        work_ratio = busy[REFERENCE] / busy[chosen.backend]
        print(f"phe / fast: {ratio:.1f} by the clock, {work_ratio:.1f} by processor; goal 5")
    print(f"FATE 2.2 in three processes, measured on such a machine: {FATE:.0f} s")


if __name__ == "__main__":
    main()
