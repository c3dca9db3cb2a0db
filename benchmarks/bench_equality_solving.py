"""Equality solving of 100,000 records x 48 columns against the matrix product it is made of.

The reference in the same run is the product of the right sides with the pseudo-inverse, with the
model's own outputs added: the arithmetic that nobody can leave out.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.equality_solving import EqualitySolving
from whatleaks.models.additive import Additive
from whatleaks.models.linear import Linear
from whatleaks.threat.views.prediction import WhiteBoxPredictionView

RECORDS, COLUMNS, UNKNOWN, CLASSES = 100_000, 48, 24, 11


def fastest(work: Callable[[], object], times: int = 5) -> float:
    """Return the best of a few timings in seconds."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    """Print seconds and ratio."""
    rng = np.random.default_rng(0)
    known = COLUMNS - UNKNOWN
    model = Additive(
        Linear(sealed(rng.normal(size=(known, CLASSES))), sealed(rng.normal(size=CLASSES))),
        Linear(sealed(rng.normal(size=(UNKNOWN, CLASSES))), sealed(np.zeros(CLASSES))),
    )
    own, secret = (sealed(rng.random((RECORDS, n))) for n in (known, UNKNOWN))
    view = WhiteBoxPredictionView(own, sealed(model.scores(own, secret)), UNKNOWN, model)
    attack = EqualitySolving()
    right = rng.normal(size=(RECORDS, CLASSES - 1))
    inverse = np.linalg.pinv(rng.normal(size=(CLASSES - 1, UNKNOWN)))

    def product() -> object:
        return right @ inverse.T, own @ model.active.weights

    solving = fastest(lambda: attack.infer(view, rng))
    reference = fastest(product)
    print(
        f"equality solving, {RECORDS:,} records x {COLUMNS} columns: {solving:.3f} s (limit 0.3 s)"
    )
    print(f"the matrix products it is made of: {reference:.3f} s; ratio {solving / reference:.1f}")


if __name__ == "__main__":
    main()
