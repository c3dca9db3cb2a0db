"""SplitGuard's score from hand-worked numbers, its limits, and its rules of conduct."""

from __future__ import annotations

from math import acos, exp, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.detectors.protocol import Continue, DetectorGrant, Halt, Probe, Received
from whatleaks.detectors.splitguard import GradientSet, SplitGuard, splitguard_score
from whatleaks.errors import UsageError


def gradients(*vectors: tuple[float, ...]) -> GradientSet:
    kept = GradientSet()
    for vector in vectors:
        kept.add(np.array(vector))
    return kept


def squash(difference: float, alpha: float = 5.0, beta: float = 2.0) -> float:
    return (1.0 / (1.0 + exp(-alpha * difference))) ** beta


def test_hand_worked_score() -> None:
    # R1 = (2, 0), R2 = (0, 1): angle pi/2, lengths 2 and 1, so d(R1, R2) = 1.
    # R has mean (1, 0.5) and mean length 1.5; F = (-1.5, 3) stands at a right angle to it
    # and has length 1.5 sqrt(5).
    distance = 1.5 * sqrt(5.0) - 1.5
    wanted = squash((pi / 2 * distance - pi / 2 * 1.0) / (distance + 1.0))
    found = splitguard_score(
        gradients((-1.5, 3.0)), gradients((2.0, 0.0)), gradients((0.0, 1.0)), 5.0, 2.0
    )
    assert abs(found - wanted) < 1e-12


def test_length_is_the_mean_of_lengths_not_the_length_of_the_mean() -> None:
    # The two fakes cancel to a mean of (0, 1) but have mean length sqrt(5).
    fake = gradients((2.0, 1.0), (-2.0, 1.0))
    wanted = squash((pi / 2 * (sqrt(5.0) - 2.0) - 0.0) / (sqrt(5.0) - 2.0 + 2.0))
    found = splitguard_score(fake, gradients((1.0, 0.0)), gradients((3.0, 0.0)), 5.0, 2.0)
    assert abs(found - wanted) < 1e-12


def test_limits() -> None:
    same = gradients((1.0, 2.0))
    assert splitguard_score(same, same, same, 5.0, 2.0) == 0.25  # nothing tells them apart
    zero = gradients((0.0, 0.0))
    assert splitguard_score(zero, zero, zero, 5.0, 2.0) == 0.25
    opposite = gradients((-3.0, -6.0))  # theta = pi, d(R1, R2) = 0: the largest S there is
    assert abs(splitguard_score(opposite, same, same, 5.0, 2.0) - squash(pi)) < 1e-12
    # Regular halves opposite to each other, the fake of their mean length: the smallest S.
    found = splitguard_score(
        gradients((2.0, 0.0)), gradients((1.0, 0.0)), gradients((-3.0, 0.0)), 5.0, 2.0
    )
    assert abs(found - squash(-pi)) < 1e-12


