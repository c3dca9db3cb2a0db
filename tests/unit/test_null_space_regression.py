"""Null-space regression: exact where the scores are, learnt where they are silent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.auxiliary_baselines import AuxiliaryRegression
from whatleaks.attacks.column_regression import ColumnRegression
from whatleaks.attacks.equations import equations
from whatleaks.attacks.half_star import HalfStar
from whatleaks.attacks.known_regression import KnownRegression
from whatleaks.attacks.null_space_regression import NullSpaceRegression
from whatleaks.errors import AttackError
from whatleaks.models import few_records
from whatleaks.models.additive import Additive, adjacent_differences, log_ratios
from whatleaks.models.few_records import learnt_each, learnt_together, spread_along
from whatleaks.models.linear import Linear
from whatleaks.threat.grants import KnownPeople, Ranges
from whatleaks.threat.views.known import KnownLinearView

RNG = np.random.default_rng(0)  # not drawn from


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


def _public(view: KnownLinearView) -> KnownLinearView:
    ranges = Ranges(sealed(np.zeros(view.unknown)), sealed(np.ones(view.unknown)))
    return replace(view, ranges=ranges)


def test_column_regression_solves_what_the_scores_determine() -> None:
    view, truth = _view(6, 4)
    assert np.abs(ColumnRegression().infer(_public(view), RNG).values - truth).max() < 1e-6


def test_column_regression_is_the_best_linear_correction_record_by_record() -> None:
    view, _ = _view(4, 8)
    view = _public(view)
    known, matrix = view.auxiliary, adjacent_differences(view.model.passive.weights).T
    learnt = learnt_each(known.own, known.passive, view.own)
    spread = spread_along(learnt.left_out, np.eye(view.unknown))
    right = equations(view.own, log_ratios(view.scores), view.model).right
    found = ColumnRegression().infer(view, RNG).values
    for i in range(20):  # slow: minimise the distance under S^-1 subject to the equations
        guess = np.clip(learnt.values[i], 0.0, 1.0)
        system = np.block([[np.linalg.inv(spread), matrix.T], [matrix, np.zeros((3, 3))]])
        side = np.concatenate([np.linalg.solve(spread, guess), right[i]])
        slow = np.linalg.solve(system, side)[: view.unknown]
        assert found[i] == pytest.approx(np.clip(slow, 0.0, 1.0), abs=1e-6)


def test_scores_that_say_something_else_are_not_believed() -> None:
    """Scores of others on everybody: what the known people's are off by is as large as they are."""
    view, truth = _view(4, 8)
    order = np.random.default_rng(3).permutation(25)
    known = replace(view.auxiliary, released=sealed(view.auxiliary.released[order]))
    swapped = _public(replace(view.exchanged(np.roll(np.arange(200), 7)), auxiliary=known))
    alone = np.clip(learnt_each(known.own, known.passive, view.own).values, 0.0, 1.0)
    found = ColumnRegression().infer(swapped, RNG).values
    assert _error(found, truth) < 2.0 * _error(alone, truth)
    believed = ColumnRegression().infer(replace(swapped, auxiliary=view.auxiliary), RNG).values
    assert _error(believed, truth) > 2.0 * _error(found, truth)


def test_a_value_that_varies_much_does_not_choose_for_one_that_follows_the_inputs() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(225, 10))
    follows = 0.05 * inputs @ rng.normal(size=10)
    noise = rng.normal(size=225)
    wanted = np.column_stack([follows, noise])
    together, each = (
        rule(inputs[:25], wanted[:25], inputs[25:]) for rule in (learnt_together, learnt_each)
    )
    missed = [((one.values - wanted[25:]) ** 2).mean(axis=0) for one in (together, each)]
    assert missed[1][0] < 0.5 * missed[0][0]
    assert missed[1][1] < 1.2 * noise[25:].var()
    with pytest.raises(AttackError, match="at least 3"):
        learnt_each(inputs[:2], wanted[:2], inputs)


def test_more_inputs_than_people_have_the_same_axes() -> None:
    rng = np.random.default_rng(6)
    inputs, wanted = rng.normal(size=(20, 7)), rng.normal(size=(8, 3))
    few = learnt_together(inputs[:8], wanted, inputs[8:])
    turned = np.linalg.qr(rng.normal(size=(30, 7)))[0].T  # the same people, in 30 columns
    many = learnt_together(inputs[:8] @ turned, wanted, inputs[8:] @ turned)
    assert np.abs(few.values - many.values).max() < 1e-6
    assert abs(few.error - many.error) < 1e-6 * few.error
