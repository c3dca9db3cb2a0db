"""The generator on wide tables: few inputs against all of them, error and seconds in one run.

With many columns most of the generator's weights are those of its inputs: own columns, and as many
numbers of noise as there are unknown columns. With more than ``MOST_INPUTS`` columns
``attacks.generative_regression`` gives it at most ``MOST_NOISE`` of noise, and the directions in which the
records differ in place of the own columns. Here both forms attack the same released scores of a logistic regression. The ratio of errors
is over seeds, with its interval: below 1 the narrow form errs less. Leakage is the mean squared
correlation over the columns. Seconds are of processor time on one thread.

    python benchmarks/wide_generator.py [--home DIR] [--seeds 5] [--sets made mnist]

``mnist``: halves of pictures, 392 columns on either side. ``made``: twice 500 columns that go together
in eight ways, as in ``bench_audit_cost``.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from unittest.mock import patch

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from bench_audit_cost import table
from staged import staged

from whatleaks.arrays import Floats, Ints
from whatleaks.attacks import generative_regression as grn
from whatleaks.data.loading import load_images
from whatleaks.federation.additive.run import AdditiveFederation
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.metrics.intervals import mean_over_seeds
from whatleaks.seeds import Streams
from whatleaks.threat.prediction import WHITE_BOX
from whatleaks.threat.views.prediction import WhiteBoxPredictionView

TRAINED = 1500
Tables = tuple[Floats, Floats, Ints]


def made() -> Tables:
    """Make a wide table, scaled to 0 and 1; every second column is passive."""
    frame = table(2000, 1000)
    values = frame.drop(columns="y").to_numpy(dtype=np.float64)
    low, high = values.min(axis=0), values.max(axis=0)
    values = (values - low) / (high - low)
    return values[:, ::2], values[:, 1::2], frame["y"].to_numpy()


def mnist(home: Path | None) -> Tables:
    """Read 2,000 pictures: the left half is the adversary's, the right half passive."""
    found = load_images("mnist", home)
    pixels = found.training[:2000] / 255.0
    left, right = (half.reshape(len(pixels), -1) for half in np.split(pixels, 2, axis=2))
    return left, right, found.training_labels[:2000]


def leakage(guess: Floats, truth: Floats) -> float:
    """Return the mean over varying columns of the squared correlation, zero where it is negative."""
    varies = truth.std(axis=0) > 0
    a, b = (part[:, varies] - part[:, varies].mean(axis=0) for part in (guess, truth))
    size = np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
    r = (a * b).sum(axis=0) / np.where(size > 0, size, 1.0)
    return float((np.maximum(r, 0.0) ** 2).mean())


def answered(view: WhiteBoxPredictionView, few: bool, seed: int) -> Floats:
    """Let the generator answer, with few inputs or with all of them."""
    model = grn.GivenOwn(view.model, view.own, torch.float32)

    def scores(values: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        return grn.log_scores(model.outputs(values, rows)).exp()

    attack, rng = grn.GenerativeRegression(), np.random.default_rng(seed)
    seen = (view.own, view.scores, view.unknown, scores, rng)
    with patch.object(grn, "MOST_INPUTS", 0 if few else 10**9):
        return attack.regress(*seen)


def main() -> None:
    """Print, for each set and number of attacked records, both errors, leakages and seconds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, default=None)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sets", nargs="+", default=["made", "mnist"])
    asked = parser.parse_args()
    torch.set_num_threads(1)
    for name in asked.sets:
        tables = made() if name == "made" else mnist(asked.home)
        for attacked in (80, 400):
            found: dict[str, list[tuple[float, float, float]]] = {"all": [], "few": []}
            for seed in range(asked.seeds):
                order = np.random.default_rng(seed).permutation(len(tables[2]))
                rows = (order[:TRAINED], order[TRAINED : TRAINED + attacked])
                settings = AdditiveSettings(steps=300)
                stage = staged(
                    AdditiveFederation(), settings, tables, rows, WHITE_BOX, Streams(seed)
                )
                view = stage.view(stage.rows.targets)
                for form, measured in found.items():
                    start = time.process_time()
                    guess = answered(view, form == "few", seed)
                    spent = time.process_time() - start
                    error = float(((guess - stage.truth) ** 2).mean())
                    measured.append((error, leakage(guess, stage.truth), spent))
            every, few = (np.array(found[form]) for form in ("all", "few"))
            apart = mean_over_seeds(np.log(few[:, 0] / every[:, 0]), "log ratio")
            low, value, high = np.exp([apart.low, apart.value, apart.high])
            print(
                f"{name}, {attacked} records: error {every[:, 0].mean():.4f} with all inputs, "
                f"{few[:, 0].mean():.4f} with few (ratio {value:.3f} [{low:.3f}, {high:.3f}]); leakage "
                f"{every[:, 1].mean():.3f} and {few[:, 1].mean():.3f}; {every[:, 2].mean():.1f} s and "
                f"{few[:, 2].mean():.1f} s, {every[:, 2].mean() / few[:, 2].mean():.1f} times as fast",
                flush=True,
            )


if __name__ == "__main__":
    main()
