"""The evaluator and the limit."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.baselines import Gaussian, Half, ShapeView, Uniform
from whatleaks.attacks.intermediate_recovery import IntermediateRecovery
from whatleaks.errors import AttackError, IsolationError
from whatleaks.metrics.column_association import follow
from whatleaks.threat.guess import IntervalGuess, OutputGuess, PictureGuess, ValueGuess
from whatleaks.threat.views.encrypted import EncryptedLinearView
from whatleaks.trial.evaluator import Evaluator
from whatleaks.trial.isolation import commit
from whatleaks.trial.limit import predict_from_evidence
from whatleaks.trial.scorers.values import Scored
from whatleaks.trial.truth import Committed, Truth


def test_one_guess_then_the_score() -> None:
    truth = np.random.default_rng(0).random((10, 2))
    evaluator = Evaluator(Truth(sealed(truth)))
    answer = Committed("mine", ValueGuess(sealed(truth)), 0.0, False)
    assert evaluator.score(answer, "attack").squared.max() == 0.0
    with pytest.raises(AttackError, match="already answered"):
        evaluator.score(answer, "attack")


def test_a_guess_of_the_wrong_shape_or_not_finite_is_refused() -> None:
    evaluator = Evaluator(Truth(sealed(np.zeros((4, 2)))))
    with pytest.raises(AttackError, match="4 x 2"):
        evaluator.score(Committed("a", ValueGuess(sealed(np.zeros((4, 3)))), 0.0, False), "attack")
    with pytest.raises(AttackError, match="not finite"):
        ValueGuess(sealed([[np.nan]]))


def test_baselines_on_uniform_data_have_their_known_errors() -> None:
    # Half: 1/12. Uniform: 1/6. Gaussian(0.5, 0.25): 1/12 + 1/16. n = 200,000 values.
    truth = np.random.default_rng(1).random((50_000, 4))
    evaluator = Evaluator(Truth(sealed(truth)))
    view, rng = ShapeView(50_000, 4), np.random.default_rng(2)
    errors = {
        b.name: evaluator.score(commit(b, view, rng), "baseline").squared.mean()
        for b in (Uniform(), Gaussian(), Half())
    }
    assert errors["half"] == pytest.approx(1 / 12, rel=0.01)
    assert errors["uniform"] == pytest.approx(1 / 6, rel=0.01)
    assert errors["gaussian"] == pytest.approx(1 / 12 + 1 / 16, rel=0.01)


def test_alternatives_are_counted_and_never_chosen_with_the_truth() -> None:
    truth = np.ones((3, 1))
    guess = ValueGuess(sealed(np.zeros((3, 1))), (sealed(truth),))
    scored = Evaluator(Truth(sealed(truth))).score(Committed("a", guess, 0.0, False), "attack")
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
    apart = Evaluator(Truth(sealed(truth))).apart()
    assert np.square(apart).mean(0) == pytest.approx(truth.var(0))


def test_isolated_and_in_process_give_the_same_guess() -> None:
    view = ShapeView(5, 2)
    alone = commit(Uniform(), view, np.random.default_rng(9), isolated=True)
    here = commit(Uniform(), view, np.random.default_rng(9))
    assert alone.isolated
    assert not here.isolated
    assert np.array_equal(alone.guess.values, here.guess.values)


def test_an_isolated_failure_is_one_line() -> None:
    with pytest.raises(IsolationError, match="isolated attack half failed") as caught:
        commit(Half(), ShapeView(-1, 2), np.random.default_rng(0), isolated=True)
    assert "\n" not in str(caught.value)


def test_an_isolated_refusal_is_the_attack_s_own_words() -> None:
    nothing = EncryptedLinearView(
        sealed(np.zeros((2, 1))),
        sealed(np.zeros(2)),
        sealed(np.zeros((1, 1))),
        sealed(np.zeros((1, 1))),
        (sealed_ints([0, 1]),),
        0.1,
        0.1,
        None,
        None,
        1,
    )
    for isolated in (False, True):
        with pytest.raises(AttackError, match="add 1 fake columns"):
            commit(IntermediateRecovery(), nothing, np.random.default_rng(0), isolated=isolated)


def test_every_type_of_guess_has_its_scorer() -> None:
    truth = Truth(sealed([[0.2], [0.4]]), outputs=sealed([[1.0, 2.0], [3.0, 4.0]]))
    low, high = sealed([[0.1], [0.5]]), sealed([[0.3], [0.6]])
    evaluator = Evaluator(truth)
    bounds = evaluator.score(Committed("i", IntervalGuess(low, high), 0.0, False), "attack")
    assert bounds.held.ravel().tolist() == [1.0, 0.0]
    assert bounds.width.ravel() == pytest.approx([0.2, 0.1])
    assert truth.outputs is not None
    off = OutputGuess(sealed(truth.outputs * 1.1))
    assert evaluator.score(Committed("o", off, 0.0, False), "attack").relative == pytest.approx(0.1)
    pictures = PictureGuess(sealed(np.reshape([0.3, 0.4], (2, 1, 1, 1))))
    seen = evaluator.score(Committed("p", pictures, 0.0, False), "attack")
    assert seen.squared == pytest.approx([0.01, 0.0])
    assert seen.psnr == pytest.approx([20.0, 100.0])
    wide = PictureGuess(sealed(np.zeros((2, 1, 1, 3))))
    with pytest.raises(AttackError, match="2 pictures of 3 numbers"):
        evaluator.score(Committed("q", wide, 0.0, False), "attack")


def test_what_a_guess_follows_comes_from_how_far_it_is_off_and_the_truths_deviations() -> None:
    rng = np.random.default_rng(4)
    truth, guess = rng.normal(size=(50, 3)), rng.normal(size=(50, 3))
    guess[:, 1], guess[:, 2] = truth[:, 1], 0.5
    evaluator = Evaluator(Truth(sealed(truth)))
    scored = evaluator.score(Committed("a", ValueGuess(sealed(guess)), 0.0, ""), "attack")
    assert isinstance(scored, Scored)
    away, moved = truth - truth.mean(axis=0), guess - guess.mean(axis=0)
    assert np.abs(scored.guessed(evaluator.apart()) - moved).max() < 1e-15
    plain = follow(moved * away, moved**2, away**2)
    found = scored.followed(evaluator.apart())
    assert found.value == pytest.approx(plain.value, abs=1e-14)
    assert found.value[1:].tolist() == [1.0, 0.0]  # a copy to the last digit, and one value for all
    mirrored = scored.followed(evaluator.apart(), -1.0)
    assert mirrored.r == pytest.approx(-found.r, abs=1e-15)
