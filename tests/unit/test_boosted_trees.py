"""Boosted trees in the clear: gains by hand, a slow exhaustive reference, and the limits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.arrays import Floats, Ints
from whatleaks.codec import decode, encode
from whatleaks.errors import SpecError, TableError
from whatleaks.models.boosted_trees import (
    FRACTION,
    SMALLEST_GAIN,
    BoostSettings,
    Growth,
    derivatives,
    drawn,
    gains,
    leaf_weights,
    train_joined,
)
from whatleaks.models.candidate_splits import candidates, fit_bins
from whatleaks.seeds import Streams

ONE = 1 << FRACTION
PLAIN = BoostSettings()
STREAMS = Streams(3)


def ints(*values: float) -> Ints:
    return np.array([round(v * ONE) for v in values], dtype=np.int64)


def test_the_gain_by_hand() -> None:
    # G_L = -3, H_L = 2; G = 1, H = 5, so G_R = 4, H_R = 3; lambda = 1: 9/3 + 16/4 - 1/6.
    gain = gains(ints(-3)[None], ints(2)[None], ints(1), ints(5), PLAIN)
    assert gain[0, 0] == pytest.approx(3 + 4 - 1 / 6, abs=1e-14)
    no_lambda = replace(PLAIN, reg_lambda=0.0)
    gain = gains(ints(-3)[None], ints(2)[None], ints(1), ints(5), no_lambda)
    assert gain[0, 0] == pytest.approx(9 / 2 + 16 / 3 - 1 / 5, abs=1e-14)
    assert leaf_weights(ints(1), ints(5), PLAIN)[0] == pytest.approx(-0.3 / 6, abs=1e-16)


def test_what_is_refused() -> None:
    def gain(left_g: float, left_h: float, **changes: Any) -> float:
        changed = replace(PLAIN, **changes)
        return float(gains(ints(left_g)[None], ints(left_h)[None], ints(1), ints(5), changed)[0, 0])

    exact = 3 + 4 - 1 / 6
    assert gain(-3, 2, gamma=exact - 1e-9) > 0
    assert gain(-3, 2, gamma=exact + 1e-9) == -np.inf
    assert gain(-3, 2, min_child_weight=2.0) > 0  # the lighter side weighs exactly 2
    assert gain(-3, 2, min_child_weight=2.0001) == -np.inf
    assert gain(0, 0, min_child_weight=0.0, reg_lambda=0.0) == -np.inf  # an empty side
    assert gain(1, 5, min_child_weight=0.0, reg_lambda=0.0) == -np.inf
    assert gain(0.4, 2, reg_lambda=0.0) == -np.inf  # in proportion: nothing gained
    assert SMALLEST_GAIN == 1e-6


def test_derivatives_of_the_log_loss() -> None:
    g, h = derivatives(np.array([[0.0], [0.0], [np.log(3.0)]]), np.array([0, 1, 1]))
    np.testing.assert_allclose(g[:, 0] / ONE, [0.5, -0.5, -0.25], atol=2.0**-33)
    np.testing.assert_allclose(h[:, 0] / ONE, [0.25, 0.25, 3 / 16], atol=2.0**-33)
    g, h = derivatives(np.zeros((2, 3)), np.array([0, 2]))
    np.testing.assert_allclose(g / ONE, np.full((2, 3), 1 / 3) - np.eye(3)[[0, 2]], atol=2.0**-33)
    np.testing.assert_allclose(h / ONE, 4 / 9, atol=2.0**-33)  # 2 p (1 - p)
    g, h = derivatives(np.array([[800.0]]), np.array([1]))
    assert (g[0, 0], h[0, 0]) == (0, 1)  # a record never weighs nothing


def test_bins_keep_order_and_mark_what_is_missing() -> None:
    x = np.array([[1.0, 5.0], [3.0, np.nan], [2.0, 5.0], [3.0, np.nan]])
    bins = fit_bins(x, 8)
    np.testing.assert_array_equal(bins.cuts[0], [1.5, 2.5])
    assert bins.cuts[1].size == 0
    np.testing.assert_array_equal(bins.codes(x), [[0, 0], [2, 1], [1, 0], [2, 1]])
    listed = candidates(bins, np.array([0, 1]))
    # Column 0 has two cuts; column 1 can part the present from the missing.
    found = list(zip(listed.column, listed.bin, listed.missing_left, strict=True))
    assert found == [(0, 0, False), (0, 1, False), (1, 0, False)]
    assert bins.thresholds(listed.column, listed.bin).tolist() == [1.5, 2.5, np.inf]


def test_neighbouring_doubles_are_told_apart() -> None:
    low = 1.0
    high = np.nextafter(low, 2.0)
    bins = fit_bins(np.array([[low], [high]]), 4)
    np.testing.assert_array_equal(bins.codes(np.array([[low], [high]])), [[0], [1]])


@given(
    st.lists(st.one_of(st.integers(-50, 50), st.just(None)), min_size=1, max_size=300),
    st.integers(2, 127),
)
@settings(max_examples=60, deadline=None)
def test_a_code_says_on_which_side_of_every_cut_a_value_lies(
    values: list[int | None], most: int
) -> None:
    x = np.array([[np.nan if v is None else float(v)] for v in values])
    bins = fit_bins(x, most)
    codes = bins.codes(x)[:, 0]
    cuts = bins.cuts[0]
    assert len(cuts) < most
    present = ~np.isnan(x[:, 0])
    assert (codes[~present] == len(cuts) + 1).all()
    for b, cut in enumerate(cuts):
        np.testing.assert_array_equal(codes[present] <= b, x[present, 0] < cut)
    used = np.unique(codes[present])
    assert not present.any() or used.tolist() == list(range(len(cuts) + 1))  # no empty bin


def exhaustive(x: Floats, g: Ints, h: Ints, cuts: Any, boost: BoostSettings) -> Any:
    """Grow a tree by trying every cut with exact fractions: nested tuples, or a leaf's weight."""

    def score(rows: list[int]) -> Fraction:
        total = sum(int(g[i]) for i in rows)
        below = Fraction(sum(int(h[i]) for i in rows), ONE) + Fraction(boost.reg_lambda)
        return Fraction(total, ONE) ** 2 / below

    def grow(rows: list[int], depth: int) -> Any:
        best: Any = None
        for column in range(x.shape[1]) if depth else ():
            gaps = np.isnan(x[:, column]).any()
            for missing_left in (False, True) if gaps else (False,):
                tried = list(enumerate([*cuts[column], np.inf]))
                for b, cut in reversed(tried) if missing_left else tried:
                    left = [
                        i
                        for i in rows
                        if (missing_left if np.isnan(x[i, column]) else x[i, column] < cut)
                    ]
                    right = [i for i in rows if i not in left]
                    weights = [sum(int(h[i]) for i in side) / ONE for side in (left, right)]
                    if not left or not right or min(weights) < boost.min_child_weight:
                        continue
                    gain = score(left) + score(right) - score(rows)
                    if gain > max(boost.gamma, SMALLEST_GAIN) and (best is None or gain > best[0]):
                        best = (gain, column, b, missing_left, left, right)
        if best is None:
            total, weight = sum(int(g[i]) for i in rows), sum(int(h[i]) for i in rows)
            return -boost.learning_rate * (total / ONE) / (weight / ONE + boost.reg_lambda)
        _, column, b, missing_left, left, right = best
        return (column, b, missing_left, grow(left, depth - 1), grow(right, depth - 1))

    return grow(list(range(len(x))), boost.max_depth)


