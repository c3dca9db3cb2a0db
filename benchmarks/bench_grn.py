"""A GRN epoch on tensors against the same network fed record by record, in one run.

Credit card default (30,000 x 23), logistic regression, 14 columns known and 9 unknown, the
6,000 records that did not train. Both sides have the same generator, loss, rate and epochs.
The plain side is what a first version looks like: a Dataset that returns one record, a
DataLoader that collates batches of 64, the model applied anew to the true record for its
score, a Python loop over columns for the variances. Ours also runs with batches of 64, to
show what the feeding alone costs. Seconds are the process's own on one thread, so that other
work on the machine does not count.

    python benchmarks/bench_grn.py [--home DIR] [--epochs 20] [--seeds 3]
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from staged import staged
from torch.utils.data import DataLoader, Dataset

from whatleaks.arrays import Floats
from whatleaks.attacks.generative_regression import (
    GenerativeRegression,
    Penalty,
    generator_network,
)
from whatleaks.data import load, prepare
from whatleaks.federation.additive.run import AdditiveFederation
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.metrics.intervals import mean_over_seeds
from whatleaks.models.linear import Linear
from whatleaks.seeds import Streams, torch_seed
from whatleaks.threat.prediction import WHITE_BOX
from whatleaks.threat.views.prediction import WhiteBoxPredictionView

UNKNOWN = 9
NEEDED = 5.0


class OneRecord(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Hands out one complete record at a time, as the plain version does."""

    def __init__(self, own: Floats, truth: Floats) -> None:
        self.own, self.truth = own, truth

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        return (
            torch.tensor(self.own[i], dtype=torch.float32),
            torch.tensor(self.truth[i], dtype=torch.float32),
        )


def plain(
    view: WhiteBoxPredictionView, truth: Floats, epochs: int, rate: float, seed: int
) -> tuple[Floats, float]:
    """Train record by record; return the guess and the seconds of an epoch.

    Like the authors' program it computes the scores from the true record inside the loop: the
    numbers are the released ones, so nothing is gained but time is spent.
    """
    draw = torch.Generator().manual_seed(torch_seed(np.random.default_rng(seed)))
    active, passive = view.model.active, view.model.passive
    assert isinstance(active, Linear)
    assert isinstance(passive, Linear)
    weights = torch.tensor(np.concatenate([active.weights, passive.weights]), dtype=torch.float32)
    bias = torch.tensor(active.bias + passive.bias, dtype=torch.float32)

    def scores(x: torch.Tensor) -> torch.Tensor:
        p = torch.sigmoid(x @ weights + bias)
        return torch.cat([1 - p, p], dim=1)

    penalty = Penalty.excess(view.own, view.scores)
    columns = view.own.shape[1] + UNKNOWN
    net = generator_network(columns, (600, 200, 100), UNKNOWN, draw, torch.float32)
    adam = torch.optim.Adam(net.parameters(), lr=rate)
    loader = DataLoader(OneRecord(view.own, truth), batch_size=64, shuffle=True, generator=draw)
    start = time.process_time()
    for _ in range(epochs):
        for own, true in loader:
            adam.zero_grad()
            noise = torch.randn(len(own), UNKNOWN, generator=draw)
            values = net(torch.cat([own, noise], dim=1))
            wanted = scores(torch.cat([own, true], dim=1)).detach()
            loss = penalty.score_term(scores(torch.cat([own, values], dim=1)), wanted)
            excess = torch.zeros(())
            for j in range(UNKNOWN):
                excess = excess + torch.relu(values[:, j].var(correction=0) - penalty.allowed)
            (loss + penalty.variance_weight * excess / UNKNOWN).backward()
            adam.step()
    seconds = (time.process_time() - start) / epochs
    with torch.no_grad():
        noise = torch.randn(len(truth), UNKNOWN, generator=draw)
        guess = net(torch.cat([torch.tensor(view.own, dtype=torch.float32), noise], dim=1))
    return guess.double().numpy(), seconds


def view_and_truth(home: Path | None, seed: int) -> tuple[WhiteBoxPredictionView, Floats]:
    """Train the joint model by messages and return the view on the records that did not train."""
    data = load("credit-card-default", home)
    columns = [c for c in data.frame.columns if c != data.label]
    streams = Streams(seed)
    prepared = prepare(
        data.frame,
        data.label,
        columns[-UNKNOWN:],
        rng=streams.rng("split"),
        scale_on="all",
        training_fraction=0.8,
    )
    stage = staged(
        AdditiveFederation(),
        AdditiveSettings(steps=1500),
        (prepared.active, prepared.passive, prepared.labels),
        (prepared.training, prepared.targets),
        WHITE_BOX,
        streams,
    )
    return stage.view(prepared.targets), stage.truth


def main() -> None:
    """Print seconds per epoch, their ratio, and both errors with intervals over seeds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, default=None)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    ours = GenerativeRegression(epochs=asked.epochs, least_steps=1)
    same_batch = GenerativeRegression(epochs=asked.epochs, least_steps=1, batch=64)
    seconds: dict[str, list[float]] = {"plain": [], "tensors, 64": [], "tensors": []}
    error: dict[str, list[float]] = {name: [] for name in (*seconds, "half")}
    for seed in range(asked.seeds):
        view, truth = view_and_truth(asked.home, seed)
        guess, spent = plain(view, truth, asked.epochs, ours.learning_rate, seed)
        seconds["plain"].append(spent)
        error["plain"].append(float(((guess - truth) ** 2).mean()))
        for name, attack in (("tensors, 64", same_batch), ("tensors", ours)):
            start = time.process_time()
            guess = attack.infer(view, np.random.default_rng(seed)).values
            seconds[name].append((time.process_time() - start) / asked.epochs)
            error[name].append(float(((guess - truth) ** 2).mean()))
        error["half"].append(float(((truth - 0.5) ** 2).mean()))
    print(f"credit, 14/9 columns, LR, {len(truth)} records, {asked.epochs} epochs, 1 thread")
    for name, spent in seconds.items():
        found = mean_over_seeds(error[name], "mse") if asked.seeds > 1 else error[name][0]
        print(f"{name:12} {np.mean(spent):.4f} s an epoch; error {found}")
    print(f"{'half':12} error {np.mean(error['half']):.4f}")
    ratio = np.mean(seconds["plain"]) / np.mean(seconds["tensors"])
    feeding = np.mean(seconds["plain"]) / np.mean(seconds["tensors, 64"])
    print(
        f"ratio: {ratio:.1f}x ({NEEDED:g}x wanted); with batches of 64 on both sides {feeding:.1f}x"
    )
    if asked.seeds > 1:
        gap = np.subtract(error["tensors"], error["plain"])
        print(f"error of tensors minus plain: {mean_over_seeds(gap, 'mse')}")
    print(f"60 epochs on tensors, seconds of one thread: {60 * np.mean(seconds['tensors']):.1f}")


if __name__ == "__main__":
    main()
