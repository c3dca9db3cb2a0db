"""The black box: shadows of the partner's part, inversion through them, what regressions add."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.known_regression import KnownRegression
from whatleaks.attacks.score_shadow_inversion import ScoreShadowInversion
from whatleaks.attacks.shadow_regression import (
    ShadowRegression,
    _left_out,
    _People,
    _through_shadow,
    _weights,
)
from whatleaks.errors import AttackError, UsageError
from whatleaks.models.additive import Additive, link
from whatleaks.models.joined_parts import OwnPart
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network
from whatleaks.models.ridge import learnt
from whatleaks.models.shadow import enough_records, fit_by_torch, hidden_layers, shadow
from whatleaks.models.torch_network import Layers, build, export
from whatleaks.threat.grants import KnownPeople
from whatleaks.threat.model import Memory
from whatleaks.threat.prediction import own_part
from whatleaks.threat.views.known import KnownView
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial


def linear(rng, columns, outputs, scale=1.0) -> Linear:
    return Linear(sealed(scale * rng.normal(size=(columns, outputs))), sealed(np.zeros(outputs)))


def known_view(model: Additive, own, secret, known: int) -> KnownView:
    scores = sealed(model.scores(own, secret))
    people = KnownPeople(
        sealed(own[:known]), sealed(secret[:known]), sealed_ints(np.zeros(known)),
        sealed(scores[:known]),
    )  # fmt: skip
    return KnownView(
        own=sealed(own[known:]), scores=sealed(scores[known:]), unknown=secret.shape[1],
        auxiliary=people, own_part=model.active,
    )  # fmt: skip


def test_the_thresholds_are_the_papers() -> None:
    assert enough_records(20, (), 1) == 20  # Eq 21, bank at r = 1
    # Eq 22, satellite and drive at r = 1: a quarter is "less than 25 records" (J 5.3).
    assert enough_records(36, (8, 8), 6) == 71
    assert enough_records(48, (8, 8), 11) == 52


@pytest.mark.parametrize("kind", ["mse", "kl"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_a_linear_shadow_is_that_of_torch(kind: str, outputs: int) -> None:
    rng = np.random.default_rng(3)
    own, passive = rng.normal(size=(9, outputs)), rng.random((9, 4))
    released = link(own + passive @ rng.normal(size=(4, outputs)))
    layers = Layers((), outputs)
    quick = shadow(own, passive, released, layers, np.random.default_rng(4), kind=kind, steps=150)
    slow = build(4, layers, np.random.default_rng(4), bias=False)
    before = export(slow, layers).weights
    fit_by_torch(slow, own, passive, released, kind, 150, 0.01)
    assert np.abs(quick.weights - export(slow, layers).weights).max() < 1e-10
    assert np.abs(quick.weights - before).max() > 0.1


def test_a_structure_is_read_or_refused() -> None:
    net = Network((np.ones((3, 8)), np.ones((8, 5)), np.ones((5, 2))), (np.ones(8),) * 3, "tanh")
    assert hidden_layers("own", net) == (8, 5)
    assert hidden_layers("linear", net) == ()
    assert hidden_layers("8-8-8", net) == (8, 8, 8)
    with pytest.raises(UsageError, match="own, linear or widths"):
        hidden_layers("deep", net)


def test_with_tau_records_the_shadow_of_a_linear_part_is_the_part() -> None:
    rng = np.random.default_rng(0)
    part, own = linear(rng, 3, 1), rng.normal(size=(3, 1))
    x = rng.random((3, 3))  # n = tau: Eq 21
    released = link(own + part.logits(x))
    made = shadow(own, x, released, Layers((), 1), rng, kind="kl", steps=3000, rate=0.05)
    assert np.abs(made.weights - part.weights).max() < 1e-3
    few = shadow(own[:1], x[:1], released[:1], Layers((), 1), rng, kind="kl", steps=500, rate=0.05)
    assert np.abs(few.weights - part.weights).max() > 0.05  # fewer leave directions open


def test_shadow_inversion_is_exact_where_the_white_box_is() -> None:
    # d_pas <= k - 1 and n >= tau: nothing is left open, with or without the partner's model.
    rng = np.random.default_rng(1)
    model = Additive(linear(rng, 3, 4), linear(rng, 2, 4, 2.0))
    own, secret = rng.random((30, 3)), rng.random((30, 2))
    view = known_view(model, own, secret, 12)
    attack = ScoreShadowInversion(distance="kl", shadow_steps=2000, steps=2500, learning_rate=0.01)
    guess = attack.infer(view, np.random.default_rng(0)).values
    assert ((guess - secret[12:]) ** 2).mean() < 1e-4
    with pytest.raises(AttackError, match="own part"):
        attack.infer(replace(view, own_part=None), rng)


def test_the_weighed_regression_uses_the_own_part_of_the_model() -> None:
    # With many own columns a regression on own columns and scores needs many people; the rest
    # of the score, after the own part is taken away, needs few.
    rng = np.random.default_rng(2)
    model = Additive(linear(rng, 20, 1), linear(rng, 1, 1, 3.0))
    own, secret = rng.random((80, 20)), rng.random((80, 1))
    view = known_view(model, own, secret, 8)
    ours = ((ShadowRegression().infer(view, rng).values - secret[8:]) ** 2).mean()
    plain = ((KnownRegression().infer(view, rng).values - secret[8:]) ** 2).mean()
    assert ours < 1e-3 < plain
    blind = ShadowRegression().infer(replace(view, own_part=None), rng).values
    assert np.isfinite(blind).all()


def test_weights_are_not_negative_and_sum_to_one() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(15)
    answers = np.stack([truth + 0.01 * rng.normal(size=15), rng.random(15), -truth], axis=1)
    weights = _weights(answers, truth)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert weights[0] > 0.9
    assert _weights(np.zeros((5, 2)), np.zeros(5)).sum() == pytest.approx(1.0)


def test_a_coalition_keeps_its_parts_side_by_side() -> None:
    rng = np.random.default_rng(4)
    one, other = linear(rng, 2, 3), linear(rng, 4, 3)
    memory = Memory(sealed(np.zeros((1, 6))), sealed(np.zeros((1, 6))), sealed_ints([0]), 2,
                    (OwnPart(one), OwnPart(other)))  # fmt: skip
    joined = own_part(memory)
    x = rng.random((5, 6))
    assert joined is not None
    assert np.abs(joined.logits(x) - one.logits(x[:, :2]) - other.logits(x[:, 2:])).max() < 1e-12
    assert own_part(replace(memory, kept=())) is None


@pytest.mark.parametrize("source", ["uniform", "gaussian", "laplace"])
def test_people_may_be_made_up(source: str) -> None:
    base = Scenario("wine", unknown=2, threat="black-box-known", targets=15, known=12,
                    attacks=("shadow-regression",),
                    model_options=Settings({"steps": 100}))  # fmt: skip
    made_up = replace(base, known_from=source)
    assert base.training_key() != made_up.training_key()
    done = run_trial(made_up)
    assert done.records.granted == 12
    assert done.outcome.measurements["records"] == 15
    assert "shadow-regression" in done.outcome.measurements


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_shadow_corrects_as_the_covariance_in_full_says(outputs: int) -> None:
    rng = np.random.default_rng(outputs)
    wanted, own, rest = (rng.random((12, width)) for width in (4, 3, outputs))
    asked = _People(rng.random((5, 3)), rng.random((5, outputs)), rng.random((5, outputs)))
    answers = learnt(wanted, rest, np.concatenate([np.zeros((1, 4)), np.eye(4)]))
    base, matrix = answers[0], (answers[1:] - answers[0]).T
    spread = np.cov(wanted - _left_out(own, wanted), rowvar=False)
    weight = 4 / (4 + 12)
    spread = (1 - weight) * spread + weight * np.diag(np.diag(spread)) + 1e-9 * np.eye(4)
    error = np.diag(((rest - _left_out(wanted, rest)) ** 2).mean(axis=0) + 1e-9)
    gain = np.linalg.solve(matrix @ spread @ matrix.T + error, matrix @ spread).T
    guess = learnt(own, wanted, asked.own)
    slow = guess + (asked.rest - base - guess @ matrix.T) @ gain.T
    quick = _through_shadow(_People(own, rest, rest), wanted, asked)
    assert np.abs(quick - slow).max() < 1e-9
