"""Gradient inversion: its distances, its exact case, its independence of other records."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

from whatleaks.arrays import sealed
from whatleaks.attacks.gradient_inversion import AnyModel, GradientInversion, stepping
from whatleaks.attacks.inversion_search import searched
from whatleaks.errors import UsageError
from whatleaks.models.adam_one_output import MANY, OneOutput
from whatleaks.models.additive import Additive, link
from whatleaks.models.carry_back import KnownOwn
from whatleaks.models.linear import Linear
from whatleaks.models.missed import Missed
from whatleaks.models.network import Network
from whatleaks.models.torch_forms import log_scores, logits
from whatleaks.threat.views.prediction import WhiteBoxPredictionView


def network(rng, sizes, activation="sigmoid") -> Network:
    weights = tuple(sealed(rng.normal(size=(a, b))) for a, b in itertools.pairwise(sizes))
    return Network(weights, tuple(sealed(rng.normal(size=b)) for b in sizes[1:]), activation)


def view_of(model, records, active, passive, seed):
    rng = np.random.default_rng(seed)
    own, secret = sealed(rng.random((records, active))), sealed(rng.random((records, passive)))
    return WhiteBoxPredictionView(own, sealed(model.scores(own, secret)), passive, model), secret


@pytest.mark.parametrize("activation", ["sigmoid", "tanh", "relu"])
def test_the_torch_form_equals_the_plain_model(activation: str) -> None:
    rng = np.random.default_rng(0)
    model = network(rng, [4, 8, 8, 3], activation)
    x = rng.normal(size=(10, 4))
    assert np.abs(logits(model, torch.tensor(x)).numpy() - model.logits(x)).max() < 1e-12


@pytest.mark.parametrize("outputs", [1, 4])
def test_distances_are_the_papers(outputs: int) -> None:
    rng = np.random.default_rng(1)
    z, other = rng.normal(size=(6, outputs)), rng.normal(size=(6, outputs))
    c, hat = link(z), link(other)
    log_hat = log_scores(torch.tensor(other))
    assert np.abs(log_hat.exp().numpy() - hat).max() < 1e-12
    mse = Missed(c, "mse").distances(other)
    kl = Missed(c, "kl").distances(other)
    assert np.abs(mse - ((c - hat) ** 2).mean(axis=1)).max() < 1e-12  # Eq 18
    assert np.abs(kl - (c * np.log(c / hat)).sum(axis=1)).max() < 1e-12  # Eq 19, turned over
    assert (kl >= 0).all()


def slow_search(attack: GradientInversion, view: WhiteBoxPredictionView) -> np.ndarray:
    """The same search by torch's differentiation and torch's Adam."""
    released = torch.tensor(view.scores)
    known = torch.tensor(view.model.active.logits(view.own))
    guess = torch.zeros(len(view.own), view.unknown, dtype=torch.float64).requires_grad_()
    optimiser = torch.optim.Adam([guess], lr=attack.learning_rate)
    for _ in range(attack.steps):
        optimiser.zero_grad()
        logs = log_scores(known + logits(view.model.passive, guess))
        if attack.distance == "mse":
            distance = ((released - logs.exp()) ** 2).mean(dim=1)
        else:
            distance = (torch.xlogy(released, released) - released * logs).sum(dim=1)
        distance.sum().backward()
        optimiser.step()
    return guess.detach().numpy()


@pytest.mark.parametrize("distance", ["mse", "kl"])
@pytest.mark.parametrize(
    ("outputs", "hidden", "activation"),
    [(1, (), ""), (3, (), ""), (1, (5,), "tanh"), (3, (5, 4), "sigmoid"), (4, (6,), "relu")],
)
def test_the_search_is_that_of_torch(
    distance: str, outputs: int, hidden: tuple[int, ...], activation: str
) -> None:
    rng = np.random.default_rng(8)

    def part(columns: int):
        if not hidden:
            weights = sealed(rng.normal(size=(columns, outputs)))
            return Linear(weights, sealed(rng.normal(size=outputs)))
        return network(rng, [columns, *hidden, outputs], activation)

    view, _ = view_of(Additive(part(3), part(4)), 12, 3, 4, 9)
    rounded = np.round(view.scores, 2)  # of a defense: they need not sum to one
    view = WhiteBoxPredictionView(view.own, sealed(rounded), 4, view.model)
    attack = GradientInversion(distance, steps=200, learning_rate=0.01, tolerance=0.0)
    guess = attack.infer(view, rng).values
    assert np.abs(guess - slow_search(attack, view)).max() < 1e-9


@pytest.mark.parametrize("width", [MANY, 7])
@pytest.mark.parametrize("distance", ["mse", "kl"])
def test_one_output_is_searched_record_by_record_as_value_by_value(
    distance: str, width: int
) -> None:
    rng = np.random.default_rng(14)
    sizes = 10.0 ** rng.uniform(-7, 1, size=(width, 1))  # some columns hardly count, one not at all
    sizes[3] = 0.0
    signs = np.where(rng.random((width, 1)) < 0.5, -1.0, 1.0)
    part = Linear(sealed(sizes * signs), sealed(rng.normal(size=1)))
    own = Linear(sealed(rng.normal(size=(3, 1))), sealed(rng.normal(size=1)))
    view, _ = view_of(Additive(own, part), 12, 3, width, 15)
    scores = view.scores.copy()
    scores[0] = view.model.scores(view.own, np.full((12, width), 0.5))[0]  # reached from the start
    missed = Missed(scores, distance)
    quick = stepping(view, 0.5, 0.01)
    assert isinstance(quick, OneOutput)
    slow = AnyModel(KnownOwn(view.model, view.own), np.full((12, width), 0.5), 0.01)
    for _ in range(250):
        z = slow.outputs()
        assert np.abs(quick.outputs() - z).max() < 1e-9
        slopes = missed.slopes(z)  # the same for both: near a solution their last digits decide
        slow.follow(slopes)
        quick.follow(slopes)
    assert np.abs(slow.values[1:] - 0.5).max() > 0.1  # it went somewhere
    assert np.all(quick.values[:, 3] == 0.5)
    assert np.abs(quick.values - slow.values).max() < 1e-9


@pytest.mark.parametrize("outputs", [1, 2, 4])
@pytest.mark.parametrize(
    "told", [{"cut": 1}, {"cut": 3}, {"purifier": "real"}, {"purifier": "random"}]
)
def test_a_known_defense_is_searched_through_as_torch_does(outputs: int, told: dict) -> None:
    rng = np.random.default_rng(12)
    model = Additive(network(rng, [3, 4, outputs]), network(rng, [4, 4, outputs], "tanh"))
    view, _ = view_of(model, 10, 3, 4, 13)
    if "cut" in told:
        view = replace(view, scores=sealed(np.floor(view.scores * 10) / 10))
    for distance in ("mse", "kl"):
        attack = GradientInversion(distance, steps=80, learning_rate=0.02, tolerance=0.0, **told)
        quick = attack.infer(view, rng).values
        assert np.abs(quick).max() > 0.1  # it went somewhere
        assert np.abs(quick - searched(attack, view, 0.0, rng)).max() < 1e-8


def test_moving_and_clipping_share_the_search_and_no_other_setting_does() -> None:
    rng = np.random.default_rng(10)
    model = Additive(network(rng, [3, 4, 2]), network(rng, [3, 4, 2]))
    view, _ = view_of(model, 8, 3, 3, 11)
    plain = GradientInversion("kl", steps=150, learning_rate=0.1)
    free = plain.infer(view, rng).values
    assert free.min() < 0.0
    clipped = GradientInversion("kl", steps=150, learning_rate=0.1, clip=True)
    assert np.array_equal(clipped.infer(view, rng).values, np.clip(free, 0, 1))
    for other in ({"steps": 151}, {"learning_rate": 0.2}, {"start": "half"}, {"distance": "mse"},
                  {"cut": 1}, {"purifier": "random"}):  # fmt: skip
        found = replace(plain, **other).infer(view, rng).values
        assert np.abs(found - free).max() > 1e-6
    swapped = replace(view, scores=sealed(view.scores[::-1]))
    assert np.abs(plain.infer(swapped, rng).values - free).max() > 1e-6


def test_linear_models_with_few_unknowns_are_inverted() -> None:
    # J 5.2.1: while d_pas <= k - 1 the inversion reaches the secret.
    rng = np.random.default_rng(2)
    model = Additive(
        Linear(sealed(rng.normal(size=(3, 4))), sealed(rng.normal(size=4))),
        Linear(sealed(rng.normal(size=(2, 4))), sealed(np.zeros(4))),
    )
    view, secret = view_of(model, 20, 3, 2, 3)
    for distance in ("mse", "kl"):
        attack = GradientInversion(distance, steps=6000, learning_rate=0.01)
        guess = attack.infer(view, np.random.default_rng(0)).values
        assert ((guess - secret) ** 2).mean() < 1e-10


def test_a_record_is_not_influenced_by_the_others() -> None:
    rng = np.random.default_rng(4)
    model = Additive(network(rng, [3, 8, 3]), network(rng, [4, 8, 3]))
    view, _ = view_of(model, 6, 3, 4, 5)
    attack = GradientInversion(steps=300, tolerance=0.0)
    together = attack.infer(view, np.random.default_rng(0)).values
    for i in range(6):
        alone = WhiteBoxPredictionView(view.own[i : i + 1], view.scores[i : i + 1], 4, model)
        single = attack.infer(alone, np.random.default_rng(0)).values
        assert np.abs(single[0] - together[i]).max() < 1e-9


def test_one_step_moves_every_value_by_the_learning_rate() -> None:
    # Adam's first step has the size of the rate whatever the gradient: near zero after few steps.
    rng = np.random.default_rng(6)
    model = Additive(network(rng, [2, 5, 2]), network(rng, [3, 5, 2]))
    view, _ = view_of(model, 5, 2, 3, 7)
    guess = GradientInversion(steps=1, learning_rate=0.001).infer(view, rng).values
    assert np.abs(np.abs(guess) - 0.001).max() < 1e-4
    start = GradientInversion(steps=1, learning_rate=0.001, start="half").infer(view, rng).values
    assert np.abs(np.abs(start - 0.5) - 0.001).max() < 1e-4


def test_settings_without_meaning_are_refused() -> None:
    for bad in ({"distance": "cosine"}, {"steps": 0}, {"start": "truth"}):
        with pytest.raises(UsageError):
            GradientInversion(**bad)
