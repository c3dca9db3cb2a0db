"""Joint trees: the parties' answers give the joint model's release, and nothing else crosses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from random_trees import random_tree
from whatleaks.arrays import sealed, sealed_ints
from whatleaks.defenses.rounding import Rounding
from whatleaks.errors import UsageError
from whatleaks.federation.joint_trees import (
    ACTIVE,
    COORDINATOR,
    FOREST,
    PASSIVE,
    TREE,
    JointTrees,
    TreeSettings,
)
from whatleaks.models.forest import Forest
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript

SMALL = TreeSettings("forest", depth=3, trees=12)


def data(source):
    x, y = source(return_X_y=True)
    return (x - x.min(0)) / (x.max(0) - x.min(0)), y


def federation(x, y, own, settings, channel=None, defenses=(), classes=None):
    return JointTrees(
        sealed(x[:, :own]),
        sealed(x[:, own:]),
        sealed_ints(y),
        classes if classes is not None else int(y.max()) + 1,
        settings,
        Streams(0),
        channel if channel is not None else Channel(),
        defenses,
    )


@pytest.mark.parametrize("source", [load_breast_cancer, load_wine])
def test_a_tree_releases_its_class_as_a_score_of_one(source) -> None:
    x, y = data(source)
    fed = federation(x, y, 6, TREE)
    fed.train(np.arange(0, len(y), 2))
    rows = np.arange(1, len(y), 2)
    released = fed.predict(rows)
    assert np.array_equal(released.argmax(axis=1), fed.model().predict(x[rows]))
    assert set(np.unique(released)) == {0.0, 1.0}
    assert (released.sum(axis=1) == 1).all()
    seed = int(Streams(0).rng("trees").integers(2**31))
    central = DecisionTreeClassifier(max_depth=5, random_state=seed).fit(x[::2], y[::2])
    assert np.array_equal(released.argmax(axis=1), central.predict(x[rows]))


def test_a_forest_releases_vote_fractions() -> None:
    x, y = data(load_wine)
    fed = federation(x, y, 6, SMALL)
    fed.train(np.arange(0, 178, 2))
    rows = np.arange(1, 178, 2)
    released = fed.predict(rows)
    assert np.array_equal(released, fed.model().fractions(x[rows]))
    seed = int(Streams(0).rng("trees").integers(2**31))
    central = RandomForestClassifier(12, max_depth=3, random_state=seed).fit(x[::2], y[::2])
    votes = np.stack([t.predict(x[rows]) for t in central.estimators_])
    assert np.array_equal(released[:, 1], (votes == 1).mean(axis=0))
    assert (FOREST.trees, FOREST.depth, TREE.depth) == (100, 3, 5)


@pytest.mark.parametrize("settings", [TREE, SMALL])
def test_parties_are_asked_for_records_and_answer_with_bits(settings) -> None:
    x, y = data(load_breast_cancer)
    channel = Channel()
    fed = federation(x, y, 12, settings, channel)
    fed.train(np.arange(300))
    assert channel.transcript.traffic() == ()  # training discloses the model alone
    fed.predict(np.arange(300, 400))
    assert {m.kind for m in channel.transcript.received_by(ACTIVE)} == {"scores"}
    assert {m.kind for m in channel.transcript.received_by(PASSIVE)} == {"records"}
    tests = [m for m in channel.transcript.received_by(COORDINATOR) if m.kind == "tests"]
    assert len(tests) == 2 * settings.trees
    model = fed.model()
    trees = model.trees if isinstance(model, Forest) else (model,)
    for message in tests:
        tree = trees[message.step]
        mine = tree.active if message.sender == ACTIVE else tree.passive
        assert message.payload.values.shape == (100, mine.sum())
        assert set(np.unique(message.payload.values)) <= {0.0, 1.0}
        nodes = np.flatnonzero(mine)
        want = x[300:400][:, tree.feature[nodes]] <= tree.threshold[nodes]
        assert np.array_equal(message.payload.values.astype(bool), want)


def test_no_message_count_or_size_depends_on_values() -> None:
    x, y = data(load_breast_cancer)
    traffic = []
    for seed in range(3):
        channel = Channel(Transcript([ACTIVE]))
        fed = federation(x, y, 12, SMALL)
        fed.train(np.arange(300))
        other = np.random.default_rng(seed).random(x.shape)
        stranger = federation(other, y, 12, SMALL, channel)
        stranger.install(fed.model())
        stranger.predict(np.arange(50, 90))
        traffic.append(channel.transcript.traffic())
    assert traffic[0] == traffic[1] == traffic[2]


def test_release_defenses_act_before_recording() -> None:
    x, y = data(load_wine)
    channel = Channel()
    fed = federation(x, y, 6, SMALL, channel, [Rounding(1)])
    fed.train(np.arange(100))
    got = fed.predict(np.arange(100, 178))
    exact = fed.model().fractions(x[100:])
    assert np.abs(got - np.floor(exact * 10 + 1e-9) / 10).max() < 1e-12
    (message,) = channel.transcript.received_by(ACTIVE)
    assert np.array_equal(message.payload.values, got)
    fed.with_defenses([])
    assert np.array_equal(fed.predict(np.arange(100, 178)), exact)


def test_a_model_beyond_the_declared_limits_is_refused() -> None:
    x, y = data(load_wine)
    rng = np.random.default_rng(0)
    grown = federation(x, rng.integers(3, size=178), 6, TreeSettings(depth=4))
    grown.train(np.arange(178))
    deep = grown.model()
    fed = federation(x, y, 6, TreeSettings(depth=3))
    with pytest.raises(UsageError, match="4 tests deep, the declared limit is 3"):
        fed.install(deep)
    with pytest.raises(UsageError, match="declared as a tree"):
        fed.install(Forest((deep,)))
    other = federation(x, y, 5, TREE)
    with pytest.raises(UsageError, match="other columns"):
        other.install(deep)
    two = random_tree(rng, columns=13, active=6, classes=2)
    with pytest.raises(UsageError, match="2 classes, the labels 3"):
        federation(x, y, 6, TREE).install(two)
    with pytest.raises(UsageError, match="not trained"):
        fed.predict(np.arange(3))


def test_one_class_and_values_that_are_not_finite_are_refused() -> None:
    x, y = data(load_wine)
    with pytest.raises(UsageError, match="2 classes"):
        federation(x, np.zeros_like(y), 6, TREE)
    fed = federation(x, y, 6, TREE)
    with pytest.raises(UsageError, match="all of class 0"):
        fed.train(np.flatnonzero(y == 0))
    x[3, 8] = np.nan
    with pytest.raises(UsageError, match="passive party's columns"):
        federation(x, y, 6, TREE)


@pytest.mark.parametrize("settings", [TREE, SMALL])
def test_a_constant_column_is_never_tested_and_an_unseen_class_never_predicted(settings) -> None:
    x, y = data(load_wine)
    x[:, 9] = 0.5
    fed = federation(x, y, 6, settings)
    fed.train(np.flatnonzero(y != 1))
    model = fed.model()
    trees = model.trees if isinstance(model, Forest) else (model,)
    assert all((tree.feature != 9).all() for tree in trees)
    released = fed.predict(np.arange(178))
    assert released.shape == (178, 3)
    assert (released[:, 1] == 0).all()
    assert np.isfinite(released).all()


@pytest.mark.parametrize(
    "bad",
    [
        {"depth": 0},
        {"kind": "forest", "trees": 0},
        {"kind": "bush"},
        {"trees": 5},
        {"smallest_leaf": 0},
        {"least_gain": -0.1},
    ],
)
def test_bad_settings_are_refused(bad) -> None:
    with pytest.raises(UsageError):
        TreeSettings(**bad)
