"""Path restriction: the paper's example, a slow walk of Algorithm 1, and what is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_trees import random_tree
from slow_path_restriction import alpha_of, beta_of, bounds_of, full_indices, paths_of
from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.path_restriction import (
    PathRestriction,
    PathRestrictionValues,
    candidate_paths,
    choose_uniformly,
    path_bounds,
    reachable,
)
from whatleaks.attacks.random_path import RandomPath
from whatleaks.errors import AttackError, UsageError
from whatleaks.metrics.branching import (
    branching_advantage,
    branching_rate,
    count_branches,
    count_value_branches,
    pooled_branching_rate,
)
from whatleaks.models.tree import Tree
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.tree import WhiteBoxTreeView
from whatleaks.trial.evaluator import Evaluator
from whatleaks.trial.isolation import commit
from whatleaks.trial.truth import Committed, Truth

AGE, INCOME, DEPOSIT, SHOPPING = range(4)


def worked_tree() -> Tree:
    """Fig 2, rebuilt from the text: age <= 30 at the root, then deposit <= 5K and shopping <= 6.

    Full binary indices: 0 age, 1 deposit, 2 shopping, 3 income, leaves 4 to 8, of which 4, 6
    and 8 have class 1. Our numbers are the same. Units: age / 100, money / 10K, shopping / 10.
    """
    return Tree(
        sealed_ints([AGE, DEPOSIT, SHOPPING, INCOME, -1, -1, -1, -1, -1]),
        sealed([0.30, 0.50, 0.60, 0.30, 0, 0, 0, 0, 0]),
        sealed_ints([1, 3, 5, 7, -1, -1, -1, -1, -1]),
        sealed_ints([2, 4, 6, 8, -1, -1, -1, -1, -1]),
        sealed([[1, 1]] * 4 + [[0, 1], [1, 0], [0, 1], [1, 0], [0, 1]]),
        2,
    )


def view_of(tree: Tree, own, classes, unknown: int) -> WhiteBoxTreeView:
    return WhiteBoxTreeView(sealed(own), sealed(np.eye(tree.classes)[classes]), unknown, tree)


def test_the_worked_example_leaves_exactly_one_path() -> None:
    """U05: beta, alpha and the one path as printed, for age 25, income 2K and class 1."""
    tree, own = worked_tree(), np.array([[0.25, 0.2]])
    beta = np.zeros(15, dtype=int)
    beta[: tree.nodes] = reachable(tree, own)[:, 0]
    assert beta.tolist() == [1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    alpha = np.zeros(15, dtype=int)
    alpha[tree.leaf_nodes] = tree.labels[tree.leaf_nodes] == 1
    assert alpha.tolist() == [0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]
    assert np.flatnonzero(alpha * beta).tolist() == [4]
    assert len(tree.leaf_nodes) == 5  # "from 5 to 2" by the own columns
    assert candidate_paths(tree, own, None).sum() == 2
    guess = PathRestriction().infer(view_of(tree, own, [1], 2), np.random.default_rng(0))
    assert guess.leaf.tolist() == [4]
    assert guess.candidates.tolist() == [1]
    # "correctly infer that the deposit is larger than 5K"; nothing about shopping.
    assert guess.low.tolist() == [[0.5, 0.0]]
    assert guess.high.tolist() == [[1.0, 1.0]]


def test_the_slow_walk_gives_the_worked_example_too() -> None:
    tree = worked_tree()
    beta, alpha = beta_of(tree, [0.25, 0.2]), alpha_of(tree, 1)
    assert [beta.get(i, 0) for i in range(15)] == [1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    assert [alpha.get(i, 0) for i in range(15)] == [0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]
    assert paths_of(tree, [0.25, 0.2], 1) == {4}


@given(st.integers(0, 100_000))
@settings(max_examples=80, deadline=None)
def test_all_records_at_once_equal_a_walk_record_by_record(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng)
    x = rng.random((30, 6))
    own, released = x[:, :3], tree.predict(x)
    view = view_of(tree, own, released, 3)
    nodes = full_indices(tree)
    index = {node: i for i, node in nodes.items()}
    candidates = PathRestriction().candidates(view)
    guess = PathRestriction().infer(view, rng)
    truth = tree.leaves(x)
    for r in range(30):
        slow = paths_of(tree, own[r], int(released[r]), nodes)
        fast = {index[int(leaf)] for leaf in tree.leaf_nodes[candidates[r]]}
        assert fast == slow
        assert index[int(truth[r])] in slow  # the real path is always among them
        assert index[int(guess.leaf[r])] in slow
        assert guess.candidates[r] == len(slow)
        bounds = bounds_of(tree, index[int(guess.leaf[r])], 3)
        assert list(zip(guess.low[r], guess.high[r], strict=True)) == bounds
    # Ranges of the true path hold the truth.
    low, high = path_bounds(tree, 3)
    place = np.searchsorted(tree.leaf_nodes, truth)
    assert ((x[:, 3:] > low[place]) & (x[:, 3:] <= high[place])).all()


@given(st.integers(0, 100_000))
@settings(max_examples=40, deadline=None)
def test_branches_are_counted_as_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng)
    truth = rng.random((20, 3))
    leaf = rng.choice(tree.leaf_nodes, 20)
    nodes, right = count_branches(tree, leaf, truth)
    parent = {}
    for node in np.flatnonzero(tree.inner):
        parent[int(tree.left[node])] = (int(node), True)
        parent[int(tree.right[node])] = (int(node), False)
    for r in range(20):
        node, seen, good = int(leaf[r]), 0, 0
        while node:
            node, left = parent[node]
            j = int(tree.feature[node]) - 3
            if j >= 0:
                seen += 1
                good += (truth[r, j] <= tree.threshold[node]) == left
        assert (nodes[r], right[r]) == (seen, good)


def test_the_true_path_has_rate_one_and_true_values_too() -> None:
    rng = np.random.default_rng(4)
    trees = [random_tree(rng) for _ in range(5)]
    x = rng.random((50, 6))
    for tree in trees:
        nodes, right = count_branches(tree, tree.leaves(x), x[:, 3:])
        assert np.array_equal(nodes, right)
    nodes, right = count_value_branches(trees, x[:, :3], x[:, 3:], x[:, 3:])
    assert np.array_equal(nodes, right)
    assert nodes.min() > 0
    wrong, good = count_value_branches(trees, x[:, :3], 1 - x[:, 3:], x[:, 3:])
    assert good.sum() < wrong.sum()


def test_records_without_a_passive_test_are_left_out_and_counted() -> None:
    rng = np.random.default_rng(0)
    nodes, right = sealed_ints([0, 2, 1, 0]), sealed_ints([0, 1, 1, 0])
    rate = branching_rate(nodes, right, rng)
    assert rate.value == 0.75
    assert rate.n == 2
    pooled = pooled_branching_rate(nodes, right, rng)
    assert pooled.value == pytest.approx(2 / 3, abs=1e-12)
    with pytest.raises(UsageError, match="no guessed path"):
        pooled_branching_rate(sealed_ints([0, 0]), sealed_ints([0, 0]), rng)
    gain = branching_advantage(nodes, right, sealed_ints([1, 2, 2, 0]), right, rng)
    assert gain.n == 2
    assert gain.value == pytest.approx(0.25, abs=1e-12)
    with pytest.raises(UsageError, match="0 of 3 guessed paths"):
        branching_rate(sealed_ints([0, 0, 0]), sealed_ints([0, 0, 0]), rng)
    with pytest.raises(UsageError, match="nothing to compare"):
        branching_advantage(nodes, right, sealed_ints([1, 0, 0, 1]), right, rng)


def test_the_choice_is_uniform() -> None:
    # n = 60,000 draws among 3 of 5: each share has standard error 0.0019; 5 of these allowed.
    candidates = np.tile(np.array([False, True, True, False, True]), (60_000, 1))
    chosen = choose_uniformly(candidates, candidates.sum(axis=1), np.random.default_rng(0))
    shares = np.bincount(chosen, minlength=5) / 60_000
    assert shares[[0, 3]].sum() == 0
    assert np.abs(shares[[1, 2, 4]] - 1 / 3).max() < 0.0096


def test_random_path_is_uniform_over_leaves_and_ignores_the_record() -> None:
    tree = worked_tree()
    own = np.random.default_rng(1).random((50_000, 2))
    view = view_of(tree, own, np.zeros(50_000, dtype=int), 2)
    guess = RandomPath().infer(view, np.random.default_rng(2))
    shares = np.bincount(guess.leaf, minlength=9)[4:] / 50_000
    assert np.abs(shares - 0.2).max() < 0.009  # 5 standard errors
    other = dataclasses.replace(view, own=sealed(1 - view.own), released=sealed(1 - view.released))
    again = RandomPath().infer(other, np.random.default_rng(2))
    assert np.array_equal(guess.leaf, again.leaf)


def test_values_are_the_middles_of_the_remaining_intervals() -> None:
    tree = worked_tree()
    rng = np.random.default_rng(0)
    one = PathRestrictionValues().infer(view_of(tree, [[0.25, 0.2]], [1], 2), rng)
    assert one.values.tolist() == [[0.75, 0.5]]
    # Class 1 with income 4K: leaf 4 (deposit in (0.5, 1]) and leaf 8 (deposit in (0, 0.5]).
    two = PathRestrictionValues().infer(view_of(tree, [[0.25, 0.4]], [1], 2), rng)
    assert two.values == pytest.approx(np.array([[0.5, 0.5]]), abs=1e-12)


def test_a_release_that_is_not_the_trees_is_refused() -> None:
    tree = Tree(  # one active test decides the class
        sealed_ints([0, -1, -1]),
        sealed([0.5, 0, 0]),
        sealed_ints([1, -1, -1]),
        sealed_ints([2, -1, -1]),
        sealed([[1, 1, 0], [1, 0, 0], [0, 1, 0]]),
        1,
    )
    rng = np.random.default_rng(0)
    with pytest.raises(AttackError, match=r"1 of 2 records .* record 1\).* class 1"):
        PathRestriction().infer(view_of(tree, [[0.2], [0.3]], [0, 1], 1), rng)
    with pytest.raises(AttackError, match="class 2"):  # a class that is never predicted
        PathRestriction().infer(view_of(tree, [[0.2]], [2], 1), rng)
    with pytest.raises(AttackError, match="1 active columns, the view shows 2"):
        PathRestriction().infer(view_of(tree, [[0.2, 0.1]], [0], 1), rng)
    short = WhiteBoxTreeView(sealed([[0.2]]), sealed([[1.0, 0.0]]), 1, tree)
    with pytest.raises(AttackError, match="3 classes, the release 2 scores"):
        PathRestriction().infer(short, rng)


def test_thresholds_outside_the_public_range_are_refused() -> None:
    tree = worked_tree()
    wide = dataclasses.replace(tree, threshold=sealed(tree.threshold * 100))
    with pytest.raises(AttackError, match="outside the public range"):
        path_bounds(wide, 2)
    with pytest.raises(AttackError, match="tests passive column 1, the partner has 1"):
        path_bounds(tree, 1)


def test_a_tree_without_passive_tests_says_nothing() -> None:
    leaf = Tree(sealed_ints([-1]), sealed([0]), *[sealed_ints([-1])] * 2, sealed([[1, 2]]), 1)
    guess = PathRestriction().infer(
        view_of(leaf, [[0.1]] * 3, [1] * 3, 2), np.random.default_rng(0)
    )
    assert (guess.low == 0).all()
    assert (guess.high == 1).all()
    nodes, _ = count_branches(leaf, guess.leaf, np.zeros((3, 2)))
    assert nodes.sum() == 0


def test_only_the_evaluator_scores_paths_and_only_once() -> None:
    rng = np.random.default_rng(3)
    tree = random_tree(rng)
    x = rng.random((40, 6))
    view = view_of(tree, x[:, :3], tree.predict(x), 3)
    evaluator = Evaluator(Truth(sealed(x[:, 3:]), trees=(tree,)))
    answer = commit(PathRestriction(), view, rng)
    scored = evaluator.score(answer, "attack")
    nodes, right = count_branches(tree, answer.guess.leaf, x[:, 3:])
    assert np.array_equal(scored.nodes, nodes)
    assert np.array_equal(scored.right, right)
    with pytest.raises(AttackError, match="already answered"):
        evaluator.score(answer, "attack")
    few = dataclasses.replace(
        answer,
        name="few",
        guess=PathRestriction().infer(view_of(tree, x[:5, :3], tree.predict(x[:5]), 3), rng),
    )
    with pytest.raises(AttackError, match="5 records"):
        evaluator.score(few, "attack")
    forest = Evaluator(Truth(sealed(x[:, 3:]), trees=(tree, tree)))
    with pytest.raises(AttackError, match="2 trees were grown"):
        forest.score(answer, "attack")


def test_branches_of_values_are_those_of_the_guess_that_was_scored() -> None:
    rng = np.random.default_rng(6)
    trees = [random_tree(rng) for _ in range(3)]
    x = rng.random((25, 6))
    evaluator = Evaluator(Truth(sealed(x[:, 3:]), own=sealed(x[:, :3]), trees=tuple(trees)))
    answer = Committed("values", ValueGuess(sealed(rng.random((25, 3)))), 0.0, False)
    with pytest.raises(AttackError, match="score the values of values first"):
        evaluator.branches(answer, "attack")
    evaluator.score(answer, "attack")
    scored = evaluator.branches(answer, "attack")
    want = count_value_branches(trees, x[:, :3], answer.guess.values, x[:, 3:])
    assert np.array_equal(scored.nodes, want[0])
    assert np.array_equal(scored.right, want[1])
    other = Committed("values", ValueGuess(sealed(x[:, 3:])), 0.0, False)
    with pytest.raises(AttackError, match="first"):  # another answer under the same name
        evaluator.branches(other, "attack")


def test_a_path_guess_survives_isolation() -> None:
    rng = np.random.default_rng(5)
    tree = random_tree(rng)
    x = rng.random((10, 6))
    view = view_of(tree, x[:, :3], tree.predict(x), 3)
    here = commit(PathRestriction(), view, np.random.default_rng(1)).guess
    there = commit(PathRestriction(), view, np.random.default_rng(1), isolated=True).guess
    assert np.array_equal(here.leaf, there.leaf)
