"""Score residual: the partner's part of the scores without a model, up to its sign."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import whatleaks
from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.score_residual import ScoreResidual
from whatleaks.models.additive import Additive
from whatleaks.models.linear import Linear
from whatleaks.threat.grants import Ranges
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import PredictionView


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def apart(records: int, own: int, unknown: int) -> tuple[Floats, Floats]:
    """Return own and unknown columns that do not go together at all in these records."""
    both = rng(1).random((records, own + unknown))
    q = np.linalg.qr(both - both.mean(axis=0))[0]
    return 0.5 + q[:, :own], 0.5 + q[:, own:]


def guess(own: Floats, theirs: Floats, mine: Floats, weights: Floats, **more: Ranges) -> ValueGuess:
    model = Additive(Linear(sealed(mine), sealed(np.full(mine.shape[1], 0.2))),
                     Linear(sealed(weights), sealed(np.zeros(mine.shape[1]))))  # fmt: skip
    view = PredictionView(sealed(own), sealed(model.scores(own, theirs)), theirs.shape[1], **more)
    return ScoreResidual().infer(view, rng())


@pytest.mark.parametrize("records", [12, 200])
def test_the_residual_is_the_partners_part(records: int) -> None:
    own, theirs = apart(records, 3, 2)
    weights = np.array([[3.0], [-1.0]])
    found = guess(own, theirs, np.array([[1.0], [-2.0], [0.5]]), weights)
    part = (theirs @ weights)[:, 0]
    followed = np.corrcoef(found.values[:, 0], part)[0, 1]
    assert followed == pytest.approx(1.0, abs=1e-12)
    assert np.array_equal(found.values[:, 0], found.values[:, 1])


def test_the_sign_is_a_convention_and_the_mirror_image_is_named() -> None:
    own, theirs = apart(200, 3, 1)
    mine = np.array([[1.0], [-2.0], [0.5]])
    up, down = (guess(own, theirs, mine, np.array([[w]])) for w in (2.0, -2.0))
    assert np.corrcoef(up.values[:, 0], theirs[:, 0])[0, 1] == pytest.approx(1.0)
    assert np.corrcoef(down.values[:, 0], theirs[:, 0])[0, 1] == pytest.approx(-1.0)
    assert np.abs(down.alternatives[0] - up.values).max() < 1e-9
    assert up.values.min() == 0.0
    assert up.values.max() == 1.0


def test_answers_lie_in_the_public_range() -> None:
    own, theirs = apart(100, 2, 2)
    ranges = Ranges(sealed([0.2, -1.0]), sealed([0.4, 3.0]))
    found = guess(own, theirs, np.ones((2, 1)), np.ones((2, 1)), ranges=ranges)
    for table in (found.values, *found.alternatives):
        assert np.allclose(table.min(axis=0), [0.2, -1.0])
        assert np.allclose(table.max(axis=0), [0.4, 3.0])


def test_of_several_classes_the_main_direction_counts() -> None:
    own, theirs = apart(300, 3, 1)
    weights = np.array([[-1.0, 0.5, 2.0]])  # ratios of 1.5 and 1.5 along one direction
    found = guess(own, theirs, rng(3).normal(size=(3, 3)), weights)
    assert np.corrcoef(found.values[:, 0], theirs[:, 0])[0, 1] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("records", [300, 2])
def test_a_partner_without_influence_leaves_one_half(records: int) -> None:
    own, theirs = rng(1).random((records, 3)), rng(2).random((records, 2))
    mine = np.array([[1.0], [-2.0], [0.5]]) if records > 2 else np.zeros((3, 1))
    found = guess(own, theirs, mine, np.zeros((2, 1)))
    assert (found.values == 0.5).all()


def test_wide_own_columns_take_a_ridge_and_stay_finite() -> None:
    own, theirs = rng(1).random((40, 60)), rng(2).random((40, 1))
    found = guess(own, theirs, rng(3).normal(size=(60, 1)), np.array([[3.0]]))
    assert np.isfinite(found.values).all()


def test_saturated_scores_have_an_order_too() -> None:
    own, theirs = apart(200, 2, 1)
    found = guess(own, theirs - 0.5, np.zeros((2, 1)), np.array([[9000.0]]))
    assert np.corrcoef(found.values[:, 0], theirs[:, 0])[0, 1] > 0.5


def test_falling_answers_are_the_mirror_image_and_name_no_other() -> None:
    own, theirs = apart(200, 3, 1)
    view = PredictionView(own=sealed(own), scores=sealed(_scores(own, theirs)), unknown=1)
    rising, falling = (ScoreResidual(falling=turn).infer(view, rng()) for turn in (False, True))
    assert np.array_equal(falling.values, rising.alternatives[0])
    assert falling.alternatives == ()


def _scores(own: Floats, theirs: Floats) -> Floats:
    one = 1.0 / (1.0 + np.exp(own.sum(axis=1) - 2.0 * theirs[:, 0]))
    return np.column_stack([1.0 - one, one])


@pytest.mark.parametrize("weight", [4.0, -4.0])
def test_which_class_is_written_first_does_not_decide_the_word(weight: float) -> None:
    draw = rng(7)
    x = draw.normal(size=(240, 3))
    drive = x[:, 0] + weight * x[:, 2] + 0.3 * draw.logistic(size=240)
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "p": x[:, 2], "y": (drive > 0).astype(int)})
    report = whatleaks.audit(
        frame, "y", ["p"], threats="black-box", seeds=1, quick=True, defenses=False
    )
    threat, head = report.result.threats[0], report.result.headline
    made = {found.name: found.leakage.value for found in threat.of("attack")}
    read, other = ("score-residual", "score-residual-falling")[:: 1 if weight > 0 else -1]
    assert made[read] > 0.8
    assert made[other] == 0.0
    assert (head.level, head.attack) == ("high", read.replace("residual", "rest"))
    notes = [note for note in threat.notes if "one bit more" in note]
    told = [note.split("whole table: ")[1] for note in notes]
    assert len(told) == 2  # of this order and of that of score-rest
    assert all(int(one.split("%")[0]) > 80 for one in told)
