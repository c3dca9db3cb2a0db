"""Intervals: exact cases, limits, refusals, and a slow plain reference for the bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from whatleaks.errors import UsageError
from whatleaks.metrics import intervals
from whatleaks.metrics.intervals import (
    clipped,
    leakage_over_records,
    mean_over_records,
    mean_over_seeds,
    paired_difference,
    ratio_over_records,
    wilson,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_seeds_agree_with_scipy() -> None:
    values = np.array([0.61, 0.64, 0.60, 0.66, 0.63])
    m = mean_over_seeds(values, "accuracy")
    low, high = stats.t.interval(0.95, 4, values.mean(), stats.sem(values))
    assert m.low == pytest.approx(low, abs=1e-12)
    assert m.high == pytest.approx(high, abs=1e-12)
    assert (m.n, m.over) == (5, "seeds")


def test_many_records_agree_with_scipy() -> None:
    values = rng().exponential(1.0, 1500)
    m = mean_over_records(values, "mse", rng())
    low, high = stats.t.interval(0.95, 1499, values.mean(), stats.sem(values))
    assert (m.low, m.high) == pytest.approx((low, high), abs=1e-12)


def test_wilson_agrees_with_scipy() -> None:
    for k, n in [(0, 10), (3, 10), (10, 10), (250, 1000)]:
        low, high = stats.binomtest(k, n).proportion_ci(method="wilson")
        m = wilson(k, n)
        assert (m.low, m.high) == pytest.approx((low, high), abs=1e-12)


@given(st.integers(1, 10_000), st.data())
def test_wilson_always_holds_its_rate(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    m = wilson(k, n)
    assert 0.0 <= m.low <= k / n <= m.high <= 1.0
    assert m.low < m.high


def test_bootstrap_agrees_with_a_plain_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """One resample at a time, each studentised by numpy's own mean and deviation."""
    values = rng().exponential(1.0, 60)
    n, b = values.size, intervals.RESAMPLES
    rows = np.random.default_rng(9).integers(0, n, (b, n))
    found = []
    for row in rows:
        sample = values[row]
        found.append((sample.mean() - values.mean()) / (sample.std(ddof=1) / np.sqrt(n)))
    error = values.std(ddof=1) / np.sqrt(n)
    t = np.sort(found)
    low, high = values.mean() - t[-25] * error, values.mean() - t[24] * error

    m = mean_over_records(values, "mse", np.random.default_rng(9))
    assert (m.low, m.high) == pytest.approx((low, high), abs=1e-12)
    # The memory bound cuts the work into pieces but draws the same numbers.
    monkeypatch.setattr(intervals, "_CELLS", 7 * n)
    assert mean_over_records(values, "mse", np.random.default_rng(9)) == m


def test_a_mean_is_a_ratio_over_ones() -> None:
    values = rng().exponential(1.0, 80)
    m = mean_over_records(values, "mse", np.random.default_rng(3))
    r = ratio_over_records(values, np.full(80, 2.0), "mse", np.random.default_rng(3))
    assert (2 * r.value, 2 * r.low, 2 * r.high) == pytest.approx(
        (m.value, m.low, m.high), abs=1e-12
    )


def test_skewed_errors_reach_further_to_the_right() -> None:
    m = mean_over_records(rng().exponential(1.0, 100), "mse", rng())
    assert m.high - m.value > m.value - m.low


def test_an_exact_reconstruction_has_no_width() -> None:
    m = mean_over_records(np.zeros(100), "mse", rng())
    assert (m.value, m.low, m.high) == (0.0, 0.0, 0.0)
    x = rng().normal(size=100)
    leak = leakage_over_records(np.zeros(100), (x - x.mean()) ** 2, rng())
    assert (leak.value, leak.low, leak.high) == (1.0, 1.0, 1.0)


def test_the_mean_as_guess_leaks_exactly_nothing() -> None:
    x = rng().exponential(size=100)
    deviations = (x - x.mean()) ** 2
    leak = leakage_over_records(deviations, deviations, rng())
    assert leak.value == pytest.approx(0.0, abs=1e-12)
    assert leak.high - leak.low == pytest.approx(0.0, abs=1e-12)


def test_one_wrong_record_among_many_right_ones_stays_finite() -> None:
    errors = np.zeros(100)
    errors[3] = 1.0
    m = mean_over_records(errors, "mse", rng())
    assert m.low < 0.01 < m.high < 0.1


def test_the_same_stream_gives_the_same_interval() -> None:
    values = rng().exponential(1.0, 100)
    assert mean_over_records(values, "mse", rng()) == mean_over_records(values, "mse", rng())


def test_pairing_is_sharper_than_two_intervals() -> None:
    hard = rng().exponential(1.0, 200)
    a, b = hard + 0.02, hard + rng().normal(0, 0.001, 200)
    m = paired_difference(a, b, "mse", rng())
    assert m.low > 0.0
    assert m.high - m.low < 0.01


def test_clipping_moves_value_and_interval() -> None:
    x = rng().normal(size=50)
    worse = leakage_over_records(np.full(50, 9.0), (x - x.mean()) ** 2, rng())
    assert worse.value < 0.0
    assert (clipped(worse, 0, 1).value, clipped(worse, 0, 1).high) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mean_over_seeds([0.5], "accuracy"), "1 seed give no interval: give at least 2"),
        (lambda: mean_over_records([], "mse", rng()), "0 records"),
        (lambda: mean_over_records([[1.0, 2.0]], "mse", rng()), "2 axes"),
        (lambda: mean_over_records([1.0, np.nan], "mse", rng()), "not finite"),
        (lambda: paired_difference([1.0, 2.0], [1.0], "mse", rng()), "got 2 and 1"),
        (lambda: ratio_over_records([1.0, 2.0], [0.0, 0.0], "r", rng()), "does not vary"),
        (lambda: wilson(3, 2), "3 in 2"),
        (lambda: wilson(0, 0), "0 in 0"),
    ],
)
def test_refusals_say_what_to_do(call: object, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        call()  # type: ignore[operator]
