"""The conditional mean under any release, against closed forms; half* by layers, against networks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from whatleaks.arrays import sealed
from whatleaks.attacks.half_star import HalfStar
from whatleaks.attacks.half_star_layers import HalfStarLayers, solved
from whatleaks.catalog import card
from whatleaks.models.additive import Additive, adjacent_differences
from whatleaks.models.conditional_mean import People, conditional_mean, narrowed
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network
from whatleaks.threat.views.prediction import WhiteBoxLinearView, WhiteBoxPredictionView
from whatleaks.trial.plan import worth_trying
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.trial import run_trial

RNG = np.random.default_rng


def test_under_linear_equations_it_is_the_normal_conditional_mean() -> None:
    rng = RNG(0)
    matrix = rng.normal(size=(2, 4))
    root = 0.02 * rng.normal(size=(4, 4))
    centre = np.full((5, 4), 0.5) + 0.01 * rng.normal(size=(5, 4))
    x = np.clip(centre + 0.02 * rng.normal(size=(5, 4)), 0.0, 1.0)
    steps = rng.normal(size=(20_000, 4))
    steps -= steps.mean(axis=0)
    spread = steps @ root.T
    people = People(np.zeros((5, 1)), x @ matrix.T)
    whole, *some = narrowed(
        people, centre, spread, lambda own, other: other @ matrix.T, np.zeros(2)
    )
    cov = spread.T @ spread / len(spread)  # of the draws themselves
    gain = cov @ matrix.T @ np.linalg.inv(matrix @ cov @ matrix.T)
    assert np.abs(whole - (centre + (people.seen - centre @ matrix.T) @ gain.T)).max() < 1e-6
    for one in some:  # whatever is kept, the equations hold
        assert np.abs(one @ matrix.T - people.seen).max() < 1e-6


def test_a_release_that_says_nothing_leaves_the_regression() -> None:
    rng = RNG(1)
    own = rng.random((30, 2))
    values = 0.3 + 0.4 * own + 0.01 * rng.normal(size=(30, 2))
    people = People(own, np.zeros((30, 1)))
    found = conditional_mean(people, values, people, lambda o, x: np.zeros((len(x), 1)), rng)
    assert np.abs(found - (0.3 + 0.4 * own)).max() < 0.02


def test_a_release_that_says_all_is_believed() -> None:
    rng = RNG(2)
    own, values = rng.random((30, 2)), rng.random((30, 2))
    asked, truth = rng.random((10, 2)), rng.random((10, 2))

    def release(own: np.ndarray, other: np.ndarray) -> np.ndarray:
        return np.asarray(other**3 + other)  # one to one, not linear

    found = conditional_mean(
        People(own, release(own, values)),
        values,
        People(asked, release(asked, truth)),
        release,
        rng,
    )
    assert ((found - truth) ** 2).mean() < 0.02 * truth.var()


def test_rounded_releases_are_not_believed_to_the_last_digit() -> None:
    """Known people show that releases are off: draws may miss by as much."""
    rng = RNG(3)
    matrix = np.array([[1.0, 1.0]])
    own = rng.random((40, 1))
    values = np.clip(0.5 + 0.02 * rng.normal(size=(40, 2)), 0.0, 1.0)
    coarse = People(own, np.round(values @ matrix.T))  # 1 for everybody: nothing is left
    found = conditional_mean(coarse, values, coarse, lambda o, x: x @ matrix.T, rng)
    assert np.abs(found - values.mean(axis=0)).max() < 0.05


def test_on_a_real_forest_it_tells_more_than_the_regression_on_the_same_people() -> None:
    scenario = Scenario(
        "breast-cancer", share=0.4, model="forest", threat="white-box-forest-known", targets=40,
        attacks=("forest-conditional-mean", "known-regression-votes"),
    )  # fmt: skip
    found = run_trial(scenario).outcome.measurements
    assert found["forest-conditional-mean"].value < found["known-regression-votes"].value


def _network(rng: np.random.Generator, sizes: tuple[int, ...], activation: str) -> Network:
    pairs = list(pairwise(sizes))
    return Network(
        tuple(sealed(rng.normal(size=pair)) for pair in pairs),
        tuple(sealed(0.1 * rng.normal(size=b)) for _, b in pairs),
        activation,
    )


@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
def test_layers_that_are_all_solvable_are_undone_exactly(activation: str) -> None:
    """As many independent equations as unknowns at every layer: the input itself."""
    rng = RNG(4)
    part = _network(rng, (2, 3, 4), activation)
    x = rng.random((20, 2))
    exact = solved(part, part.logits(x), np.full_like(x, 0.5), top=False)
    assert np.abs(exact - x).max() < 1e-6
    told = solved(part, adjacent_differences(part.logits(x)), np.full_like(x, 0.5), top=True)
    assert np.abs(told - x).max() < 1e-6


def test_relu_is_undone_where_every_value_passes() -> None:
    part = Network(
        (sealed(np.eye(2)), sealed(np.array([[1.0, 0.5], [0.2, 1.0]]))),
        (sealed(np.ones(2)), sealed(np.zeros(2))),
        "relu",
    )
    x = RNG(5).random((10, 2))
    found = solved(part, part.logits(x), np.full_like(x, 0.5), top=False)
    assert np.abs(found - x).max() < 1e-12


def test_with_one_layer_it_is_half_star_and_a_joint_network_is_undone_too() -> None:
    rng = RNG(6)
    own, x = sealed(rng.random((15, 3))), rng.random((15, 4))
    parts = [Linear(sealed(rng.normal(size=(n, 3))), sealed(rng.normal(size=3))) for n in (3, 4)]
    model = Additive(*parts)
    view = WhiteBoxLinearView(own, sealed(model.scores(own, x)), 4, model)
    one, other = (a.infer(view, rng).values for a in (HalfStar(), HalfStarLayers()))
    assert np.abs(one - other).max() < 1e-10
    assert not worth_trying(card("attack", "half-star-layers"), WhiteBoxLinearView)
    ends = [Linear(sealed(rng.normal(size=(n, 3))), sealed(rng.normal(size=3))) for n in (3, 2)]
    top = Linear(sealed(rng.normal(size=(3, 5))), sealed(rng.normal(size=5)))
    joint = JointNetwork(*ends, top, "tanh")
    few = x[:, :2]
    seen = WhiteBoxPredictionView(own, sealed(joint.scores(own, few)), 2, joint)
    assert np.abs(HalfStarLayers().infer(seen, rng).values - few).max() < 1e-5
