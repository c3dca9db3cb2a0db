"""The interval of what joining adds covers what it should, and luck is not called a lead."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.metrics.association import gained

CASES = 2000


def deviations(guess, truth):
    g, t = guess - guess.mean(), truth - truth.mean()
    return (g * t, g * g)


def measure(one, other, truth):
    spread = (truth - truth.mean()) ** 2
    return gained(deviations(one, truth), deviations(other, truth), spread)


def drawn(rng, n, attack, control, shared, skewed):
    """Two guesses with given correlations with the truth, whose errors share a part."""
    truth, common, a, b = rng.normal(size=(4, n))
    noise = [np.sqrt(shared) * common + np.sqrt(1 - shared) * own for own in (a, b)]
    one, other = (
        rho * truth + np.sqrt(1 - rho**2) * e
        for rho, e in zip((attack, control), noise, strict=True)
    )
    if skewed:  # a mixture with the same correlations and heavier tails
        scale = np.sqrt(rng.exponential(size=n))
        truth, one, other = truth * scale, one * scale, other * scale
    return one, other, truth


@pytest.mark.parametrize(
    ("attack", "control", "shared", "n", "skewed"),
    [
        (0.8, 0.4, 0.0, 100, False),
        (0.8, 0.4, 0.5, 100, False),
        (0.6, 0.5, 0.7, 200, False),
        (0.7, 0.3, 0.5, 300, True),
    ],
)
def test_coverage(attack: float, control: float, shared: float, n: int, skewed: bool) -> None:
    rng = np.random.default_rng(17)
    hits = 0
    for _ in range(CASES):
        found, _ = measure(*drawn(rng, n, attack, control, shared, skewed))
        hits += found.low <= attack**2 - control**2 <= found.high
    assert 0.93 <= hits / CASES <= 0.97


@pytest.mark.parametrize(("rho", "n"), [(0.0, 60), (0.3, 60), (0.7, 200)])
def test_luck_is_called_a_lead_as_often_as_said(rho: float, n: int) -> None:
    rng = np.random.default_rng(3)
    chances = np.array([measure(*drawn(rng, n, rho, rho, 0.3, False))[1] for _ in range(CASES)])
    assert (chances <= 0.05).mean() <= 0.06
    assert (chances <= 0.01).mean() <= 0.016


def test_a_guess_has_no_lead_over_itself() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=50)
    guess = truth + rng.normal(size=50)
    found, chance = measure(guess, guess, truth)
    assert (found.value, found.low, found.high, chance) == (0.0, 0.0, 0.0, 1.0)


def test_an_exact_guess_leads_whatever_the_control_follows() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=50)
    found, chance = measure(2 * truth + 1, truth + rng.normal(size=50), truth)
    assert 0.2 < found.value < 0.9
    assert chance == 0.0
