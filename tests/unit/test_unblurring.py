"""Weights worked out by whoever knows the scheme: exact where the paper says so, less where it is secret."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.errors import UsageError
from whatleaks.models.additive import adjacent_differences
from whatleaks.models.blurring import blurred
from whatleaks.models.box_solutions import half_star
from whatleaks.models.closed_errors import moments
from whatleaks.models.unblurring import explained, most_plausible, unblurred

RNG = np.random.default_rng


def _world(columns: int, outputs: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, values that touch both ends of their range, and the exact right sides."""
    rng = RNG(seed)
    weights = rng.normal(size=(columns, outputs))
    x = rng.random((200, columns)) ** 2
    x = (x - x.min(axis=0)) / (x.max(axis=0) - x.min(axis=0))
    return weights, x, x @ adjacent_differences(weights)


def _error(weights: np.ndarray, x: np.ndarray, right: np.ndarray) -> float:
    values = np.clip(half_star(adjacent_differences(weights).T, right), 0.0, 1.0)
    return float(((values - x) ** 2).mean())


@pytest.mark.parametrize("percent", [5, 25])
def test_case_ii_is_undone_exactly_from_the_scores_alone(percent: int) -> None:
    weights, x, right = _world(3, 5)
    shown = blurred(weights, moments(x), percent / 100 * float((weights**2).mean()), RNG(1)).weights
    assert _error(shown, x, right) > 1e-2
    found = unblurred(shown, right, percent=percent, rng=RNG(2))
    assert np.abs(found - weights).max() < 1e-3
    assert _error(found, x, right) < 1e-6


def test_remark_10_turned_signs_are_turned_back() -> None:
    weights, x, right = _world(3, 5)
    shown = blurred(weights, moments(x), 4.0 * float((weights**2).mean()), RNG(1)).weights
    assert np.abs(shown + weights).max() < 1e-2
    assert _error(shown, x, right) == pytest.approx(float((x**2).mean()), rel=0.05)  # all at zero
    found = unblurred(shown, right, percent=400, rng=RNG(2))
    assert _error(found, x, right) < 1e-4


def test_a_secret_sign_is_told_by_the_range() -> None:
    """Remark 10's uncertainty between R = I and R = -I does not last: one answer leaves the range."""
    for columns in (3, 8):
        weights, x, right = _world(columns, 5)
        for shown in (weights, -weights):
            found = unblurred(shown, right, secret="sign", rng=RNG(0))
            assert np.array_equal(found, weights)
    # Nor does convexity help: the mean of two answers misses by less than they do on average.
    one = half_star(adjacent_differences(weights).T, right)
    two = half_star(adjacent_differences(-weights).T, right)
    errors = [((guess - x) ** 2).mean() for guess in (one, two, (one + two) / 2)]
    apart = ((one - two) ** 2).mean() / 4.0
    assert errors[2] == pytest.approx((errors[0] + errors[1]) / 2 - apart, abs=1e-12)
    assert apart > 0.01


@pytest.mark.parametrize("outputs", [1, 2])
def test_remark_13_one_column_is_turned_back_with_epsilon_and_without(outputs: int) -> None:
    weights, x, right = _world(1, outputs, seed=3)
    true = float((weights**2).mean())
    epsilon = 0.25 * true
    shown = blurred(weights, moments(x), epsilon, RNG(1)).weights
    for told in ({"epsilon": epsilon}, {"percent": 25.0}):
        found = unblurred(shown, right, **told, rng=RNG(2))
        assert np.abs(adjacent_differences(found - weights)).max() < 1e-4
        assert _error(found, x, right) < 1e-8
    # A smaller distance was drawn and not told; the record at one has the weight as its right side.
    drawn = blurred(weights, moments(x), 0.37 * epsilon, RNG(1)).weights
    assert _error(drawn, x, right) > 1e-4
    for told in ({"epsilon": epsilon}, {"percent": 25.0}, {"percent": 400.0}):
        found = unblurred(drawn, right, **told, secret="epsilon", rng=RNG(2))
        assert np.abs(adjacent_differences(found - weights)).max() < 1e-12
        assert _error(found, x, right) < 1e-20


