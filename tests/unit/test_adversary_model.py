"""The refined adversary model (Eq 9), and estimates that are trusted as far as they are plausible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from whatleaks.arrays import sealed
from whatleaks.attacks.agnostic import plausible
from whatleaks.attacks.equations import Equations
from whatleaks.models import adversary_model
from whatleaks.models.additive import link
from whatleaks.models.adversary_model import Seen, refined
from whatleaks.models.box_solutions import half_star
from whatleaks.models.linear import Linear
from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import attack, stage_of, train


@pytest.mark.parametrize("outputs", [1, 3])
def test_scores_that_the_own_columns_explain_are_learnt_exactly(outputs: int) -> None:
    """Without training records and penalty Eq 9 is least squares on logs: its zero is the truth."""
    rng = np.random.default_rng(0)
    true = Linear(sealed(rng.normal(size=(3, outputs))), sealed(rng.normal(size=outputs)))
    own = rng.random((40, 3))
    scores = link(true.logits(own))
    nothing = Linear(sealed(np.zeros((3, outputs))), sealed(np.zeros(outputs)))
    found = refined(nothing, own[:0], np.zeros(0, np.int64), Seen(own, scores=scores), penalty=0.0)
    assert np.abs(link(found.logits(own)) - scores).max() < 1e-3


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_gradient_is_that_of_eq_9(outputs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    own, labels = rng.random((20, 2)), rng.integers(max(2, outputs), size=20)
    scores = rng.dirichlet(np.ones(max(2, outputs)), size=10)
    seen = Seen(rng.random((10, 2)), scores=scores, classes=rng.integers(max(2, outputs), size=10))
    caught = []
    original = adversary_model.minimize

    def catch(fun, x0, **more):  # type: ignore[no-untyped-def]
        caught.append(fun)
        return original(fun, x0, **more)

    monkeypatch.setattr(adversary_model, "minimize", catch)
    start = Linear(sealed(rng.normal(size=(2, outputs))), sealed(rng.normal(size=outputs)))
    refined(start, own, labels, seen, alpha=0.7, beta=0.3)
    point = rng.normal(size=3 * outputs)
    slow = approx_fprime(point, lambda v: caught[0](v)[0], 1e-7)
    assert np.abs(caught[0](point)[1] - slow).max() < 1e-5


def test_without_anything_seen_the_objective_is_eq_8() -> None:
    rng = np.random.default_rng(2)
    own, labels = rng.random((60, 2)), rng.integers(3, size=60)
    start = Linear(sealed(np.zeros((2, 3))), sealed(np.zeros(3)))
    none = Seen(own[:0])
    one = refined(start, own, labels, none, alpha=1.0, beta=1.0)
    other = refined(start, own, labels, none, alpha=0.0, beta=0.0)
    assert np.array_equal(one.weights, other.weights)


def test_estimates_are_trusted_while_plausible_and_dropped_when_wild() -> None:
    rng = np.random.default_rng(3)
    matrix, x = rng.normal(size=(2, 6)), rng.random((500, 6))
    fine = Equations(matrix, x @ matrix.T)
    assert np.abs(plausible(fine).right - fine.right).max() < 0.15 * np.abs(fine.right).max()
    wild = Equations(matrix, fine.right + 50.0 * rng.normal(size=fine.right.shape))
    calm = half_star(matrix, plausible(wild).right)
    half = ((x - 0.5) ** 2).mean()
    assert ((calm - x) ** 2).mean() < 1.05 * half
    assert ((np.clip(half_star(matrix, wild.right), 0, 1) - x) ** 2).mean() > 2.0 * half


def test_earlier_scores_are_those_of_other_people() -> None:
    wanted = Scenario(
        "wine", share=0.4, threat="agnostic-earlier", earlier=30, targets=30,
        attacks=("agnostic", "agnostic-refined"), model_options=Settings({"steps": 200}),
    )  # fmt: skip
    parts = plan(wanted)
    training = train(wanted, parts, None)
    assert not isinstance(training, str)
    stage = stage_of(wanted, parts, training)
    assert len(stage.rows.earlier) == 30
    assert not np.isin(stage.rows.earlier, stage.rows.targets).any()
    view = stage.view(stage.rows.targets)
    assert view.earlier.scores.shape == (30, 3)
    assert not hasattr(view, "scores")
    found = attack(wanted, parts, training).outcome.measurements
    assert {"agnostic", "agnostic-refined"} <= set(found)
    # A gate lets some out: only their scores are there.
    gated = replace(wanted, defense="gate-0.01")
    door = stage_of(gated, plan(gated), training)
    some = door.view(door.rows.targets).earlier
    assert len(some.own) == len(some.scores) <= 30
