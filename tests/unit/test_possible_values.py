"""Guesses on the grid: the nearest possible value, and the mean of those that an interval leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatleaks.arrays import Floats, sealed, sealed_ints
from whatleaks.attacks.generative_regression import GenerativeRegression
from whatleaks.attacks.half_star import HalfStar
from whatleaks.attacks.known_regression import KnownRegression
from whatleaks.attacks.path_restriction import PathRestrictionValues
from whatleaks.attacks.possible_values import middle, snapped_where_nearer
from whatleaks.attacks.shadow_regression import ShadowRegression
from whatleaks.models.additive import Additive
from whatleaks.models.grids import BOOLEAN, Grids, free, listed, whole_numbers
from whatleaks.models.linear import Linear
from whatleaks.models.tree import Tree
from whatleaks.threat.grants import KnownPeople, Schema
from whatleaks.threat.views.known import KnownView
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
    view, secret = _scored(rng, 50)
    values = HalfStar(snap=True).infer(view, rng).values
    assert set(np.unique(values[:, 0])) <= {0.0, 1.0}
    assert np.allclose(values[:, 1] * 4, np.rint(values[:, 1] * 4))
    plain = HalfStar().infer(view, rng).values
    assert np.array_equal(values[:, 2], np.clip(plain[:, 2], 0.0, 1.0))
    exact = (np.abs(values - secret)[:, :2] < 1e-12).mean()
    assert exact > (np.abs(plain - secret)[:, :2] < 1e-12).mean()


def _scored(rng: np.random.Generator, records: int) -> tuple[WhiteBoxLinearView, Floats]:
    """Return a view of a linear model on a yes/no column, quarters and a free column."""
    grids = Grids((BOOLEAN, whole_numbers(0, 4, 0, 4), free()))
    model = Additive(
        Linear(sealed(rng.normal(size=(2, 3))), sealed(np.zeros(3))),
        Linear(sealed(rng.normal(size=(3, 3))), sealed(np.zeros(3))),
    )
    own = sealed(rng.random((records, 2)))
    secret = np.column_stack(
        [rng.integers(0, 2, records), rng.integers(0, 5, records) / 4, rng.random(records)]
    )
    scores = sealed(model.scores(own, secret))
    return WhiteBoxLinearView(own, scores, 3, model, schema=Schema(grids)), secret


def test_generative_regression_moves_its_answers_to_possible_values() -> None:
    view, _ = _scored(np.random.default_rng(2), 20)
    quick = GenerativeRegression(hidden=(8,), epochs=1, least_steps=5)
    plain = quick.infer(view, np.random.default_rng(3)).values
    moved = replace(quick, snap=True).infer(view, np.random.default_rng(3)).values
    assert set(np.unique(moved[:, 0])) <= {0.0, 1.0}
    assert np.array_equal(moved[:, 1] * 4, np.rint(plain[:, 1] * 4))
    assert np.array_equal(moved[:, 2], plain[:, 2])


def test_the_same_search_is_made_once_and_another_one_is_not_taken_for_it() -> None:
    view, _ = _scored(np.random.default_rng(2), 20)
    quick = GenerativeRegression(hidden=(8,), epochs=1, least_steps=5)
    assert replace(quick, snap=True).stream == quick.name
    first = quick.infer(view, np.random.default_rng(4)).values
    for other, seed in ((quick, 5), (replace(quick, learning_rate=0.1), 4)):
        assert not np.array_equal(other.infer(view, np.random.default_rng(seed)).values, first)
    swapped = view.exchanged(np.arange(20)[::-1])
    assert not np.array_equal(quick.infer(swapped, np.random.default_rng(4)).values, first)
    assert np.array_equal(quick.infer(view, np.random.default_rng(4)).values, first)


def test_known_people_decide_column_by_column_whether_a_guess_is_moved() -> None:
    # The first column is met to a tenth of a step, the second misses by more than half of one;
    # the group's three columns are judged together.
    grids = Grids((BOOLEAN, BOOLEAN, BOOLEAN, BOOLEAN, BOOLEAN), one_hot=((2, 3, 4),))
    truth = np.array([[0.0, 1, 1, 0, 0], [1, 0, 0, 1, 0], [1, 1, 0, 0, 1]])
    left_out = truth + np.array([0.1, 0.0, 0.0, 0.0, 0.0]) * np.array([[1.0], [-1.0], [1.0]])
    left_out[:, 1] = [0.4, 0.6, 0.4]
    left_out[:, 2:] = [[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]]
    view = replace(_scored(np.random.default_rng(2), 3)[0], schema=Schema(grids))
    values = np.array([[0.2, 0.2, 0.5, 0.4, 0.1]])
    moved = snapped_where_nearer(values, left_out, truth, view)
    assert moved.tolist() == [[0.0, 0.2, 1.0, 0.0, 0.0]]
    blind = replace(view, schema=None)
    assert snapped_where_nearer(values, left_out, truth, blind) is values


def test_a_regression_that_knows_whole_numbers_nearly_answers_them_exactly() -> None:
    rng = np.random.default_rng(6)
    own = rng.integers(0, 5, (60, 1)) / 4
    secret = own.copy()
    seen = own + rng.uniform(-0.05, 0.05, own.shape)
    scores = sealed(np.full((60, 2), 0.5))
    labels = sealed_ints(np.zeros(30, dtype=np.int64))
    known = KnownPeople(sealed(seen[:30]), sealed(secret[:30]), labels, sealed(scores[:30]))
    schema = Schema(Grids((whole_numbers(0, 4, 0, 4),)))
    view = KnownView(
        own=sealed(seen[30:]), scores=sealed(scores[30:]), unknown=1, auxiliary=known, schema=schema
    )
    plain = KnownRegression().infer(view, rng).values
    assert np.abs(plain - secret[30:]).max() > 0.01
    weighed = ShadowRegression().infer(view, rng).values
    assert np.abs(weighed - secret[30:]).max() < 1e-12
