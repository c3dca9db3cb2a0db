"""The interval of the squared correlation covers what it should."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.metrics.association import followed


def measure(guess, truth):
    g, t = guess - guess.mean(), truth - truth.mean()
    return followed(g * t, g * g, t * t)


@pytest.mark.parametrize(
    ("rho", "n", "skewed"), [(0.3, 100, False), (0.7, 100, False), (0.5, 300, True)]
)
def test_coverage(rho: float, n: int, skewed: bool) -> None:
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(2000):
        a, b = rng.normal(size=(2, n))
        truth = a
        guess = rho * a + np.sqrt(1 - rho**2) * b
        if skewed:  # a mixture with the same correlation and heavier tails
            scale = np.sqrt(rng.exponential(size=n))
            truth, guess = truth * scale, guess * scale
        found = measure(guess, truth)
        hits += found.low <= rho**2 <= found.high
    assert 0.93 <= hits / 2000 <= 0.97


def test_limits() -> None:
    rng = np.random.default_rng(0)
    t = rng.normal(size=50)
    assert measure(3 * t + 1, t).value == pytest.approx(1.0, abs=1e-12)
    assert measure(-t, t).value == 0.0
    assert measure(np.full(50, 0.5), t).value == 0.0
    assert measure(t, np.full(50, 0.5)).value == 0.0
    plain = np.corrcoef(t + rng.normal(size=50), t)
    assert plain.shape == (2, 2)


def test_it_is_numpys_correlation_squared() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 80))
    assert measure(a + b, a).value == pytest.approx(np.corrcoef(a + b, a)[0, 1] ** 2, rel=1e-12)
