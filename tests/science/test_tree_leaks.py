"""Path restriction knows what the view says and no more."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from staging import chosen, held, on_stage, scaled
from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.path_restriction import PathRestriction, PathRestrictionValues
from whatleaks.attacks.random_path import RandomPath
from whatleaks.codec import decode, encode
from whatleaks.errors import GrantError
from whatleaks.federation.trees.run import TreesFederation
from whatleaks.federation.trees.settings import FOREST, TREE
from whatleaks.metrics.branching import branching_advantage
from whatleaks.models.tree import Tree
from whatleaks.threat.grants import ForestModel, TreeModel, hand_out
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.prediction import BLACK_BOX
from whatleaks.threat.trees import WHITE_BOX_FOREST, WHITE_BOX_TREE
from whatleaks.threat.views.tree import WhiteBoxTreeView
from whatleaks.trial.evaluator import Evaluator
from whatleaks.trial.isolation import commit
from whatleaks.trial.truth import Truth


def staged(source, own_columns: int, settings, threat):
    """Train on every other record and project the view of the rest; returns view and truth."""
    x, y = scaled(source)
    holdings = held(x, y, [slice(own_columns, None)], slice(None, own_columns))
    rows = chosen(np.arange(0, len(y), 2), np.arange(1, len(y), 2))
    stage = on_stage(TreesFederation(), settings, holdings, rows, threat)
    return stage.view(rows.targets), stage.truth


@pytest.fixture(scope="module")
def cancer():
    return staged(load_breast_cancer, 15, TREE, WHITE_BOX_TREE)


@pytest.mark.parametrize("attack", [PathRestriction(), PathRestrictionValues()])
def test_secrets_on_the_same_branch_get_the_same_guess(cancer, attack) -> None:
    view, truth = cancer
    tree = view.model
    joined = np.concatenate([view.own, truth], axis=1)
    leaf = tree.leaves(joined)
    # Move every secret at random, keep the records whose path did not change.
    other = np.random.default_rng(1).random(truth.shape)
    same = tree.leaves(np.concatenate([view.own, other], axis=1)) == leaf
    assert same.sum() > 20
    views = []
    for secret in (truth, other):
        own, passive = sealed(view.own[same]), sealed(secret[same])
        released = np.eye(tree.classes)[tree.predict(np.concatenate([own, passive], axis=1))]
        views.append(WhiteBoxTreeView(own, sealed(released), view.unknown, tree))
    assert np.abs(truth[same] - other[same]).max() > 0.5
    assert encode(views[0]) == encode(views[1])
    guesses = [encode(commit(attack, v, np.random.default_rng(2)).guess) for v in views]
    assert guesses[0] == guesses[1]


def even_tree() -> Tree:
    """Three levels, all thresholds 0.5: an own test at the root, then two different secret ones.

    On uniform independent columns every secret test is a fair coin. The leaf's class depends
    on both coins, so the released class says something about them.
    """
    return Tree(
        sealed_ints([0, 1, 2, -1, -1, 2, -1, -1, 2, 1, -1, -1, 1, -1, -1]),
        sealed([0.5, 0.5, 0.5, 0, 0, 0.5, 0, 0, 0.5, 0.5, 0, 0, 0.5, 0, 0]),
        sealed_ints([1, 2, 3, -1, -1, 6, -1, -1, 9, 10, -1, -1, 13, -1, -1]),
        sealed_ints([8, 5, 4, -1, -1, 7, -1, -1, 12, 11, -1, -1, 14, -1, -1]),
        sealed(np.eye(3)[[0, 0, 0, 0, 1, 0, 1, 2, 0, 0, 2, 1, 0, 1, 0]]),
        1,
    )


def test_classes_of_other_people_give_no_advantage_over_a_random_path() -> None:
    # n = 4,000 independent records. A fair coin is guessed right half of the time by whoever
    # does not see it, so with strangers' classes both rates are exactly 1/2 in expectation and
    # the paired 95 % interval holds 0; with the own class the theory's gain is well above it.
    tree, rng = even_tree(), np.random.default_rng(10)
    x = rng.random((4000, 3))
    view = WhiteBoxTreeView(sealed(x[:, :1]), sealed(np.eye(3)[tree.predict(x)]), 2, tree)
    stranger = dataclasses.replace(view, released=sealed(np.roll(view.released, 17, axis=0)))
    evaluator = Evaluator(Truth(sealed(x[:, 1:]), trees=(tree,)))
    base = evaluator.score(commit(RandomPath(), view, rng), "baseline")
    mixed = evaluator.score(commit(PathRestriction(), stranger, rng), "attack")
    none = branching_advantage(mixed.nodes, mixed.right, base.nodes, base.right, rng)
    assert none.n == 4000
    assert none.low < 0.0 < none.high
    own = Evaluator(Truth(sealed(x[:, 1:]), trees=(tree,))).score(
        commit(PathRestriction(), view, rng), "attack"
    )
    gain = branching_advantage(own.nodes, own.right, base.nodes, base.right, rng)
    assert gain.low > 0.1
    # Exactly: each half of the tree has one class with two leaves that differ in both coins or
    # in one of them, and two classes with one leaf: worked out leaf by leaf below.
    expected = np.mean([_expected_rate(tree, leaf) for leaf in tree.leaf_nodes])
    assert gain.low < expected - 0.5 < gain.high


def _expected_rate(tree: Tree, true_leaf: int) -> float:
    """The rate of a uniform choice among this half's leaves of the same class."""
    leaves, routes = tree.leaf_nodes, tree.routes()
    me = int(np.flatnonzero(leaves == true_leaf)[0])
    mates = [
        k
        for k in range(len(leaves))
        if routes[k, 0] == routes[me, 0] and tree.labels[leaves[k]] == tree.labels[true_leaf]
    ]
    coin = {int(tree.feature[i]): int(routes[me, i]) for i in range(tree.nodes) if routes[me, i]}
    rates = []
    for k in mates:
        tests = [i for i in range(tree.nodes) if routes[k, i] and tree.feature[i] > 0]
        rates.append(np.mean([routes[k, i] == coin[int(tree.feature[i])] for i in tests]))
    return float(np.mean(rates))


