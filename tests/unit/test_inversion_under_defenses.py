"""Inversion's own settings, and what an adversary makes of rounding, noise and purifiers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from whatleaks.arrays import sealed
from whatleaks.attacks.equality_solving import EqualitySolving
from whatleaks.attacks.gradient_inversion import GradientInversion
from whatleaks.defenses.purification import Purification
from whatleaks.defenses.rounding import Rounding
from whatleaks.defenses.score_noise import ScoreNoise
from whatleaks.errors import UsageError
from whatleaks.models import purifier
from whatleaks.models.additive import Additive
from whatleaks.models.linear import Linear
from whatleaks.models.purifier import copy_of_purifier, trained_purifier
from whatleaks.models.torch_network import Layers, Optimiser, build, export
from whatleaks.threat.model import averaged
from whatleaks.threat.views.prediction import WhiteBoxLinearView
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial
from whatleaks.wire.message import Message, Plain


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def linear_view(unknown: int = 5, classes: int = 3, records: int = 12):
    draw = rng(1)
    model = Additive(
        Linear(sealed(draw.normal(size=(3, classes))), sealed(np.zeros(classes))),
        Linear(sealed(draw.normal(size=(unknown, classes))), sealed(np.zeros(classes))),
    )
    own, secret = sealed(draw.random((records, 3))), sealed(draw.random((records, unknown)))
    return WhiteBoxLinearView(own, sealed(model.scores(own, secret)), unknown, model), secret


def error(attack, view, secret) -> float:
    return float(((attack.infer(view, rng()).values - secret) ** 2).mean())


def test_plain_descent_from_zero_ends_at_the_least_norm_solution_and_adam_does_not() -> None:
    # J04: a gradient by x is a combination of the equations' rows, so plain descent from zero
    # never leaves their span and ends where equality solving does. Adam scales every value on
    # its own and leaves it: another solution of the same equations.
    view, _ = linear_view()
    solved = EqualitySolving().infer(view, rng()).values
    plain = GradientInversion("kl", 6000, 1.0, optimiser="descent").infer(view, rng()).values
    adam = GradientInversion("kl", 3000, 0.01).infer(view, rng()).values
    assert np.abs(plain - solved).max() < 1e-4
    assert np.abs(adam - solved).max() > 0.02
    for guess in (plain, adam):  # both answer the scores
        assert np.abs(view.model.scores(view.own, guess) - view.scores).max() < 1e-4


def test_quasi_newton_solves_in_few_steps_and_the_box_holds() -> None:
    view, secret = linear_view(unknown=2)
    assert error(GradientInversion("kl", 200, optimiser="lbfgs"), view, secret) < 1e-10
    wide = GradientInversion("mse", 300, 0.1, box=True).infer(linear_view()[0], rng()).values
    assert ((wide >= 0.0) & (wide <= 1.0)).all()


def test_a_restart_is_kept_only_where_it_is_nearer() -> None:
    view, _ = linear_view()
    once = GradientInversion("mse", 20, 0.01)
    more = replace(once, restarts=3)

    def apart(a):
        guess = a.infer(view, rng()).values
        return ((view.model.scores(view.own, guess) - view.scores) ** 2).mean(axis=1)

    assert (apart(more) <= apart(once) + 1e-15).all()
    assert (apart(more) < apart(once)).any()
    for bad in ({"restarts": -1}, {"optimiser": "newton"}):
        with pytest.raises(UsageError):
            GradientInversion(**bad)


def test_a_cut_score_fits_anything_inside_its_step() -> None:
    view, secret = linear_view(unknown=2)
    cut = replace(view, scores=sealed(Rounding(1).release(view.scores, rng())))
    knowing = GradientInversion("kl", 1500, 0.01, cut=Rounding(1).told()["cut"])
    guess = knowing.infer(cut, rng()).values
    scores = view.model.scores(view.own, guess)
    assert (scores >= cut.scores - 1e-3).all()
    assert (scores <= cut.scores + 0.1 + 1e-3).all()
    assert error(knowing, cut, secret) < error(GradientInversion("kl", 1500, 0.01), cut, secret)


def test_asking_again_averages_noise_away() -> None:
    rounds = [
        [
            Message(0, "coordinator", "active", "scores", Plain(sealed(np.full((4, 2), value)))),
            Message(0, "coordinator", "active", "released", Plain(sealed(np.full(4, value)))),
        ]
        for value in (0.2, 0.4)
    ]
    scores, other = averaged(rounds, frozenset({"scores"}))
    assert np.allclose(scores.payload.values, 0.3, atol=1e-15)
    assert np.array_equal(other.payload.values, np.full(4, 0.2))
    assert averaged(rounds[:1], frozenset({"scores"})) == rounds[0]
    assert ScoreNoise(0.1).asked > 1
    assert Rounding(1).asked == 1
    base = Scenario("wine", unknown=1, targets=30, defense="noise-0.1",
                    attacks=("half-star",), model_options=Settings({"steps": 300}))  # fmt: skip
    again = replace(base, asks=20)
    assert base.training_key() == again.training_key()
    once, often = (run_trial(s).outcome.measurements["half-star"].value for s in (base, again))
    assert often < once


def test_a_public_purifier_is_rebuilt_to_the_last_digit_and_inverted() -> None:
    view, secret = linear_view(unknown=1)
    copied = copy_of_purifier("random", view.model, view.own, 1)
    assert copied is not None
    released = Purification("random").release(view.scores, rng())
    assert np.array_equal(copied.apply(view.scores), released)
    assert np.allclose(released.sum(axis=1), 1.0, atol=1e-12)
    shown = replace(view, scores=sealed(released))
    naive = error(GradientInversion("kl", 1500, 0.01), shown, secret)
    told = Purification("random").told()
    assert error(GradientInversion("kl", 1500, 0.01, **told), shown, secret) < naive
    assert copy_of_purifier("", view.model, view.own, 1) is None
    with pytest.raises(UsageError, match="real, random"):
        copy_of_purifier("fake", view.model, view.own, 1)


def test_a_purifier_that_learnt_on_scores_is_near_to_them() -> None:
    scores = rng(3).dirichlet([0.3] * 4, size=200)
    real = Purification("real").learnt(scores)
    assert real.fitted is not None
    assert Purification("random").learnt(scores).fitted is None
    near = np.abs(real.release(scores, rng()) - scores).mean()
    far = np.abs(trained_purifier(4).apply(scores) - scores).mean()
    assert near < far


@pytest.mark.parametrize("classes", [2, 5])
def test_a_purifier_is_trained_as_torch_trains_it(classes: int) -> None:
    scores = np.random.default_rng(classes).dirichlet(np.ones(classes), 40)
    layers = Layers((max(1, classes // 2),), classes, "sigmoid")
    network = build(classes, layers, np.random.Generator(np.random.PCG64(classes)))
    inputs = torch.tensor(scores)
    optimiser = Optimiser(network.parameters(), purifier.RATE, falls_over=purifier.STEPS)
    for _ in range(purifier.STEPS):
        optimiser.follow(((network(inputs) - inputs) ** 2).mean())
    slow, quick = export(network, layers), trained_purifier(classes, scores).network
    for one, other in zip(
        (*slow.weights, *slow.biases), (*quick.weights, *quick.biases), strict=True
    ):
        assert np.abs(one - other).max() < 1e-8


def test_of_many_scores_some_train_the_purifier(monkeypatch: pytest.MonkeyPatch) -> None:
    first = np.random.default_rng(0).random((400, 1))
    scores = np.concatenate([first, 1.0 - first], axis=1)
    whole = trained_purifier(2, scores).apply(scores[:50])
    monkeypatch.setattr(purifier, "MOST", 200)
    some = trained_purifier(2, scores).apply(scores[:50])
    assert 0.0 < np.abs(some - whole).max() < 0.05
