"""The generative regression network: its parts, its limits, every model it attacks."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
import torch
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

from whatleaks.arrays import sealed
from whatleaks.attacks.forest_generative_regression import ForestGenerativeRegression
from whatleaks.attacks.forest_surrogate import fit_surrogate
from whatleaks.attacks.generative_regression import (
    GenerativeRegression,
    Penalty,
    generator_network,
)
from whatleaks.catalog import guesser
from whatleaks.codec import decode, encode
from whatleaks.errors import AttackError, UsageError
from whatleaks.models.additive import Additive
from whatleaks.models.forest import forest_from_sklearn
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network
from whatleaks.models.torch_forms import GivenOwn, log_scores
from whatleaks.threat.views.prediction import WhiteBoxPredictionView
from whatleaks.threat.views.tree import WhiteBoxForestView

QUICK = GenerativeRegression(hidden=(24, 12), epochs=5, least_steps=40)


def linear(rng, active, passive, outputs, scale=3.0) -> Additive:
    return Additive(
        Linear(
            sealed(scale * rng.normal(size=(active, outputs))), sealed(rng.normal(size=outputs))
        ),
        Linear(sealed(scale * rng.normal(size=(passive, outputs))), sealed(np.zeros(outputs))),
    )


def view_of(model, own, secret) -> WhiteBoxPredictionView:
    own, secret = sealed(own), sealed(secret)
    return WhiteBoxPredictionView(own, sealed(model.scores(own, secret)), secret.shape[1], model)


def some_view(seed=0, records=50, active=3, passive=2, outputs=3):
    rng = np.random.default_rng(seed)
    own, secret = rng.random((records, active)), rng.random((records, passive))
    return view_of(linear(rng, active, passive, outputs), own, secret), secret


def test_the_generator_is_the_papers() -> None:
    # U VI-C: input size d, hidden 600-200-100 with layer norm after each, output d_target.
    net = generator_network(23, (600, 200, 100), 9, torch.Generator(), torch.float32)
    linears = [layer for layer in net if isinstance(layer, torch.nn.Linear)]
    assert [(x.in_features, x.out_features) for x in linears] == [
        (23, 600),
        (600, 200),
        (200, 100),
        (100, 9),
    ]
    norms = [layer for layer in net if isinstance(layer, torch.nn.LayerNorm)]
    assert [n.normalized_shape for n in norms] == [(600,), (200,), (100,)]
    assert isinstance(net[-1], torch.nn.Sigmoid)
    out = net(100.0 * torch.randn(50, 23)).detach()
    assert 0.0 <= float(out.min()) <= float(out.max()) <= 1.0


def test_the_penalty_counts_only_what_exceeds_the_own_columns_variance() -> None:
    own = np.array([[0.0, 0.0], [1.0, 0.0]])  # variances 1/4 and 0: allowed 1/8
    scores = np.array([[0.0, 1.0], [1.0, 0.0]])  # variance 1/4
    rule = Penalty.excess(own, scores)
    assert (rule.score_weight, rule.variance_weight, rule.allowed) == (4.0, 8.0, 0.125)
    flat, wide = torch.full((4, 1), 0.3), torch.tensor([[0.0], [1.0], [0.0], [1.0]])
    assert float(rule.variance_term(flat)) == 0.0
    assert float(rule.variance_term(wide)) == pytest.approx(1.0)  # twice what is allowed
    assert float(rule.variance_term(torch.cat([flat, wide], 1))) == pytest.approx(0.5)
    mean_only = torch.full((2, 2), 0.5)  # explains nothing of the scores
    assert float(rule.score_term(mean_only, torch.tensor(scores))) == pytest.approx(1.0)


@pytest.mark.parametrize("own", [np.zeros((5, 0)), np.full((5, 2), 0.3)])
def test_without_varying_own_columns_the_uniform_variance_is_allowed(own) -> None:
    rule = Penalty.excess(own, np.full((5, 2), 0.5))
    assert rule.allowed == pytest.approx(1 / 12)
    assert np.isfinite(rule.score_weight)


def test_the_authors_term_is_a_sum_over_64_records_and_all_columns() -> None:
    rng = np.random.default_rng(0)
    given, released, values = rng.random((64, 3)), rng.random((64, 3)), rng.random((64, 5))
    rule = Penalty.authors(3, 5)
    total = rule.score_term(torch.tensor(given), torch.tensor(released)) + rule.variance_term(
        torch.tensor(values)
    )
    wanted = ((given - released) ** 2).sum() + 0.25 * values.var(axis=0).sum()
    assert float(total) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("outputs", [1, 3])
def test_single_precision_scores_are_the_models(outputs) -> None:
    rng = np.random.default_rng(1)
    model = linear(rng, 3, 2, outputs, scale=1.0)
    own, secret = rng.random((20, 3)), rng.random((20, 2))
    form = GivenOwn(model, own, torch.float32)
    got = log_scores(form.outputs(torch.tensor(secret, dtype=torch.float32))).exp().numpy()
    assert np.abs(got - model.scores(own, secret)).max() < 1e-5


def test_a_column_that_the_own_columns_determine_is_learnt() -> None:
    # n = 400. The secret is a function of the own columns and the scores show it: the generator
    # must find that function from the scores alone. Nine tenths of the variance, set beforehand.
    rng = np.random.default_rng(2)
    own = rng.random((400, 3))
    secret = (0.8 * own[:, :1] * own[:, 1:2] + 0.1).clip(0, 1)
    attack = GenerativeRegression(hidden=(60, 30), use_noise=False, least_steps=1500)
    guess = attack.infer(view_of(linear(rng, 3, 1, 1), own, secret), rng).values
    assert ((guess - secret) ** 2).mean() < 0.1 * secret.var()


def test_scores_that_say_nothing_give_nothing() -> None:
    # n = 400: a model with no weight on the secret. The guess may not follow it; a correlation
    # of two independent columns is within 4 / sqrt(n).
    rng = np.random.default_rng(3)
    own, secret = rng.random((400, 3)), rng.random((400, 1))
    model = linear(rng, 3, 1, 3)
    model = Additive(model.active, Linear(sealed(np.zeros((1, 3))), sealed(np.zeros(3))))
    guess = QUICK.infer(view_of(model, own, secret), rng).values
    assert abs(np.corrcoef(guess[:, 0], secret[:, 0])[0, 1]) < 4 / np.sqrt(400)


def test_naive_regression_reaches_the_scores_value_by_value() -> None:
    # One unknown and one log-ratio: the scores determine it, and free values find it.
    rng = np.random.default_rng(4)
    own, secret = rng.random((60, 3)), rng.random((60, 1))
    view = view_of(linear(rng, 3, 1, 1, scale=1.0), own, secret)
    attack = GenerativeRegression(use_generator=False, use_variance_penalty=False, least_steps=2000)
    assert ((attack.infer(view, rng).values - secret) ** 2).mean() < 1e-6


def test_the_same_stream_gives_the_same_guess_and_noise_makes_a_difference() -> None:
    view, _ = some_view()
    first, second = (QUICK.infer(view, np.random.default_rng(7)).values for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, QUICK.infer(view, np.random.default_rng(8)).values)


def test_without_noise_equal_own_columns_get_equal_guesses() -> None:
    view, _ = some_view()
    twins = dataclasses.replace(view, own=sealed(np.repeat(view.own[:25], 2, axis=0)))
    quiet = dataclasses.replace(QUICK, use_noise=False)
    guess = quiet.infer(twins, np.random.default_rng(0)).values
    assert np.abs(guess[0::2] - guess[1::2]).max() < 1e-6
    noisy = QUICK.infer(twins, np.random.default_rng(0)).values
    assert np.abs(noisy[0::2] - noisy[1::2]).max() > 1e-3


def test_averaging_draws_takes_the_noise_out() -> None:
    view, _ = some_view()
    twins = dataclasses.replace(view, own=sealed(np.repeat(view.own[:25], 2, axis=0)))
    gaps = []
    for draws in (1, 64):
        guess = (
            dataclasses.replace(QUICK, draws=draws).infer(twins, np.random.default_rng(0)).values
        )
        gaps.append(((guess[0::2] - guess[1::2]) ** 2).mean())
    assert gaps[1] < gaps[0] / 16  # 64 draws: a 64th in theory, over 25 pairs


def test_every_switch_changes_the_guess_and_the_name() -> None:
    view, _ = some_view(records=120)
    wide = sealed(np.full_like(view.own, 0.5) + 0.01 * view.own)  # little own variance: it binds
    view = dataclasses.replace(view, own=wide)
    base = dataclasses.replace(QUICK, least_steps=200, learning_rate=0.01)
    guesses = {base.name: base.infer(view, np.random.default_rng(0)).values}
    for part in ("own", "noise", "variance_penalty", "generator"):
        attack = dataclasses.replace(base, **{f"use_{part}": False})
        guesses[attack.name] = attack.infer(view, np.random.default_rng(0)).values
    assert list(guesses) == [
        "generative-regression",
        "generative-regression-no-own",
        "generative-regression-no-noise",
        "generative-regression-no-variance-penalty",
        "generative-regression-no-generator",
    ]
    full = guesses.pop("generative-regression")
    assert all(np.abs(full - other).max() > 1e-4 for other in guesses.values())


def test_the_variance_penalty_narrows_the_guesses() -> None:
    view, _ = some_view(records=200)
    narrow = sealed(0.5 + 0.01 * (view.own - 0.5))
    view = dataclasses.replace(view, own=narrow)
    on = GenerativeRegression(hidden=(40,), learning_rate=0.01)
    off = dataclasses.replace(on, use_variance_penalty=False)
    spread = [a.infer(view, np.random.default_rng(0)).values.var(axis=0).mean() for a in (on, off)]
    assert spread[0] < spread[1]


@pytest.mark.parametrize(
    "scores",
    [
        np.eye(3)[np.arange(30) % 3],
        np.full((30, 3), 1 / 3),
        np.zeros((30, 3)),
        np.tile([1.0, 0, 0], (30, 1)),
    ],
    ids=["label-only", "constant", "rounded to zero", "one class only"],
)
def test_degenerate_scores_give_finite_guesses(scores) -> None:
    view, _ = some_view(records=30)
    view = dataclasses.replace(view, scores=sealed(scores))
    for attack in (QUICK, dataclasses.replace(QUICK, use_generator=False)):
        assert np.isfinite(attack.infer(view, np.random.default_rng(0)).values).all()


@pytest.mark.parametrize(("records", "active", "passive"), [(1, 3, 2), (2, 1, 5), (70, 0, 2)])
def test_small_views(records, active, passive) -> None:
    view, secret = some_view(records=records, active=active, passive=passive)
    assert QUICK.infer(view, np.random.default_rng(0)).values.shape == secret.shape


def test_networks_of_both_kinds_are_attacked() -> None:
    rng = np.random.default_rng(5)

    def net(sizes):
        pairs = list(itertools.pairwise(sizes))
        return Network(
            tuple(sealed(rng.normal(size=p)) for p in pairs),
            tuple(sealed(rng.normal(size=b)) for _, b in pairs),
            "tanh",
        )

    first = [Linear(sealed(rng.normal(size=(n, 6))), sealed(np.zeros(6))) for n in (3, 2)]
    for model in (
        Additive(net([3, 5, 3]), net([2, 5, 3])),
        JointNetwork(*first, net([6, 4, 3]), "tanh"),
    ):
        view = view_of(model, rng.random((80, 3)), rng.random((80, 2)))
        long = dataclasses.replace(QUICK, least_steps=400, learning_rate=0.01)
        start, end = (a.infer(view, np.random.default_rng(0)).values for a in (QUICK, long))
        fit = [((model.scores(view.own, g) - view.scores) ** 2).mean() for g in (start, end)]
        assert fit[1] < fit[0]  # it learns what the model scores


@pytest.mark.parametrize("records", [10, 300, 6000, 100_000])
def test_the_schedule(records) -> None:
    epochs, batches = GenerativeRegression().schedule(records)
    assert epochs >= 60
    assert epochs * batches >= 1000
    assert batches == 1 or 50 <= records / batches <= 1040
    assert GenerativeRegression(epochs=7, least_steps=1, batch=64).schedule(6400) == (7, 100)


def test_it_travels_and_is_listed() -> None:
    attack = guesser("generative-regression").build()
    assert decode(encode(attack)) == attack
    forest = guesser("forest-generative-regression").build()
    assert decode(encode(forest)) == forest
    assert forest.name == "forest-generative-regression"


@pytest.mark.parametrize(
    "bad",
    [
        {"epochs": 0},
        {"batch": 0},
        {"draws": 0},
        {"hidden": ()},
        {"variance_rule": "truth"},
        {"use_own": False, "use_noise": False},
    ],
)
def test_settings_without_meaning_are_refused(bad) -> None:
    with pytest.raises(UsageError):
        GenerativeRegression(**bad)


def test_nothing_unknown_is_refused() -> None:
    view, _ = some_view()
    with pytest.raises(AttackError, match="at least 1 unknown"):
        QUICK.infer(dataclasses.replace(view, unknown=0), np.random.default_rng(0))


@pytest.fixture(scope="module")
def forest():
    x, y = load_wine(return_X_y=True)
    x = (x - x.min(0)) / (x.max(0) - x.min(0))
    fitted = RandomForestClassifier(30, max_depth=3, random_state=0).fit(x, y)
    model = forest_from_sklearn(fitted, 8, 3)
    own = sealed(x[:, :8])
    return WhiteBoxForestView(own, sealed(model.fractions(x)), 5, model)


@pytest.mark.parametrize("known", [True, False])
def test_the_stand_in_learns_the_forest_where_it_is_asked(forest, known) -> None:
    rng = np.random.default_rng(0)
    given = forest.own if known else None
    surrogate = fit_surrogate(forest.model, given, 5, 2000, 6, (200, 50), rng)
    own = forest.own if known else rng.random((178, 8))
    other = rng.random((178, 5))
    votes = forest.model.fractions(np.concatenate([own, other], axis=1))
    error = ((surrogate.scores(own, other) - votes) ** 2).mean()
    assert error < votes.var(axis=0).mean()  # it knows more of the votes than their average


def test_a_forests_own_fractions_are_what_is_matched(forest) -> None:
    # Other released fractions, the same forest: the guess must change with what was released.
    attack = ForestGenerativeRegression(QUICK, (40, 20), made_up=300, surrogate_epochs=2)
    base = attack.infer(forest, np.random.default_rng(0)).values
    assert base.shape == (178, 5)
    other = dataclasses.replace(forest, released=sealed(forest.released[::-1]))
    assert not np.array_equal(base, attack.infer(other, np.random.default_rng(0)).values)
    whole = dataclasses.replace(attack, whole_space=True)
    assert whole.name.endswith("whole-space")
    assert not np.array_equal(base, whole.infer(forest, np.random.default_rng(0)).values)
    for bad in ({"made_up": 0}, {"surrogate": ()}):
        with pytest.raises(UsageError):
            ForestGenerativeRegression(**bad)
    nobody = dataclasses.replace(
        forest, own=sealed(np.zeros((0, 8))), released=sealed(np.zeros((0, 3)))
    )
    assert attack.infer(nobody, np.random.default_rng(0)).values.shape == (0, 5)