@pytest.mark.parametrize("outputs", [1, 2, 4])
def test_a_column_that_nobody_fills_is_read_too_large_and_the_distance_bounds_it(
    outputs: int,
) -> None:
    weights, x, _ = _world(1, outputs, seed=3)
    x = 0.8 * x  # the largest value is 0.8: the largest right side is 0.8 of the weight
    right = x @ adjacent_differences(weights)
    true = float((weights**2).mean())
    shown = blurred(weights, moments(x), 0.001 * true, RNG(1)).weights
    far = unblurred(shown, right, percent=25.0, secret="epsilon", rng=RNG(2))
    assert np.abs(adjacent_differences(far - 0.8 * weights)).max() < 1e-12
    near = unblurred(shown, right, percent=0.1, secret="epsilon", rng=RNG(2))
    apart = np.abs(adjacent_differences(near - weights)).max()
    # Both are within the distance that is told of what is disclosed.
    assert apart < 0.2 * np.abs(adjacent_differences(weights)).max()
    assert _error(near, x, right) < _error(far, x, right)


def test_right_sides_tell_the_moments_that_they_reach() -> None:
    weights, x, right = _world(3, 5)
    found, true = explained(weights, right), moments(x)
    assert np.abs(found.second - true.second).max() < 1e-12
    assert np.abs(found.mean - true.mean).max() < 1e-12
    wide, x, right = _world(6, 3)
    matrix = adjacent_differences(wide).T
    found = explained(wide, right)
    assert np.abs(matrix @ found.second @ matrix.T - right.T @ right / len(x)).max() < 1e-12
    assert np.abs(matrix @ found.mean - right.mean(axis=0)).max() < 1e-12


def test_nothing_told_leaves_the_weights_as_they_are() -> None:
    weights, _, right = _world(4, 3)
    assert np.array_equal(unblurred(weights, right, rng=RNG(0)), weights)
    assert most_plausible([weights], right) is weights


def test_settings_that_mean_nothing_are_refused() -> None:
    from whatleaks.attacks.half_star import HalfStar

    for wrong in ({"blur_percent": -1.0}, {"blur_epsilon": -1.0}, {"blur_secret": "all"}):
        with pytest.raises(UsageError):
            HalfStar(**wrong)


def test_an_audit_tells_the_scheme_to_attacks_that_can_use_it() -> None:
    from whatleaks.auditor.plan import scenarios
    from whatleaks.auditor.spec import AuditSpec

    spec = AuditSpec("y", ("a", "b"), "lr", ("white-box",), seeds=1)
    (tried,) = [s for s in scenarios(spec, "table", "0" * 64) if s.defense == "blurred-weights-25"]
    assert "half-star" in tried.attacks
    assert tried.attack_options["blur_percent"] == 25.0


def test_known_people_and_the_scheme_together_are_as_good_as_the_true_weights() -> None:
    """Case ii is undone exactly, so who is told answers as if nothing had been blurred."""
    from whatleaks.attacks.column_regression import ColumnRegression
    from whatleaks.attacks.conditional_mean_known import ConditionalMeanKnown
    from whatleaks.attacks.half_star import HalfStar
    from whatleaks.models.additive import Additive
    from whatleaks.models.linear import Linear
    from whatleaks.threat.grants import KnownPeople
    from whatleaks.threat.views.known import KnownLinearView

    weights, x, _ = _world(3, 5)
    own = RNG(5).random((200, 2))
    true = Additive(
        Linear(sealed(RNG(6).normal(size=(2, 5))), sealed(np.zeros(5))),
        Linear(sealed(weights), sealed(np.zeros(5))),
    )
    scores = true.scores(sealed(own), sealed(x))
    shown = blurred(weights, moments(x), 0.25 * float((weights**2).mean()), RNG(1)).weights
    people = KnownPeople(
        sealed(own[:6]), sealed(x[:6]), sealed_ints(np.zeros(6)), sealed(scores[:6])
    )

    def view(disclosed: np.ndarray) -> KnownLinearView:
        model = Additive(true.active, Linear(sealed(disclosed), true.passive.bias))
        return KnownLinearView(
            own=sealed(own), scores=sealed(scores), unknown=3, model=model, auxiliary=people
        )

    for kind in (HalfStar, ColumnRegression, ConditionalMeanKnown):
        errors = [
            float(((attack.infer(view(given), RNG(3)).values - x) ** 2).mean())
            for attack, given in (
                (kind(), weights),
                (kind(), shown),
                (kind(blur_percent=25.0), shown),
            )
        ]
        assert errors[1] > errors[0] + 1e-3
        assert errors[2] < errors[0] + 1e-4
    # Nothing told: the view is left alone.
    seen = view(shown)
    assert HalfStar().worked_out(seen, RNG(0)) is seen