def nested(tree: Any, node: int = 0) -> Any:
    if tree.child[node] < 0:
        return float(tree.weight[node])
    left = int(tree.child[node])
    split = (int(tree.column[node]), int(tree.bin[node]), bool(tree.missing_left[node]))
    return (*split, nested(tree, left), nested(tree, left + 1))


@pytest.mark.parametrize("seed", range(6))
def test_a_tree_equals_the_exhaustive_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 6, size=(40, 3)).astype(np.float64)
    if seed % 2:
        x[rng.random(x.shape) < 0.2] = np.nan
    labels = (rng.random(40) < 0.3 + 0.4 * (np.nan_to_num(x[:, 0]) > 2)).astype(np.int64)
    boost = BoostSettings(rounds=1, min_child_weight=0.5, gamma=0.05 * seed)
    model = train_joined([x[:, :1], x[:, 1:]], labels, boost, STREAMS)
    g, h = derivatives(np.zeros((40, 1)), labels)
    slow = exhaustive(x, g[:, 0], h[:, 0], fit_bins(x, 32).cuts, boost)
    assert nested(model.trees[0]) == slow
    assert isinstance(slow, tuple)  # it did split


def test_a_model_routes_its_training_records_as_it_learned_them() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 4))
    x[rng.random(x.shape) < 0.1] = np.nan
    labels = rng.integers(0, 3, 200)
    model = train_joined([x], labels, BoostSettings(rounds=2, max_bin=8), STREAMS)
    assert len(model.trees) == 6
    for tree in model.trees:
        codes = fit_bins(x, 8).codes(x)
        node = np.zeros(200, dtype=np.int64)
        for _ in range(3):
            column = tree.column[node]
            code = codes[np.arange(200), column]
            missing = np.isnan(x[np.arange(200), column])
            left = np.where(missing, tree.missing_left[node], code <= tree.bin[node])
            node = np.where(tree.child[node] >= 0, tree.child[node] + ~left, node)
        np.testing.assert_array_equal(node, tree.leaves(x))
    assert encode(decode(encode(model))) == encode(model)


