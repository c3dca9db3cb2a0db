"""The evaluator and the limit."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.arrays import sealed
from whatleaks.attacks.baselines import BASELINES, Half, Nothing, Uniform
from whatleaks.auditor.evaluator import Evaluator
from whatleaks.auditor.isolation import Committed, commit
from whatleaks.auditor.limit import predict_from_evidence
from whatleaks.errors import AttackError
from whatleaks.threat.guess import ValueGuess


def test_one_guess_then_the_score() -> None:
    truth = np.random.default_rng(0).random((10, 2))
    evaluator = Evaluator(truth, truth[:0])
    answer = Committed("mine", ValueGuess(sealed(truth)), 0.0, False)
    assert evaluator.score(answer, "attack").squared.max() == 0.0
    with pytest.raises(AttackError, match="already answered"):
        evaluator.score(answer, "attack")


def test_a_guess_of_the_wrong_shape_or_not_finite_is_refused() -> None:
    evaluator = Evaluator(np.zeros((4, 2)), np.zeros((0, 2)))
    with pytest.raises(AttackError, match="4 x 2"):
        evaluator.score(Committed("a", ValueGuess(sealed(np.zeros((4, 3)))), 0.0, False), "attack")
    with pytest.raises(AttackError, match="not finite"):
        ValueGuess(sealed([[np.nan]]))


def test_baselines_on_uniform_data_have_their_known_errors() -> None:
    # Half: 1/12. Uniform: 1/6. Gaussian(0.5, 0.25): 1/12 + 1/16. n = 200,000 values.
    truth = np.random.default_rng(1).random((50_000, 4))
    evaluator = Evaluator(truth, truth[:0])
    view, rng = Nothing(50_000, 4), np.random.default_rng(2)
    errors = {
        b.name: evaluator.score(commit(b, view, rng), "baseline").squared.mean() for b in BASELINES
    }
    assert errors["half"] == pytest.approx(1 / 12, rel=0.01)
    assert errors["uniform"] == pytest.approx(1 / 6, rel=0.01)
    assert errors["gaussian"] == pytest.approx(1 / 12 + 1 / 16, rel=0.01)


def test_alternatives_are_counted_and_never_chosen_with_the_truth() -> None:
    truth = np.ones((3, 1))
    guess = ValueGuess(sealed(np.zeros((3, 1))), (sealed(truth),))
    scored = Evaluator(truth, truth[:0]).score(Committed("a", guess, 0.0, False), "attack")
    assert scored.squared.mean() == 1.0  # the committed answer is what counts
    assert scored.alternatives == 1
    assert scored.best_alternative == 0.0


@pytest.mark.parametrize("others", [0, 50, 600])
def test_the_limit_knows_what_can_be_known(others: int) -> None:
    rng = np.random.default_rng(3)
    n = 120 + others
    seen = rng.normal(size=(n, 3))
    truth = np.stack([seen @ [1.0, -2.0, 0.5], rng.normal(size=n)], axis=1)  # one known, one not
    out = predict_from_evidence(seen[:120], truth[:120], seen[120:], truth[120:], rng)
    assert ((out - truth[:120])[:, 0] ** 2).mean() < 1e-20
    assert ((out - truth[:120])[:, 1] ** 2).mean() > 0.8 * truth[:120, 1].var()


def test_the_limit_is_not_trained_on_the_record_it_predicts() -> None:
    rng = np.random.default_rng(4)
    noise, truth = rng.normal(size=(200, 5)), rng.normal(size=(200, 1))
    out = predict_from_evidence(noise, truth, noise[:0], truth[:0], rng)
    assert ((out - truth) ** 2).mean() > 0.9 * truth.var()


def test_spread_is_the_variance() -> None:
    truth = np.random.default_rng(5).random((40, 3))
    assert Evaluator(truth, truth[:0]).spread().mean(0) == pytest.approx(truth.var(0))


def test_isolated_and_in_process_give_the_same_guess() -> None:
    view = Nothing(5, 2)
    alone = commit(Uniform(), view, np.random.default_rng(9), isolated=True)
    here = commit(Uniform(), view, np.random.default_rng(9))
    assert alone.isolated
    assert not here.isolated
    assert np.array_equal(alone.guess.values, here.guess.values)


def test_an_isolated_failure_is_one_line() -> None:
    with pytest.raises(AttackError, match="isolated attack half failed") as caught:
        commit(Half(), Nothing(-1, 2), np.random.default_rng(0), isolated=True)
    assert "\n" not in str(caught.value)
