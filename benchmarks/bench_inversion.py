"""Gradient inversion of 1,000 records at once against a loop over records, in the same run.

    python benchmarks/bench_inversion.py [RECORDS] [STEPS]

The loop is timed on some records and scaled up: a whole one would take many minutes.
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.gradient_inversion import GradientInversion
from whatleaks.models.additive import Additive
from whatleaks.models.network import Network
from whatleaks.threat.views.prediction import WhiteBoxAdditiveView

LOOPED = 10


def part(rng: np.random.Generator, columns: int) -> Network:
    """Return two hidden layers of eight."""
    widths = (columns, 8, 8, 6)
    pairs = list(pairwise(widths))
    return Network(
        tuple(sealed(rng.normal(size=pair)) for pair in pairs),
        tuple(sealed(rng.normal(size=b)) for _, b in pairs),
        "sigmoid",
    )


def main(records: int = 1000, steps: int = 300) -> None:
    """Print both times and their ratio."""
    rng = np.random.default_rng(0)
    model = Additive(part(rng, 18), part(rng, 18))
    own, secret = sealed(rng.random((records, 18))), sealed(rng.random((records, 18)))
    scores = sealed(model.scores(own, secret))
    attack = GradientInversion(steps=steps, tolerance=0.0)
    view = WhiteBoxAdditiveView(own, scores, 18, model)
    # Warmed up on other scores: a search that was made a moment ago would be remembered.
    attack.infer(WhiteBoxAdditiveView(own, sealed(scores[::-1]), 18, model), rng)
    start = time.process_time()
    together = attack.infer(view, rng).values
    at_once = time.process_time() - start
    start = time.process_time()
    for i in range(LOOPED):
        one = WhiteBoxAdditiveView(own[i : i + 1], scores[i : i + 1], 18, model)
        apart = float(np.abs(attack.infer(one, rng).values[0] - together[i]).max())
        assert apart < 1e-8, apart
    looped = (time.process_time() - start) * records / LOOPED
    print(f"{records} records, {steps} steps: at once {at_once:.2f} s, in a loop {looped:.1f} s")
    print(f"ratio {looped / at_once:.0f}")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
