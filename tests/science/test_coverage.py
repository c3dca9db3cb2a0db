"""Every 95 % interval covers the truth in 93 to 97 % of 2,000 simulated cases.

The band is the project's own (an interval outside it is wrong for practice); with 2,000
cases the simulation's standard deviation is 0.5 %, so a right method passes with room.
Seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from whatleaks.arrays import Floats
from whatleaks.metrics.intervals import (
    leakage_over_records,
    mean_over_records,
    mean_over_seeds,
    paired_difference,
    wilson,
)
from whatleaks.metrics.measurement import Measurement

CASES = 2000


def coverage(measure: Callable[[int], Measurement], truth: float) -> float:
    intervals = [measure(case) for case in range(CASES)]
    return float(np.mean([m.low <= truth <= m.high for m in intervals]))


@pytest.mark.parametrize(
    ("draw", "truth", "n"),
    [
        (lambda rng, shape: rng.normal(0.3, 0.1, shape), 0.3, 100),
        (lambda rng, shape: rng.exponential(0.05, shape), 0.05, 100),
        (lambda rng, shape: rng.normal(0.0, 1.0, shape) ** 2, 1.0, 100),  # skewness 2.8
        (lambda rng, shape: rng.exponential(0.05, shape), 0.05, 1500),  # the t branch
        (lambda rng, shape: rng.normal(0.3, 0.1, shape), 0.3, 10),  # too few to resample
    ],
    ids=["normal-100", "exponential-100", "squared-normal-100", "exponential-1500", "normal-10"],
)
def test_mean_over_records_covers(
    draw: Callable[[np.random.Generator, tuple[int, int]], Floats], truth: float, n: int
) -> None:
    rng = np.random.default_rng(20240501)
    errors = draw(rng, (CASES, n))
    resampling = np.random.default_rng(7)
    share = coverage(lambda i: mean_over_records(errors[i], "mse", resampling), truth)
    assert 0.93 <= share <= 0.97


def test_leakage_covers() -> None:
    """x ~ N(0, 1), guess = 0.8 x + noise of variance 0.16: error 0.04 + 0.16, leakage 0.8."""
    rng = np.random.default_rng(11)
    x = rng.normal(size=(CASES, 100))
    guess = 0.8 * x + rng.normal(0.0, 0.4, x.shape)
    errors = (guess - x) ** 2
    deviations = (x - x.mean(axis=1, keepdims=True)) ** 2
    resampling = np.random.default_rng(12)
    share = coverage(lambda i: leakage_over_records(errors[i], deviations[i], resampling), 0.8)
    assert 0.93 <= share <= 0.97


def test_paired_difference_covers() -> None:
    """Two attacks share the hard records; the true difference of their errors is 0.02."""
    rng = np.random.default_rng(21)
    hard = rng.exponential(0.1, (CASES, 100))
    a = hard + rng.exponential(0.05, hard.shape)
    b = hard + rng.exponential(0.03, hard.shape)
    resampling = np.random.default_rng(22)
    share = coverage(lambda i: paired_difference(a[i], b[i], "mse", resampling), 0.02)
    assert 0.93 <= share <= 0.97


@pytest.mark.parametrize("seeds", [2, 5, 10])
def test_mean_over_seeds_covers(seeds: int) -> None:
    values = np.random.default_rng(31).normal(0.7, 0.02, (CASES, seeds))
    share = coverage(lambda i: mean_over_seeds(values[i], "accuracy"), 0.7)
    assert 0.93 <= share <= 0.97


@pytest.mark.parametrize(("rate", "n"), [(0.5, 100), (0.1, 100), (0.9, 200), (0.02, 500)])
def test_wilson_covers(rate: float, n: int) -> None:
    counts = np.random.default_rng(41).binomial(n, rate, CASES)
    share = coverage(lambda i: wilson(int(counts[i]), n), rate)
    assert 0.93 <= share <= 0.97
