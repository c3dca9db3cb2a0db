"""Correlation figures (U Eqs 16, 17) and the least-norm bounds (U Eqs 11 to 15)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatleaks.arrays import sealed
from whatleaks.attacks.equality_solving import EqualitySolving
from whatleaks.errors import UsageError
from whatleaks.metrics.correlation import own_correlation, score_correlation
from whatleaks.metrics.least_norm import least_norm_bound, projection_bound, projection_error
from whatleaks.models.additive import Additive
from whatleaks.models.linear import Linear
from whatleaks.models.pearson import correlations
from whatleaks.threat.views.prediction import WhiteBoxPredictionView


def slow(left, right):
    """Eq 16 as it is written: one pair of columns after another."""
    out = []
    for i in range(right.shape[1]):
        total = 0.0
        for j in range(left.shape[1]):
            a, b = left[:, j] - left[:, j].mean(), right[:, i] - right[:, i].mean()
            total += abs((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))
        out.append(total / left.shape[1])
    return np.array(out)


@given(st.integers(0, 10_000), st.integers(3, 40), st.integers(1, 6), st.integers(1, 6))
def test_both_equal_the_slow_reference(seed, records, left, right) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(records, left)), rng.normal(size=(records, right))
    assert np.abs(own_correlation(a, b) - slow(a, b)).max() < 1e-12
    assert np.abs(score_correlation(a, b) - slow(a, b)).max() < 1e-12


def test_all_and_no_information() -> None:
    x = np.random.default_rng(0).random((50, 3))
    assert own_correlation(x[:, :1], 3.0 - 2.0 * x[:, :1]) == pytest.approx([1.0], abs=1e-12)
    square = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    assert own_correlation(square[:, :1], square[:, 1:])[0] == 0.0


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9])
def test_a_constant_column_counts_as_zero_and_never_as_nan(constant) -> None:
    x = np.random.default_rng(1).random((30, 2))
    flat = np.full((30, 1), constant)
    assert own_correlation(flat, x).tolist() == [0.0, 0.0]
    assert own_correlation(x, flat).tolist() == [0.0]


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="same records"):
        correlations(np.zeros((3, 1)), np.zeros((4, 1)))
    with pytest.raises(UsageError, match="at least 2"):
        correlations(np.zeros((1, 1)), np.zeros((1, 1)))


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 9), st.integers(0, 4))
def test_equality_solving_keeps_half_of_the_papers_bound(seed, classes, unknown, active) -> None:
    # With exact scores the guess is a projection: its error is |x|^2 - |x_hat|^2, never above
    # mean(x^2), whatever the signs of the guess. Eq 15 allows twice that.
    rng = np.random.default_rng(seed)
    outputs = 1 if classes == 2 else classes
    model = Additive(
        Linear(sealed(rng.normal(size=(active, outputs))), sealed(rng.normal(size=outputs))),
        Linear(sealed(rng.normal(size=(unknown, outputs))), sealed(np.zeros(outputs))),
    )
    own, truth = sealed(rng.random((20, active))), sealed(rng.random((20, unknown)))
    view = WhiteBoxPredictionView(own, sealed(model.scores(own, truth)), unknown, model)
    guess = EqualitySolving().infer(view, rng).values
    error = ((guess - truth) ** 2).mean(axis=1)
    assert np.abs(error - projection_error(guess, truth)).max() < 1e-7
    assert (error <= projection_bound(truth) + 1e-7).all()
    assert np.array_equal(least_norm_bound(truth), 2.0 * projection_bound(truth))
    clipped = EqualitySolving(clip=True).infer(view, rng).values
    assert (((clipped - truth) ** 2).mean(axis=1) <= error + 1e-12).all()


def test_the_bound_is_reached_when_scores_say_nothing() -> None:
    truth = np.random.default_rng(2).random((6, 4))
    nothing = np.zeros_like(truth)  # the least-norm guess of a model with zero weights
    assert np.array_equal(((nothing - truth) ** 2).mean(axis=1), projection_bound(truth))


def test_the_reason_given_for_equation_14_does_not_hold_by_itself() -> None:
    # x in (0, 1) and |x_hat| <= |x| are all that the paper uses: they allow an error of 4x^2.
    truth = np.full((1, 3), 0.5)
    opposite = -truth
    assert np.linalg.norm(opposite) <= np.linalg.norm(truth)
    assert ((opposite - truth) ** 2).mean() > least_norm_bound(truth)[0]
    # And a least-norm guess does have negative values: positivity is no way out.
    weights = np.array([[1.0, -3.0]])
    x = np.array([0.1, 0.9])
    assert (np.linalg.pinv(weights) @ (weights @ x)).min() < 0