def test_a_strangers_class_can_still_tell_which_branch_is_common() -> None:
    # Why the test above needs fair coins: where nine in ten go left, a released class drawn
    # from the same people points left nine times in ten. That is knowledge of the crowd
    # (0.9 * 0.9 + 0.1 * 0.1 = 0.82 against 0.5), not of the record.
    tree = Tree(
        sealed_ints([1, -1, -1]),
        sealed([0.9, 0, 0]),
        sealed_ints([1, -1, -1]),
        sealed_ints([2, -1, -1]),
        sealed([[1, 1], [1, 0], [0, 1]]),
        1,
    )
    rng = np.random.default_rng(3)
    x = rng.random((20_000, 2))
    released = np.roll(np.eye(2)[tree.predict(x)], 5, axis=0)
    view = WhiteBoxTreeView(sealed(x[:, :1]), sealed(released), 1, tree)
    scored = Evaluator(Truth(sealed(x[:, 1:]), trees=(tree,))).score(
        commit(PathRestriction(), view, rng), "attack"
    )
    assert abs((scored.right / scored.nodes).mean() - 0.82) < 4 * np.sqrt(0.82 * 0.18 / 20_000)


def test_the_real_path_is_always_possible_and_pays(cancer) -> None:
    view, truth = cancer
    tree, rng = view.model, np.random.default_rng(0)
    evaluator = Evaluator(Truth(truth, trees=(tree,)))
    found = evaluator.score(commit(PathRestriction(), view, rng), "attack")
    base = evaluator.score(commit(RandomPath(), view, rng), "baseline")
    gain = branching_advantage(found.nodes, found.right, base.nodes, base.right, rng)
    assert gain.low > 0.0
    leaf = tree.leaves(np.concatenate([view.own, truth], axis=1))
    candidates = PathRestriction().candidates(view)
    assert candidates[np.arange(len(leaf)), np.searchsorted(tree.leaf_nodes, leaf)].all()


@pytest.mark.parametrize(
    ("settings", "threat"), [(TREE, WHITE_BOX_TREE), (FOREST, WHITE_BOX_FOREST)]
)
def test_views_are_bytes_and_hold_their_grants_only(settings, threat) -> None:
    view, truth = staged(load_wine, 6, settings, threat)
    names = {f.name for f in dataclasses.fields(view)}
    assert names == {"own", "released", "unknown", "model", "ranges", "schema"}
    assert encode(decode(encode(view))) == encode(view)
    assert view.evidence().shape == (len(truth), 6 + 3)
    seen = []

    class Spy:
        name = "spy"

        def infer(self, view, rng):
            seen.append(view)
            return ValueGuess(sealed(np.zeros((len(view.own), view.unknown))))

    commit(Spy(), view, np.random.default_rng(0))
    got = seen[0]
    for mine, theirs in ((got.own, view.own), (got.released, view.released)):
        assert mine.base is None
        assert not np.shares_memory(mine, theirs)
    assert "active party" in repr(threat)
    assert "thresholds" in repr(threat)


def test_trees_are_granted_by_kind_or_not_at_all() -> None:
    view, _ = staged(load_wine, 6, TREE, WHITE_BOX_TREE)
    offer = (TreeModel(view.model),)
    assert hand_out(WHITE_BOX_TREE.grants, offer)[TreeModel].model is not view.model
    with pytest.raises(GrantError, match="nothing to grant"):
        _ = hand_out(WHITE_BOX_FOREST.grants, offer)[ForestModel]
    with pytest.raises(GrantError, match="does not grant every node"):
        _ = hand_out(BLACK_BOX.grants, offer)[TreeModel]
    shows, offers = TreesFederation.shows, TreesFederation().offers(TREE)
    assert WHITE_BOX_FOREST.view_for(shows, offers) is None
    assert WHITE_BOX_TREE.view_for(shows, offers) is WhiteBoxTreeView
