"""Guesses on the grid: the nearest possible value, and the mean of those that an interval leaves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.half_star import HalfStar
from whatleaks.attacks.path_restriction import PathRestrictionValues
from whatleaks.attacks.possible_values import middle
from whatleaks.models.additive import Additive
from whatleaks.models.grids import BOOLEAN, Grids, free, listed, whole_numbers
from whatleaks.models.linear import Linear
from whatleaks.models.tree import Tree
from whatleaks.threat.grants import Schema
from whatleaks.threat.views.prediction import WhiteBoxLinearView
from whatleaks.threat.views.tree import WhiteBoxTreeView


@given(
    levels=st.integers(2, 30),
    low=st.floats(0.0, 1.0),
    high=st.floats(0.0, 1.0),
)
def test_the_middle_is_the_mean_of_all_values_that_fit(
    levels: int, low: float, high: float
) -> None:
    low, high = min(low, high), max(low, high)
    grid = whole_numbers(0, levels - 1, 0, levels - 1)
    points = np.arange(levels) / (levels - 1)
    slack = 1e-9 / (levels - 1)
    inside = points[
        ((points > low + slack) | ((points == 0.0) & (low <= 0.0))) & (points <= high + slack)
    ]
    near = np.abs(points[:, None] - [[low, high]]).min() < 3 * slack  # a border on a value: either
    if not near:
        expected = inside.mean() if len(inside) else 0.5 * (low + high)
        assert middle(grid, np.array([low]), np.array([high]))[0] == pytest.approx(
            expected, abs=1e-9
        )


def test_free_columns_keep_their_middle_and_listed_ones_their_list() -> None:
    low, high = np.array([0.2]), np.array([0.6])
    assert middle(free(), low, high)[0] == pytest.approx(0.4)
    few = listed((0.0, 0.3, 0.5, 1.0), 0.0, 1.0)
    assert middle(few, low, high)[0] == pytest.approx(0.4)  # of 0.3 and 0.5
    assert middle(few, np.array([0.0]), np.array([0.3]))[0] == pytest.approx(0.15)


def test_a_yes_no_column_on_a_known_branch_is_known() -> None:
    tree = Tree(
        sealed_ints([1, -1, -1]),
        sealed([0.5, 0, 0]),
        sealed_ints([1, -1, -1]),
        sealed_ints([2, -1, -1]),
        sealed([[1, 1], [1, 0], [0, 1]]),
        1,
    )
    secret = np.array([[0.0], [1.0], [1.0]])
    released = sealed(np.eye(2)[secret[:, 0].astype(int)])
    view = WhiteBoxTreeView(
        sealed(np.zeros((3, 1))), released, 1, tree, schema=Schema(Grids((BOOLEAN,)))
    )
    rng = np.random.default_rng(0)
    assert np.array_equal(PathRestrictionValues().infer(view, rng).values, secret)
    blind = WhiteBoxTreeView(sealed(np.zeros((3, 1))), released, 1, tree)
    assert PathRestrictionValues().infer(blind, rng).values.ravel().tolist() == [0.25, 0.75, 0.75]


def test_half_star_snapped_answers_with_possible_values_only() -> None:
    rng = np.random.default_rng(1)
    grids = Grids((BOOLEAN, whole_numbers(0, 4, 0, 4), free()))
    model = Additive(
        Linear(sealed(rng.normal(size=(2, 3))), sealed(np.zeros(3))),
        Linear(sealed(rng.normal(size=(3, 3))), sealed(np.zeros(3))),
    )
    own = sealed(rng.random((50, 2)))
    secret = np.column_stack([rng.integers(0, 2, 50), rng.integers(0, 5, 50) / 4, rng.random(50)])
    scores = sealed(model.scores(own, secret))
    view = WhiteBoxLinearView(own, scores, 3, model, schema=Schema(grids))
    values = HalfStar(snap=True).infer(view, rng).values
    assert set(np.unique(values[:, 0])) <= {0.0, 1.0}
    assert np.allclose(values[:, 1] * 4, np.rint(values[:, 1] * 4))
    plain = HalfStar().infer(view, rng).values
    assert np.array_equal(values[:, 2], np.clip(plain[:, 2], 0.0, 1.0))
    exact = (np.abs(values - secret)[:, :2] < 1e-12).mean()
    assert exact > (np.abs(plain - secret)[:, :2] < 1e-12).mean()