def test_more_rounds_fit_better_and_noise_columns_are_not_needed() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 3))
    labels = (x[:, 0] + x[:, 1] > 0).astype(np.int64)

    def loss(rounds: int) -> float:
        model = train_joined([x], labels, BoostSettings(rounds=rounds), STREAMS)
        return float(-np.log(model.scores(x)[np.arange(300), labels]).mean())

    losses = [loss(rounds) for rounds in (1, 3, 9)]
    assert losses[0] < np.log(2.0)
    assert losses == sorted(losses, reverse=True)


def test_constant_columns_give_one_leaf() -> None:
    labels = np.array([0, 1, 1, 1])
    model = train_joined([np.ones((4, 2))], labels, BoostSettings(rounds=1), STREAMS)
    # G = 0.5 * 4 - 3 = -1 and H = 1: the leaf weighs 0.3 * 1 / 2.
    assert nested(model.trees[0]) == pytest.approx(0.15, abs=1e-15)


def test_missing_values_learn_their_side() -> None:
    x = np.array([[0.0], [0.0], [1.0], [1.0], [np.nan], [np.nan]] * 4)
    for like_zero in (True, False):
        labels = np.array([0, 0, 1, 1, *((0, 0) if like_zero else (1, 1))] * 4)
        model = train_joined([x], labels, BoostSettings(rounds=1, max_depth=1), STREAMS)
        assert nested(model.trees[0])[:3] == (0, 0, like_zero)


@given(st.integers(1, 60), st.floats(0.01, 1.0), st.integers(0, 5))
def test_a_draw_is_a_sorted_share(count: int, share: float, seed: int) -> None:
    rows = drawn(count, share, np.random.default_rng(seed))
    assert len(rows) == max(1, round(share * count))
    assert (np.diff(rows) > 0).all()
    assert rows[0] >= 0 and rows[-1] < count  # noqa: PT018


def test_growth_numbers_children_level_by_level() -> None:
    growth = Growth(4)
    growth.descend(np.array([True]), np.array([True, True, False, False]))
    np.testing.assert_array_equal(growth.waiting(), [0, 0, 1, 1])
    growth.descend(np.array([False, True]), np.array([True, True, True, False]))
    np.testing.assert_array_equal(growth.waiting(), [-1, -1, 0, 1])
    np.testing.assert_array_equal(growth.children, [1, -1, 3, -1, -1])
    np.testing.assert_array_equal(growth.node, [1, 1, 3, 4])


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"rounds": 0}, "rounds"),
        ({"max_depth": 0}, "max_depth"),
        ({"max_bin": 128}, "max_bin"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"reg_lambda": -1.0}, "reg_lambda"),
        ({"gamma": float("nan")}, "gamma"),
        ({"subsample": 0.0}, "subsample"),
        ({"colsample_bytree": 1.5}, "colsample_bytree"),
    ],
)
def test_settings_that_cannot_train_are_refused(change: dict[str, Any], name: str) -> None:
    with pytest.raises(SpecError, match=name):
        replace(PLAIN, **change)


def test_tables_and_labels_that_cannot_train_are_refused() -> None:
    x = np.zeros((3, 1))
    for labels in (
        np.array([0, 1]),
        np.array([0, 0, 0]),
        np.array([0, 2, 2]),
        np.array([-1, 0, 1]),
    ):
        with pytest.raises(TableError, match="labels"):
            train_joined([x], labels, PLAIN, STREAMS)
    with pytest.raises(TableError, match="infinite"):
        train_joined([x + np.inf], np.array([0, 1, 1]), PLAIN, STREAMS)
