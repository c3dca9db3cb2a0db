"""Score rest: what is left of the scores once the own part of the model is taken off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression

import whatleaks
from staging import chosen, held, on_stage, scaled
from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.score_residual import ScoreResidual
from whatleaks.attacks.score_rest import ScoreRest, counted_off
from whatleaks.catalog import card
from whatleaks.federation.additive.run import AdditiveFederation
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.models.additive import Additive
from whatleaks.models.grids import BOOLEAN, Grid, Grids, free, whole_numbers
from whatleaks.models.linear import Linear
from whatleaks.threat.grants import Schema
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import PredictionView


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def view_of(own: Floats, theirs: Floats, weights: list[list[float]], grid: Grid) -> PredictionView:
    """Return scores of a linear model in which own columns count too."""
    outputs = len(weights[0])
    mine = Linear(
        sealed(rng(5).normal(size=(own.shape[1], outputs))), sealed(np.full(outputs, 0.3))
    )
    model = Additive(mine, Linear(sealed(weights), sealed(np.zeros(outputs))))
    schema = Schema(Grids((grid,) * theirs.shape[1]))
    scores = sealed(model.scores(own, theirs))
    return PredictionView(
        sealed(own), scores, theirs.shape[1], schema=schema, own_part=model.active
    )


def guess(view: PredictionView, falling: bool = False) -> ValueGuess:
    return ScoreRest(falling).infer(view, rng())


def alike(records: int) -> tuple[Floats, Floats]:
    """Return an own column that goes closely with the partner's, and the partner's."""
    common = rng(1).random(records)
    return common[:, None], (0.9 * common + 0.1 * rng(2).random(records))[:, None]


@pytest.mark.parametrize("weights", [[[2.0]], [[0.4, -1.0, 2.0]]])
def test_what_goes_with_own_columns_is_read_too(weights: list[list[float]]) -> None:
    own, theirs = alike(200)
    view = view_of(own, theirs, weights, free())
    found, residual = guess(view).values, ScoreResidual().infer(view, rng()).values
    assert np.corrcoef(found[:, 0], theirs[:, 0])[0, 1] == pytest.approx(1.0, abs=1e-12)
    assert np.corrcoef(residual[:, 0], theirs[:, 0])[0, 1] ** 2 < 0.1


@pytest.mark.parametrize("weight", [0.7, -0.7])
def test_a_column_of_whole_numbers_is_counted_off(weight: float) -> None:
    own, common = alike(150)
    theirs = (
        np.rint(40.0 * common) / 40.0 + 0.05
    )  # the range's least value is seen, the most is not
    grid = whole_numbers(2, 60, 0, 40)
    assert grid.bounds[0] == theirs.min() < theirs.max() < grid.bounds[1]
    theirs[:10] = theirs.min()
    view = view_of(own, theirs, [[weight]], grid)
    assert np.abs(guess(view, weight < 0.0).values - theirs).max() < 1e-12
    assert np.array_equal(guess(view, True).values, guess(view).alternatives[0])


def test_amounts_of_which_there_are_a_million_are_counted_off_too() -> None:
    own, common = alike(150)
    theirs = np.rint(1e6 * common) / 1e6
    theirs[:10] = 0.0
    found = guess(view_of(own, theirs, [[2.0]], whole_numbers(0, 10**6, 0, 10**6)))
    assert np.abs(found.values - theirs).max() < 1e-9


def test_amounts_in_fifties_fill_their_range() -> None:
    own, common = alike(150)
    theirs = np.rint(40.0 * common) / 40.0
    theirs[0], theirs[1] = 0.0, 1.0
    found = guess(view_of(own, theirs, [[2.0]], whole_numbers(0, 2000, 0, 2000)))
    assert np.abs(found.values - theirs).max() < 1e-9


def test_yes_and_no_are_told_apart_where_own_columns_nearly_tell_them() -> None:
    own, common = alike(150)
    theirs = (common > 0.5).astype(float)
    assert np.array_equal(guess(view_of(own, theirs, [[0.01]], BOOLEAN)).values, theirs)


def test_places_on_no_steps_are_left_as_they_are() -> None:
    grid = Grid(0.0, 0.01, 101)
    assert counted_off(rng().random(50), grid) is None
    assert counted_off(np.full(50, 0.5), grid) is None
    assert counted_off(np.array([0.0, 0.25, 1.0]), free()) is None


def test_several_columns_share_one_order() -> None:
    own, theirs = alike(150)
    both = np.concatenate([theirs, 1.0 - own], axis=1)
    found = guess(view_of(own, both, [[2.0], [1.0]], free())).values
    assert np.corrcoef(found[:, 0], 2.0 * both[:, 0] + both[:, 1])[0, 1] == pytest.approx(1.0)


def test_without_a_partner_or_without_parts_nothing_is_said() -> None:
    own, theirs = alike(60)
    assert (guess(view_of(own, theirs, [[0.0]], free())).values == 0.5).all()
    scores = view_of(own, theirs, [[2.0]], free()).scores
    assert (guess(PredictionView(sealed(own), scores, 1)).values == 0.5).all()


@pytest.mark.parametrize("given", [False, True])
def test_visits_that_go_with_own_columns_are_named_from_scores_alone(given: bool) -> None:
    """Before, a black box was said to follow what own columns leave open, and to name nobody."""
    draw = rng(1)
    common = draw.normal(size=300)
    frame = pd.DataFrame(
        {
            "tenure": 0.93 * common + 0.37 * draw.normal(size=300),
            "other": draw.normal(size=300),
            "visits": np.maximum(np.rint(12.0 + 10.0 * common), 0.0).astype(int),
        }
    )
    drive = 0.1 * (frame.visits - 12) + 0.8 * frame.other - 0.6 * frame.tenure
    label = (drive + draw.logistic(size=300) > 0).astype(int)
    model = LogisticRegression().fit(frame, label) if given else None
    frame["y"] = label
    choices = {"threats": "black-box", "seeds": 1, "quick": True, "defenses": False}
    report = whatleaks.audit(
        frame, "y", ["visits"], **choices, **({"model": model} if given else {})
    )
    head = report.result.headline
    assert (head.level, head.attack) == ("complete", "score-rest")
    assert head.adds.value > 0.7


def test_a_coalition_takes_off_what_all_its_members_hold() -> None:
    x, y = scaled(load_wine)
    order = rng(3).permutation(len(y))
    holdings = held(x[order], y[order], [slice(9, 12), slice(12, 13)], slice(0, 9))
    rows = chosen(range(100), range(100, 178))
    threat = card("threat", "black-box").part
    alone = on_stage(AdditiveFederation(), AdditiveSettings(steps=50), holdings, rows, threat)
    both = replace(alone, coalition=("active", "passive"))
    told = {len(s.coalition): guess(s.view(rows.targets)).values[:, -1] for s in (alone, both)}
    wanted = holdings.columns["passive-2"][rows.targets, 0]
    followed = {size: abs(np.corrcoef(found, wanted)[0, 1]) for size, found in told.items()}
    assert followed[2] == pytest.approx(1.0, abs=1e-9)
    assert followed[1] < 0.99
