"""Gradients Scrutinizer and the comparison of lengths; what a rehearsal is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import ks_2samp

from staging import chosen, held
from whatleaks.arrays import Floats, sealed, sealed_ints
from whatleaks.detectors.gradient_scrutinizer import (
    GradientScrutinizer,
    fit_error,
    overlap,
    scrutiny,
    similarities,
)
from whatleaks.detectors.norm_comparison import NormComparison, calibrated, ks_distance
from whatleaks.detectors.protocol import Continue, Halt, Received, lengths
from whatleaks.errors import UsageError
from whatleaks.federation.split.run import SplitFederation
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.models.torch_network import Layers
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel

torch.set_num_threads(1)
RNG = np.random.default_rng(0)


def test_similarities_against_a_plain_loop() -> None:
    gradients, labels = RNG.normal(size=(7, 3)), np.array([0, 1, 0, 2, 1, 1, 0])
    gradients[3] = 0.0  # points nowhere
    same, other = [], []
    for i in range(7):
        for j in range(i + 1, 7):
            lengths = np.linalg.norm(gradients[i]) * np.linalg.norm(gradients[j])
            if lengths:
                alike = (1 + gradients[i] @ gradients[j] / lengths) / 2
                (same if labels[i] == labels[j] else other).append(alike)
    found = similarities(sealed(gradients), sealed_ints(labels))
    assert np.abs(np.sort(found[0]) - np.sort(same)).max() < 1e-12
    assert np.abs(np.sort(found[1]) - np.sort(other)).max() < 1e-12


def test_fit_error_and_overlap_on_worked_cases() -> None:
    steps = np.arange(40.0)
    assert fit_error(3.0 - 0.2 * steps + 0.01 * steps**2) < 1e-12  # a parabola fits itself
    assert abs(fit_error(np.tile([1.0, -1.0], 500)) - 1.0) < 0.01
    assert overlap(0.9, 0.1, 0.2, 0.1) == 0.0  # bands apart
    assert abs(overlap(0.5, 0.2, 0.5, 0.2) - 1.0) < 1e-6  # the same band
    assert abs(overlap(0.6, 0.1, 0.4, 0.2) - 0.1 / 0.5) < 1e-6


def test_a_gap_by_label_scores_high_and_none_scores_low() -> None:
    noise = 0.01 * RNG.normal(size=(2, 60))
    spread = np.full(60, 0.05)
    honest = scrutiny(np.stack([0.95 + noise[0], spread, 0.2 + noise[1], spread]))
    blind = scrutiny(np.stack([0.8 + noise[0], spread, 0.8 + noise[1], spread]))
    assert honest > 0.99
    assert blind < 0.2


def watched(by_label: bool) -> list[object]:
    watch, rng = GradientScrutinizer(start_after=10, window=2).start(), np.random.default_rng(2)
    told: list[object] = []
    for step in range(60):
        labels = rng.integers(0, 2, 16)
        direction = np.where(labels[:, None] == 0, [1.0, 0.0], [-1.0, 0.0])
        pushed = direction if by_label else np.ones((16, 2))
        gradient = sealed(pushed + 0.1 * rng.normal(size=(16, 2)))
        told.append(
            watch.observe(step, Received(gradient, gradient, sealed_ints(labels)), None, rng)
        )
    return told


def test_it_halts_answers_that_ignore_labels_and_not_those_that_follow_them() -> None:
    assert not any(isinstance(said, Halt) for said in watched(True))
    assert any(isinstance(said, Halt) for said in watched(False))


def test_it_needs_labels_and_two_classes() -> None:
    watch, gradient = GradientScrutinizer().start(), sealed(np.ones((4, 2)))
    with pytest.raises(UsageError, match="needs the labels"):
        watch.observe(0, Received(gradient, gradient), None, RNG)
    for step in range(200):  # one class only: nothing to compare, nothing to halt for
        seen = Received(gradient, gradient, sealed_ints(np.zeros(4)))
        assert watch.observe(step, seen, None, RNG) == Continue()
    with pytest.raises(UsageError, match="at least 1"):
        GradientScrutinizer(every=0)


def test_the_distance_is_kolmogorov_smirnov() -> None:
    one, other = RNG.normal(size=50), RNG.normal(0.5, 2.0, size=70)
    assert abs(ks_distance(one, other) - ks_2samp(one, other).statistic) < 1e-12


def test_lengths_do_not_depend_on_the_batch_size() -> None:
    records = RNG.normal(size=(6, 3))
    assert np.abs(lengths(records / 6)[:3] - lengths(records[:3] / 3)).max() < 1e-12


def runs(count: int, seed: int, shift: float = 0.0) -> tuple[Floats, ...]:
    """Honest lengths with a level that differs from run to run."""
    rng = np.random.default_rng(seed)
    return tuple(
        sealed(np.exp(rng.normal(0.3 * rng.normal() + shift, 1.0, size=(40, 8))))
        for _ in range(count)
    )


def halts(new: Floats, rehearsed: tuple[Floats, ...]) -> bool:
    watch = NormComparison(rehearsals=9, watched=40, window=10).compare(rehearsed)
    for step, row in enumerate(new):
        gradient = sealed(np.diag(row) / len(row))
        if isinstance(watch.observe(step, Received(gradient, gradient), None, RNG), Halt):
            return True
    return False


def test_false_halts_keep_to_the_stated_rate_and_longer_answers_are_caught() -> None:
    """Exchangeable runs: 9 rehearsals, a false halt in one of ten; 300 trials, 3 deviations."""
    false = sum(halts(runs(1, 1000 + i)[0], runs(9, i)) for i in range(300)) / 300
    assert false < 0.1 + 3 * np.sqrt(0.1 * 0.9 / 300)
    assert all(halts(runs(1, 1000 + i, 3.0)[0], runs(9, i)) for i in range(20))


def test_the_border_is_the_largest_of_the_rehearsals() -> None:
    rehearsed = runs(4, 0)
    found = []
    for i in range(4):
        rest = np.concatenate([rehearsed[j] for j in range(4) if j != i], axis=1)
        for start in (0, 20):
            part = slice(start, start + 20)
            found.append(ks_2samp(rehearsed[i][part].ravel(), rest[part].ravel()).statistic)
    assert abs(calibrated(rehearsed, 20) - max(found)) < 1e-12


def test_rehearsals_use_public_records_and_leave_the_training_as_it_was() -> None:
    columns = RNG.normal(size=(120, 6))
    holdings = held(columns, (columns[:, 0] > 0).astype(np.int64), [np.s_[3:]], np.s_[:3], 2)
    settings = SplitSettings(steps=12, batch=10, learning_rate=1e-2, bottom=Layers((5,), 3))
    detector = NormComparison(rehearsals=3, watched=8, window=4)

    def trained(others: range, watch: bool) -> list[Floats]:
        made = SplitFederation().train(
            holdings,
            replace(chosen(range(40), range(40, 50)), others=sealed_ints(others)),
            settings,
            Streams(1),
            Channel(),
            detector=detector if watch else None,
        )
        return [p.detach().numpy() for p in made.passives["passive"].bottom.parameters()]

    plain, seen = trained(range(50, 110), False), trained(range(50, 110), True)
    assert all(np.array_equal(a, b) for a, b in zip(plain, seen, strict=True))
    with pytest.raises(UsageError, match="at least 20 public records, and 10 are left"):
        trained(range(50, 60), True)