def slow_score(fakes, ones, twos, alpha, beta):  # type: ignore[no-untyped-def]
    """The same from plain lists, with the dot product written out."""

    def mean(vectors):  # type: ignore[no-untyped-def]
        return [sum(values) / len(vectors) for values in zip(*vectors, strict=True)]

    def length(vector):  # type: ignore[no-untyped-def]
        return sqrt(sum(value * value for value in vector))

    def angle(a, b):  # type: ignore[no-untyped-def]
        both = length(a) * length(b)
        cosine = sum(x * y for x, y in zip(a, b, strict=True)) / both
        return acos(max(-1.0, min(1.0, cosine)))

    def typical(vectors):  # type: ignore[no-untyped-def]
        return sum(length(vector) for vector in vectors) / len(vectors)

    far = abs(typical(fakes) - (typical(ones) + typical(twos)) / 2)
    near = abs(typical(ones) - typical(twos))
    middle = [(a + b) / 2 for a, b in zip(mean(ones), mean(twos), strict=True)]
    s = (angle(mean(fakes), middle) * far - angle(mean(ones), mean(twos)) * near) / (far + near)
    return (1 / (1 + exp(-alpha * s))) ** beta


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.floats(0.01, 100.0))
def test_score_against_slow_reference_and_its_symmetries(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    sets = [rng.normal(size=(rng.integers(1, 6), 4)) for _ in range(3)]
    fake, one, two = (gradients(*map(tuple, s)) for s in sets)
    found = splitguard_score(fake, one, two, 5.0, 2.0)
    assert abs(found - slow_score(*(s.tolist() for s in sets), 5.0, 2.0)) < 1e-9
    assert 0.0 <= found <= 1.0
    assert abs(found - splitguard_score(fake, two, one, 5.0, 2.0)) < 1e-9
    scaled = [gradients(*map(tuple, s * scale)) for s in sets]
    assert abs(found - splitguard_score(*scaled, 5.0, 2.0)) < 1e-9


def answer(*vector: float) -> Received:
    return Received(embedding=np.zeros((1, 1)), first_weights=np.array(vector))


def test_fake_batches_come_late_seldom_and_from_all_classes() -> None:
    watch = SplitGuard(classes=3).start()
    rng = np.random.default_rng(0)
    probes = {step: watch.choose(step, 64, rng) for step in range(5021)}
    fakes = {step: probe for step, probe in probes.items() if probe is not None}
    assert min(fakes) > 20
    # 5,000 draws of 0.1: 99.9 % of such counts lie within 3.3 standard deviations of 500.
    assert abs(len(fakes) - 500) < 3.3 * sqrt(5000 * 0.1 * 0.9)
    counts = np.bincount(np.concatenate([probe.labels for probe in fakes.values()]), minlength=3)
    assert len(counts) == 3
    assert (abs(counts / counts.sum() - 1 / 3) < 0.01).all()


def test_only_fake_batches_are_scored() -> None:
    watch = SplitGuard(classes=2).start()
    rng = np.random.default_rng(0)
    for step in range(21, 61):
        assert watch.observe(step, answer(1.0, 0.1 * step), None, rng) == Continue(None)
    signal = watch.observe(61, answer(-5.0, 0.0), Probe(np.zeros(1, dtype=np.int64)), rng)
    assert isinstance(signal, Continue)
    assert signal.score is not None


def test_early_regular_batches_are_not_kept() -> None:
    watch = SplitGuard(classes=2).start()
    rng = np.random.default_rng(0)
    for step in range(21):
        watch.observe(step, answer(1.0, 0.0), None, rng)
    assert (
        watch.observe(21, answer(1.0, 0.0), Probe(np.zeros(1, dtype=np.int64)), rng) == Continue()
    )


@pytest.mark.parametrize(("fake", "halts"), [((1.0, 0.0), True), ((-5.0, 0.0), False)])
def test_halts_at_the_tenth_low_score_and_never_before(
    fake: tuple[float, float], halts: bool
) -> None:
    watch = SplitGuard(classes=2).start()
    rng = np.random.default_rng(0)
    for step in range(21, 61):
        watch.observe(step, answer(1.0, 0.0), None, rng)
    probe = Probe(np.zeros(1, dtype=np.int64))
    signals = [watch.observe(61 + i, answer(*fake), probe, rng) for i in range(10)]
    assert not any(isinstance(signal, Halt) for signal in signals[:9])
    assert isinstance(signals[9], Halt) == halts
    if halts:
        assert signals[9].score == 0.25


def test_it_declares_what_its_probes_use_and_no_more() -> None:
    # A probe replaces labels, and its labels come from all classes: two grants, each in words.
    granted = SplitGuard(classes=2).grants
    assert granted == (DetectorGrant.REPLACE_LABELS, DetectorGrant.CLASSES)
    told = " ".join(grant.value for grant in granted)
    for word in ("made-up labels", "the asking shows which batch", "number of classes"):
        assert word in told


@pytest.mark.parametrize("wrong", [{"classes": 1}, {"fake_share": 0.0}, {"window": 0}])
def test_settings_without_meaning_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        SplitGuard(**{"classes": 2, **wrong})  # type: ignore[arg-type]
