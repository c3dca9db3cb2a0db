"""Trees and forests as plain arrays: the routes of scikit-learn, record by record."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from random_trees import random_tree
from whatleaks.arrays import sealed, sealed_ints
from whatleaks.codec import decode, encode
from whatleaks.data import load, prepare
from whatleaks.errors import UsageError
from whatleaks.models.forest import Forest, forest_from_sklearn
from whatleaks.models.tree import Tree, double_borders, tree_from_sklearn


def slow_leaf(tree: Tree, record) -> int:
    node = 0
    while tree.feature[node] >= 0:
        left = record[tree.feature[node]] <= tree.threshold[node]
        node = int(tree.left[node] if left else tree.right[node])
    return node


@pytest.mark.parametrize("source", [load_breast_cancer, load_wine])
@pytest.mark.parametrize("depth", [1, 5, None])
def test_every_record_falls_into_scikit_learns_leaf(source, depth) -> None:
    x, y = source(return_X_y=True)
    x = (x - x.min(0)) / (x.max(0) - x.min(0))
    fitted = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(x, y)
    tree = tree_from_sklearn(fitted, 4, int(y.max()) + 1, np.arange(y.max() + 1))
    assert np.array_equal(tree.leaves(x), fitted.apply(x))
    assert np.array_equal(tree.predict(x), fitted.predict(x))
    assert tree.depth == fitted.get_depth()


@pytest.mark.data
@pytest.mark.parametrize("name", ["credit-card-default", "bank-marketing"])
def test_no_record_of_the_papers_sets_is_routed_otherwise(name: str) -> None:
    folder = os.environ.get("WHATLEAKS_DATA") or Path(__file__).parents[2].parent / "shared/data"
    if not Path(folder).is_dir():
        pytest.skip("no data: set WHATLEAKS_DATA to the folder with the data sets")
    data = load(name, Path(folder))
    columns = [c for c in data.frame.columns if c != data.label]
    ready = prepare(data.frame, data.label, columns[:8], rng=np.random.default_rng(0))
    x = np.concatenate([ready.active, ready.passive], axis=1)
    fitted = DecisionTreeClassifier(max_depth=12, random_state=0).fit(x, ready.labels)
    tree = tree_from_sklearn(fitted, ready.active.shape[1], 2, np.arange(2))
    assert np.array_equal(tree.leaves(x), fitted.apply(x))
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(x, ready.labels)
    ours = forest_from_sklearn(forest, ready.active.shape[1], 2)
    for mine, theirs in zip(ours.trees, forest.estimators_, strict=True):
        assert np.array_equal(mine.leaves(x), theirs.apply(x))


@given(st.floats(-10, 10), st.integers(-3, 3), st.booleans())
@settings(max_examples=300, deadline=None)
def test_borders_split_doubles_as_single_precision_does(t: float, ulps: int, tie: bool) -> None:
    border = float(double_borders(np.array([t]))[0])
    # Doubles right at the border, where a plain comparison with the threshold goes wrong.
    x = border
    for _ in range(abs(ulps)):
        x = float(np.nextafter(x, np.inf if ulps > 0 else -np.inf))
    if tie:
        single = np.float32(t)
        x = 0.5 * (float(single) + float(np.nextafter(single, np.float32(np.inf))))
    assert (x <= border) == (float(np.float32(x)) <= t)


def test_a_threshold_is_not_the_border() -> None:
    t = float(np.float32(0.1))
    x = float(np.nextafter(t, 1.0))
    assert x > t
    assert x <= double_borders(np.array([t]))[0]


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_the_walk_equals_a_walk_record_by_record(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng)
    x = rng.random((40, 6))
    leaves = tree.leaves(x)
    assert [slow_leaf(tree, record) for record in x] == leaves.tolist()
    routes = tree.routes()
    assert routes.shape == (len(tree.leaf_nodes), tree.nodes)
    assert np.abs(routes).sum(axis=1).max() == tree.depth
    index = np.searchsorted(tree.leaf_nodes, leaves)
    for node in np.flatnonzero(tree.inner):
        on = routes[index, node] != 0
        left = x[on, tree.feature[node]] <= tree.threshold[node]
        assert np.array_equal(np.where(left, 1, -1), routes[index, node][on])


def test_fractions_are_whole_votes_not_averaged_leaves() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    fitted = RandomForestClassifier(20, max_depth=2, random_state=0).fit(x, y)
    forest = forest_from_sklearn(fitted, 10, 2)
    votes = np.stack([tree.predict(x) for tree in fitted.estimators_]).astype(int)
    by_hand = np.stack([(votes == k).mean(axis=0) for k in range(2)], axis=1)
    assert np.array_equal(forest.fractions(x), by_hand)
    assert np.abs(forest.fractions(x).sum(axis=1) - 1).max() < 1e-12
    assert np.abs(forest.fractions(x) - fitted.predict_proba(x)).max() > 0.01


def test_a_class_that_training_never_saw_is_never_predicted() -> None:
    x, y = load_wine(return_X_y=True)
    seen = y != 1
    fitted = DecisionTreeClassifier(max_depth=3, random_state=0).fit(x[seen], y[seen])
    tree = tree_from_sklearn(fitted, 4, 3, fitted.classes_)
    assert tree.classes == 3
    assert set(tree.predict(x)) == {0, 2}
    assert np.array_equal(tree.predict(x), fitted.predict(x))
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(x[seen], y[seen])
    ours = forest_from_sklearn(forest, 4, 3)
    assert (ours.fractions(x)[:, 1] == 0).all()


def test_owners() -> None:
    tree = Tree(
        sealed_ints([1, -1, 2, -1, -1]),
        sealed([0.5, 0, 0.5, 0, 0]),
        sealed_ints([1, -1, 3, -1, -1]),
        sealed_ints([2, -1, 4, -1, -1]),
        sealed(np.eye(5)[:, :2]),
        2,
    )
    assert tree.active.tolist() == [True, False, False, False, False]
    assert tree.passive.tolist() == [False, False, True, False, False]
    assert tree.leaf_nodes.tolist() == [1, 3, 4]
    assert tree.depth == 2
    assert encode(decode(encode(tree))) == encode(tree)


def test_a_single_leaf_is_a_tree() -> None:
    leaf = Tree(*(sealed_ints([-1]), sealed([0.0])), *[sealed_ints([-1])] * 2, sealed([[1, 2]]), 1)
    assert leaf.depth == 0
    assert leaf.predict(np.zeros((3, 2))).tolist() == [1, 1, 1]
    assert leaf.routes().tolist() == [[0]]


@pytest.mark.parametrize(
    ("left", "right", "why"),
    [
        ([0, -1, -1], [2, -1, -1], "after their parent"),
        ([1, -1, -1], [-1, -1, -1], "two children"),
        ([1, -1, -1], [1, -1, -1], "exactly one parent"),
        ([1, -1, -1], [3, -1, -1], "two children"),
    ],
)
def test_what_is_not_a_tree_is_refused(left, right, why) -> None:
    with pytest.raises(UsageError, match=why):
        Tree(
            sealed_ints([0, -1, -1]),
            sealed([0.5, 0, 0]),
            sealed_ints(left),
            sealed_ints(right),
            sealed(np.ones((3, 2))),
            1,
        )


def test_a_forest_needs_trees_that_agree() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="at least 1 tree"):
        Forest(())
    with pytest.raises(UsageError, match="share their classes"):
        Forest((random_tree(rng, classes=2), random_tree(rng, classes=3)))
