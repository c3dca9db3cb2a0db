"""Null-space regression: exact where the scores are, learnt where they are silent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.auxiliary_baselines import AuxiliaryRegression
from whatleaks.attacks.half_star import HalfStar
from whatleaks.attacks.known_regression import KnownRegression
from whatleaks.attacks.null_space_regression import NullSpaceRegression
from whatleaks.errors import AttackError
from whatleaks.models import few_records
from whatleaks.models.additive import Additive
from whatleaks.models.few_records import learnt_together
from whatleaks.models.linear import Linear
from whatleaks.threat.grants import KnownPeople
from whatleaks.threat.views.known import KnownLinearView


def _view(
    classes: int, hidden: int, *, known: int = 25, targets: int = 200, seed: int = 0
) -> tuple[KnownLinearView, np.ndarray]:
    """Columns that share three causes, a random linear model, exact scores."""
    rng = np.random.default_rng(seed)
    causes = rng.random((known + targets, 3))
    mixed = causes @ rng.dirichlet(np.ones(3), size=6 + hidden).T
    columns = np.clip(mixed + 0.02 * rng.normal(size=mixed.shape), 0.0, 1.0)
    own, secret = columns[:, :6], columns[:, 6:]
    outputs = 1 if classes == 2 else classes
    model = Additive(
        Linear(sealed(rng.normal(size=(6, outputs))), sealed(rng.normal(size=outputs))),
        Linear(sealed(rng.normal(size=(hidden, outputs))), sealed(np.zeros(outputs))),
    )
    scores = model.scores(own, secret)
    people = KnownPeople(
        sealed(own[:known]),
        sealed(secret[:known]),
        sealed_ints(np.zeros(known)),
        sealed(scores[:known]),
    )
    view = KnownLinearView(
        own=sealed(own[known:]),
        scores=sealed(scores[known:]),
        unknown=hidden,
        model=model,
        auxiliary=people,
    )
    return view, secret[known:]


def _error(guess: np.ndarray, truth: np.ndarray) -> float:
    return float(((guess - truth) ** 2).mean())


def test_as_many_equations_as_columns_leave_nothing_to_learn() -> None:
    view, truth = _view(classes=4, hidden=3)
    guess = NullSpaceRegression().infer(view, np.random.default_rng(0)).values
    assert np.abs(guess - truth).max() < 1e-6


@pytest.mark.parametrize("classes", [2, 4])
def test_it_beats_both_regressions_and_half_star_on_the_same_people(classes: int) -> None:
    rng = np.random.default_rng(0)
    for seed in range(3):
        view, truth = _view(classes, hidden=8, seed=seed)
        ours = _error(NullSpaceRegression().infer(view, rng).values, truth)
        for other in (KnownRegression(), AuxiliaryRegression(), HalfStar()):
            assert ours < _error(other.infer(view, rng).values, truth), other.name


def test_every_guess_satisfies_the_equations_and_the_range() -> None:
    view, _ = _view(classes=4, hidden=8)
    guess = NullSpaceRegression().infer(view, np.random.default_rng(0)).values
    assert guess.min() >= 0.0
    assert guess.max() <= 1.0
    again = view.model.scores(view.own, guess)
    assert np.abs(np.log(again) - np.log(view.scores)).max() < 1e-6


def test_weights_that_are_not_the_true_ones_are_found_out_by_the_known_people() -> None:
    rng = np.random.default_rng(0)
    view, truth = _view(classes=4, hidden=8)
    blurred = Linear(sealed(-view.model.passive.weights), view.model.passive.bias)
    lied = replace(view, model=Additive(view.model.active, blurred))
    fooled = _error(HalfStar().infer(lied, rng).values, truth)
    ours = _error(NullSpaceRegression().infer(lied, rng).values, truth)
    assert fooled > 0.1
    assert ours == pytest.approx(
        _error(NullSpaceRegression().infer(view, rng).values, truth), rel=1e-3
    )
    view, truth = _view(classes=4, hidden=8, known=6)  # too few to work the weights out
    lied = replace(view, model=Additive(view.model.active, blurred))
    ours = _error(NullSpaceRegression().infer(lied, rng).values, truth)
    assert ours < 2.0 * _error(AuxiliaryRegression().infer(view, rng).values, truth)


def test_the_error_is_that_of_fitting_again_without_each_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One candidate, its closed form against thirty fits of scikit-learn's ridge regression."""
    monkeypatch.setattr(few_records, "POWERS", (1.0,))
    monkeypatch.setattr(few_records, "STRENGTHS", np.array([0.01]))
    rng = np.random.default_rng(3)
    known = rng.random((30, 4))
    wanted = known @ rng.normal(size=(4, 2)) + 0.01 * rng.normal(size=(30, 2))
    found = learnt_together(known, wanted, known[:1])
    strength = 0.01 * ((known - known.mean(axis=0)) ** 2).sum() / 30
    slow = 0.0
    for i in range(30):
        rest = np.arange(30) != i
        fitted = Ridge(alpha=strength).fit(known[rest], wanted[rest])
        slow += ((fitted.predict(known[i : i + 1]) - wanted[i]) ** 2).sum() / 30
    assert found.error == pytest.approx(slow, rel=1e-9)


def test_inputs_that_say_nothing_get_the_mean_and_two_records_are_refused() -> None:
    flat = learnt_together(np.ones((5, 2)), np.arange(5.0)[:, None], np.ones((3, 2)))
    assert np.abs(flat.values - 2.0).max() < 1e-12
    assert flat.error == pytest.approx(2.0 * (5 / 4) ** 2)
    with pytest.raises(AttackError, match="at least 3 known records"):
        learnt_together(np.ones((2, 2)), np.ones((2, 1)), np.ones((3, 2)))


def test_more_inputs_than_people_have_the_same_axes() -> None:
    rng = np.random.default_rng(6)
    inputs, wanted = rng.normal(size=(20, 7)), rng.normal(size=(8, 3))
    few = learnt_together(inputs[:8], wanted, inputs[8:])
    turned = np.linalg.qr(rng.normal(size=(30, 7)))[0].T  # the same people, in 30 columns
    many = learnt_together(inputs[:8] @ turned, wanted, inputs[8:] @ turned)
    assert np.abs(few.values - many.values).max() < 1e-6
    assert abs(few.error - many.error) < 1e-6 * few.error
