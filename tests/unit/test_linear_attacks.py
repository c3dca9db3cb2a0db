"""Equality solving, half* and the agnostic attack, from their equations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.agnostic import AgnosticInference
from whatleaks.attacks.agnostic_refined import AgnosticRefined
from whatleaks.attacks.equality_solving import EqualitySolving
from whatleaks.attacks.equations import equations
from whatleaks.attacks.half_star import HalfStar, nearest_to_half
from whatleaks.errors import AttackError
from whatleaks.models.additive import Additive, adjacent_differences, link, log_ratios
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network
from whatleaks.threat.grants import EarlierScores
from whatleaks.threat.views.agnostic import AgnosticView, EarlierView
from whatleaks.threat.views.prediction import WhiteBoxLinearView, WhiteBoxPredictionView


def world(classes: int, active: int, passive: int, records: int, seed: int):
    """A random linear federation: its view and the truth."""
    rng = np.random.default_rng(seed)
    outputs = 1 if classes == 2 else classes
    model = Additive(
        Linear(sealed(rng.normal(size=(active, outputs))), sealed(rng.normal(size=outputs))),
        Linear(sealed(rng.normal(size=(passive, outputs))), sealed(np.zeros(outputs))),
    )
    own, secret = sealed(rng.random((records, active))), sealed(rng.random((records, passive)))
    view = WhiteBoxPredictionView(own, sealed(model.scores(own, secret)), passive, model)
    return view, secret


shapes = st.tuples(st.integers(2, 6), st.integers(1, 4), st.integers(1, 8), st.integers(0, 9999))


@given(shapes)
@settings(max_examples=60, deadline=None)
def test_exact_while_unknowns_are_fewer_than_classes(shape) -> None:
    classes, active, passive, seed = shape
    passive = min(passive, classes - 1)
    view, secret = world(classes, active, passive, 7, seed)
    condition = np.linalg.cond(equations(view.own, log_ratios(view.scores), view.model).matrix)
    for attack in (EqualitySolving(), HalfStar(clip=False)):
        guess = attack.infer(view, np.random.default_rng(0)).values
        assert np.abs(guess - secret).max() < 1e-13 * condition**2 + 1e-12


@given(shapes)
@settings(max_examples=60, deadline=None)
def test_beyond_that_both_solve_the_equations_and_keep_their_bounds(shape) -> None:
    classes, active, passive, seed = shape
    view, secret = world(classes, active, passive + classes, 9, seed)
    system = equations(view.own, log_ratios(view.scores), view.model)
    rng = np.random.default_rng(0)
    least = EqualitySolving().infer(view, rng).values
    near = HalfStar(clip=False).infer(view, rng).values
    for guess in (least, near):
        assert np.abs(guess @ system.matrix.T - system.right).max() < 1e-9
    # U Eq 11: least norm; U Eq 15: the error is at most 2 x^2 only where x >= 0 and guess.x >= 0,
    # so the bound that always holds is the norm's.
    assert (np.linalg.norm(least, axis=1) <= np.linalg.norm(secret, axis=1) + 1e-9).all()
    # A IV-C: half* is the projection of one half on the solutions, so it is never farther away.
    to_half = np.linalg.norm(0.5 - secret, axis=1)
    assert (np.linalg.norm(near - secret, axis=1) <= to_half + 1e-9).all()
    # Clipping moves towards a truth that lies in the range.
    clipped = HalfStar().infer(view, rng).values
    assert (
        np.linalg.norm(clipped - secret, axis=1) <= np.linalg.norm(near - secret, axis=1) + 1e-12
    ).all()


def test_u02_the_papers_worked_example() -> None:
    theta = np.array(
        [[0.08, 0.0002, 0.0005, 0.09], [0.06, 0.0005, 0.0002, 0.08], [0.01, 0.0001, 0.0004, 0.05]]
    ).T
    model = Additive(
        Linear(sealed(theta[:2]), sealed(np.zeros(3))),
        Linear(sealed(theta[2:]), sealed(np.zeros(3))),
    )
    own = sealed([[25.0, 2000.0]])
    # The paper rounds ln v1/v2 and ln v2/v3 to 2.334 and 0.539; our ratios are the other way round.
    rounded = sealed([[-2.334, -0.539]])
    system = equations(own, rounded, model)
    values = system.right @ np.linalg.pinv(system.matrix).T
    assert values[0] == pytest.approx([8011.8, 3.046], rel=2e-4)
    # By hand: 0.0003 x + 0.01 y = 2.434 and -0.0002 x + 0.03 y = -1.511.
    by_hand = np.linalg.solve([[0.0003, 0.01], [-0.0002, 0.03]], [2.434, -1.511])
    assert np.abs(values[0] - by_hand).max() < 1e-8
    # With the exact scores of (25, 2K, 8K, 3) the answer is exact.
    exact = WhiteBoxPredictionView(
        own, sealed(model.scores(own, sealed([[8000.0, 3.0]]))), 2, model
    )
    guess = EqualitySolving().infer(exact, np.random.default_rng(0)).values
    assert guess[0] == pytest.approx([8000.0, 3.0], rel=1e-10)


def test_no_information_gives_no_more_than_half() -> None:
    view, _ = world(3, 2, 4, 5, 0)
    silent = Additive(view.model.active, Linear(sealed(np.zeros((4, 3))), sealed(np.zeros(3))))
    blind = WhiteBoxPredictionView(view.own, view.scores, 4, silent)
    rng = np.random.default_rng(0)
    assert np.array_equal(HalfStar().infer(blind, rng).values, np.full((5, 4), 0.5))
    assert np.array_equal(EqualitySolving().infer(blind, rng).values, np.zeros((5, 4)))


def test_the_closed_form_error_of_half_star_equals_the_measured_one() -> None:
    # A Eq 21 with exact scores: Tr((I - A^+ A) K) / d, K the second moment about one half.
    view, secret = world(4, 3, 9, 400, 3)
    a = equations(view.own, log_ratios(view.scores), view.model).matrix
    projector = np.eye(9) - np.linalg.pinv(a) @ a
    second = (secret - 0.5).T @ (secret - 0.5) / len(secret)
    measured = (
        (HalfStar(clip=False).infer(view, np.random.default_rng(0)).values - secret) ** 2
    ).mean()
    assert measured == pytest.approx(np.trace(projector @ second) / 9, rel=1e-10)


def test_the_agnostic_attack_differs_by_its_estimate_of_the_score_only() -> None:
    # A Eq 17: its guess is half*'s plus A^+ (estimated - true ratios).
    view, _ = world(3, 3, 5, 60, 4)
    rng = np.random.default_rng(1)
    labels = np.array([rng.choice(3, p=p) for p in view.scores])
    labels[:3] = [0, 1, 2]
    blind = AgnosticView(view.own, sealed_ints(labels), view.own, 5, view.model)
    attack = AgnosticInference(clip=False)
    a = equations(view.own, log_ratios(view.scores), view.model).matrix
    shift = (attack.estimate_ratios(blind) - log_ratios(view.scores)) @ np.linalg.pinv(a).T
    expected = HalfStar(clip=False).infer(view, rng).values + shift
    assert np.abs(attack.infer(blind, rng).values - expected).max() < 1e-10
    assert ((expected < 0.0) | (expected > 1.0)).any()  # so that clipping has something to do
    clipped = AgnosticInference().infer(blind, rng).values
    assert np.abs(clipped - np.clip(expected, 0.0, 1.0)).max() < 1e-10


def test_the_agnostic_attack_survives_a_class_that_training_never_saw() -> None:
    view, _ = world(4, 3, 6, 40, 5)
    labels = sealed_ints(np.arange(40) % 2)  # only two of four classes
    blind = AgnosticView(view.own, labels, view.own, 6, view.model)
    assert np.isfinite(AgnosticInference().infer(blind, np.random.default_rng(0)).values).all()
    one = AgnosticView(view.own, sealed_ints(np.zeros(40)), view.own, 6, view.model)
    with pytest.raises(AttackError, match="at least 2 classes"):
        AgnosticInference().infer(one, np.random.default_rng(0))


def test_scores_seen_before_refine_the_guess_of_a_score() -> None:
    """Passive columns that are the same for all: own columns explain every score, labels hardly."""
    rng = np.random.default_rng(8)
    part = [Linear(sealed(rng.normal(size=(4, 3))), sealed(rng.normal(size=3))) for _ in "ab"]
    model = Additive(*part)
    own, before = rng.random((60, 4)), rng.random((40, 4))
    secret = np.full((60, 4), 0.7)
    labels = sealed_ints([rng.choice(3, p=p) for p in model.scores(own, secret)])
    scores = model.scores(before, secret[:40])
    exact = HalfStar().infer(
        WhiteBoxLinearView(sealed(own), sealed(model.scores(own, secret)), 4, model), rng
    )

    def guessed(released: np.ndarray, **settings: float) -> np.ndarray:
        earlier = EarlierScores(sealed(before), sealed(released))
        view = EarlierView(sealed(own), labels, sealed(own), 4, model, earlier=earlier)
        return np.asarray(AgnosticRefined(**settings).infer(view, rng).values)

    blind = AgnosticView(sealed(own), labels, sealed(own), 4, model)
    alone = AgnosticInference().infer(blind, rng).values
    off = [float(((v - exact.values) ** 2).mean()) for v in (alone, guessed(scores, alpha=1e4))]
    assert off[1] < 1e-4 < 1e-2 < off[0]
    # Classes alone have no ratios: they count as labels do, and scores of zero do no harm.
    classes = guessed(np.eye(3)[scores.argmax(axis=1)])
    assert np.isfinite(classes).all()
    assert not np.array_equal(classes, guessed(scores))
    none = guessed(np.eye(3)[scores.argmax(axis=1)], beta=0.0)
    assert not np.array_equal(classes, none)
    with pytest.raises(AttackError, match="no score was seen before"):
        guessed(scores[:0])


def test_scores_of_zero_and_one_never_make_a_value_that_is_not_finite() -> None:
    view, _ = world(3, 2, 2, 4, 6)
    hard = sealed([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.3, 0.0, 0.7], [0.2, 0.3, 0.5]])
    extreme = WhiteBoxPredictionView(view.own, hard, 2, view.model)
    assert np.isfinite(EqualitySolving().infer(extreme, np.random.default_rng(0)).values).all()
    # Documented treatment: zero is read as half of the smallest positive score of the release.
    assert log_ratios(hard)[2, 0] == pytest.approx(np.log(0.1 / 0.3), rel=1e-12)


def test_a_network_is_refused_with_advice() -> None:
    view, _ = world(2, 2, 2, 3, 7)
    w, b = (sealed(np.ones((2, 2))), sealed(np.ones((2, 1)))), (sealed([0.0, 0.0]), sealed([0.0]))
    deep = Additive(Network(w, b, "tanh"), Network(w, b, "tanh"))
    with pytest.raises(AttackError, match="inversion"):
        EqualitySolving().infer(
            WhiteBoxPredictionView(view.own, view.scores, 2, deep), np.random.default_rng(0)
        )


@given(st.integers(1, 6), st.integers(0, 999))
@settings(deadline=None)
def test_log_ratios_undo_the_link(outputs: int, seed: int) -> None:
    z = np.random.default_rng(seed).normal(scale=5.0, size=(8, outputs))
    scores = link(z)
    assert scores.sum(axis=1) == pytest.approx(np.ones(8), abs=1e-12)
    assert np.abs(log_ratios(scores) - adjacent_differences(z)).max() < 1e-10


def test_the_reference_per_record_agrees() -> None:
    view, _ = world(5, 3, 7, 20, 8)
    system = equations(view.own, log_ratios(view.scores), view.model)
    slow = np.stack(
        [np.linalg.lstsq(system.matrix, right, rcond=None)[0] for right in system.right]
    )
    assert (
        np.abs(EqualitySolving().infer(view, np.random.default_rng(0)).values - slow).max() < 1e-9
    )
    nearest = np.stack(
        [
            0.5 + np.linalg.lstsq(system.matrix, r - system.matrix @ np.full(7, 0.5), rcond=None)[0]
            for r in system.right
        ]
    )
    assert np.abs(nearest_to_half(system) - nearest).max() < 1e-9
