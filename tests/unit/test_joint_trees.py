"""Joint trees: the parties' answers give the joint model's release, and nothing else crosses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from random_trees import random_tree
from staging import chosen, held, scaled
from whatleaks.codec import encode
from whatleaks.defenses.protocol import OPEN, Guard
from whatleaks.defenses.rounding import Rounding
from whatleaks.errors import UsageError, WireError
from whatleaks.federation.trees.parties import PACE, NodeOwner, trees_of
from whatleaks.federation.trees.run import TreesFederation, TreesTrained
from whatleaks.federation.trees.settings import FOREST, TREE, TreeSettings
from whatleaks.models.forest import Forest
from whatleaks.seeds import Streams
from whatleaks.threat.grants import ForestModel, Ranges, TreeModel
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import ACTIVE, COORDINATOR, PASSIVE
from whatleaks.wire.transcript import Transcript

SMALL = TreeSettings("forest", depth=3, trees=12)


def untrained(x, y, own, settings, classes=None) -> TreesTrained:
    return TreesTrained(held(x, y, [np.s_[own:]], np.s_[:own], classes), settings)


def grown(x, y, own, settings, rows, channel=None) -> TreesTrained:
    return TreesFederation().train(
        held(x, y, [np.s_[own:]], np.s_[:own]),
        chosen(rows),
        settings,
        Streams(0),
        channel if channel is not None else Channel(),
    )


@pytest.mark.parametrize("source", [load_breast_cancer, load_wine])
def test_a_tree_releases_its_class_as_a_score_of_one(source) -> None:
    x, y = scaled(source)
    fed = grown(x, y, 6, TREE, np.arange(0, len(y), 2))
    rows = np.arange(1, len(y), 2)
    released = fed.release(rows, Channel(), OPEN)
    assert np.array_equal(released.argmax(axis=1), fed.model.predict(x[rows]))
    assert np.array_equal(fed.classes(rows, OPEN), fed.model.predict(x[rows]))
    assert set(np.unique(released)) == {0.0, 1.0}
    assert (released.sum(axis=1) == 1).all()
    seed = int(Streams(0).rng("trees").integers(2**31))
    central = DecisionTreeClassifier(max_depth=5, random_state=seed).fit(x[::2], y[::2])
    assert np.array_equal(released.argmax(axis=1), central.predict(x[rows]))


def test_a_forest_releases_vote_fractions() -> None:
    x, y = scaled(load_wine)
    fed = grown(x, y, 6, SMALL, np.arange(0, 178, 2))
    rows = np.arange(1, 178, 2)
    released = fed.release(rows, Channel(), OPEN)
    assert np.array_equal(released, fed.model.fractions(x[rows]))
    seed = int(Streams(0).rng("trees").integers(2**31))
    central = RandomForestClassifier(12, max_depth=3, random_state=seed).fit(x[::2], y[::2])
    votes = np.stack([t.predict(x[rows]) for t in central.estimators_])
    assert np.array_equal(released[:, 1], (votes == 1).mean(axis=0))
    assert (FOREST.trees, FOREST.depth, TREE.depth) == (100, 3, 5)


@pytest.mark.parametrize("settings", [TREE, SMALL])
def test_parties_are_asked_for_records_and_answer_with_bits(settings) -> None:
    x, y = scaled(load_breast_cancer)
    channel = Channel()
    fed = grown(x, y, 12, settings, np.arange(300), channel)
    assert channel.transcript.traffic() == ()  # training discloses the model alone
    fed.release(np.arange(300, 400), channel, OPEN)
    assert {m.kind for m in channel.transcript.received_by(ACTIVE)} == {"votes"}
    assert {m.kind for m in channel.transcript.received_by(PASSIVE)} == {"records"}
    tests = [m for m in channel.transcript.received_by(COORDINATOR) if m.kind == "tests"]
    assert len(tests) == 2 * settings.trees
    trees = trees_of(fed.model)
    for message in tests:
        tree = trees[message.step]
        mine = tree.active if message.sender == ACTIVE else tree.passive
        assert message.payload.values.shape == (100, mine.sum())
        assert set(np.unique(message.payload.values)) <= {0.0, 1.0}
        nodes = np.flatnonzero(mine)
        want = x[300:400][:, tree.feature[nodes]] <= tree.threshold[nodes]
        assert np.array_equal(message.payload.values.astype(bool), want)


def test_no_message_count_or_size_depends_on_values() -> None:
    x, y = scaled(load_breast_cancer)
    traffic = []
    for seed in range(3):
        channel = Channel(Transcript([ACTIVE]))
        fed = grown(x, y, 12, SMALL, np.arange(300))
        other = np.random.default_rng(seed).random(x.shape)
        stranger = untrained(other, y, 12, SMALL)
        stranger.install(fed.model)
        stranger.release(np.arange(50, 90), channel, OPEN)
        traffic.append(channel.transcript.traffic())
    assert traffic[0] == traffic[1] == traffic[2]


def test_release_defenses_act_before_recording() -> None:
    x, y = scaled(load_wine)
    channel = Channel()
    fed = grown(x, y, 6, SMALL, np.arange(100))
    got = fed.release(np.arange(100, 178), channel, Guard([Rounding(1)]))
    exact = fed.model.fractions(x[100:])
    assert np.abs(got - np.floor(exact * 10 + 1e-9) / 10).max() < 1e-12
    (message,) = channel.transcript.received_by(ACTIVE)
    assert np.array_equal(message.payload.values, got)
    assert np.array_equal(fed.release(np.arange(100, 178), Channel(), OPEN), exact)


def test_a_model_beyond_the_declared_limits_is_refused() -> None:
    x, y = scaled(load_wine)
    rng = np.random.default_rng(0)
    deep = grown(x, rng.integers(3, size=178), 6, TreeSettings(depth=4), np.arange(178)).model
    fed = untrained(x, y, 6, TreeSettings(depth=3))
    with pytest.raises(UsageError, match="4 tests deep, the declared limit is 3"):
        fed.install(deep)
    with pytest.raises(UsageError, match="declared as a tree"):
        fed.install(Forest((deep,)))
    with pytest.raises(UsageError, match="other columns"):
        untrained(x, y, 5, TREE).install(deep)
    two = random_tree(rng, columns=13, active=6, classes=2)
    with pytest.raises(UsageError, match="2 classes, the labels 3"):
        untrained(x, y, 6, TREE).install(two)
    with pytest.raises(UsageError, match="not trained"):
        fed.release(np.arange(3), Channel(), OPEN)


def test_one_class_and_values_that_are_not_finite_are_refused() -> None:
    x, y = scaled(load_wine)
    with pytest.raises(UsageError, match="2 classes"):
        untrained(x, np.zeros_like(y), 6, TREE)
    with pytest.raises(UsageError, match="all of class 0"):
        grown(x, y, 6, TREE, np.flatnonzero(y == 0))
    x[3, 8] = np.nan
    with pytest.raises(UsageError, match="passive party's columns"):
        untrained(x, y, 6, TREE)


@pytest.mark.parametrize("settings", [TREE, SMALL])
@pytest.mark.parametrize(
    "coalition", [("active",), ("active", "passive-3"), ("active", "passive-2")]
)
def test_four_parties_grow_the_same_and_a_coalition_comes_first(settings, coalition) -> None:
    x, y = scaled(load_wine)
    holdings = held(x, y, [np.s_[5:8], np.s_[8:9], np.s_[9:]], np.s_[:5])
    rows = chosen(range(0, 178, 2))
    fed = TreesFederation().train(holdings, rows, settings, Streams(0), Channel())
    assert encode(fed.model) == encode(grown(x, y, 5, settings, rows.training).model)
    channel, asked = Channel(), np.arange(1, 178, 2)
    released = fed.release(asked, channel, OPEN)
    assert np.array_equal(released, fed.release(asked, Channel(), OPEN))
    grant, ranges = fed.offer(coalition)
    assert isinstance(grant, ForestModel if settings is SMALL else TreeModel)
    victims = holdings.victims(coalition)
    joined = holdings.joined((*coalition, *victims), asked)
    assert np.array_equal(grant.model.predict(joined), released.argmax(axis=1))
    assert grant.model.active_columns == holdings.joined(coalition).shape[1]
    assert len(ranges.low) == holdings.joined(victims).shape[1]
    for party in holdings.passives:
        assert {m.kind for m in channel.transcript.received_by(party)} == {"records"}


def test_many_trees_keep_in_step() -> None:
    x, y = scaled(load_wine)
    many = TreeSettings("forest", depth=2, trees=3 * PACE + 5)
    fed = grown(x, y, 6, many, np.arange(100))
    channel = Channel()
    released = fed.release(np.arange(100, 178), channel, OPEN)
    assert np.array_equal(released, fed.model.fractions(x[100:]))
    assert [m.kind for m in channel.transcript.received_by(ACTIVE)] == ["go-on"] * 3 + ["votes"]


def test_records_that_do_not_exist_are_refused() -> None:
    owner = NodeOwner(PASSIVE, np.zeros((0, 3)))
    for asked in ([0.5], [-1.0], [3.0]):
        exchange = Exchange(Channel())
        exchange.send(0, COORDINATOR, PASSIVE, "records", Plain(np.array(asked)))
        with pytest.raises(WireError, match="whole numbers from 0 to 2"):
            exchange.drive({PASSIVE: owner.serve(np.zeros((3, 2)), 1, 0, exchange)})


def test_what_the_report_is_told() -> None:
    x, y = scaled(load_wine)
    fed = grown(x, y, 6, TREE, np.arange(0, 178, 2))
    tested = np.unique(fed.model.feature[fed.model.passive]) - 6
    assert fed.facts() == {"passive tests": int(fed.model.passive.sum())}
    named = ", ".join(f"passive {i}" for i in tested)
    assert fed.notes() == (f"the joint tree tests {len(tested)} of your 7 columns: {named}.",)
    federation = TreesFederation()
    assert federation.offers(TREE) == {TreeModel, Ranges}
    assert federation.offers(FOREST) == {ForestModel, Ranges}


@pytest.mark.parametrize("settings", [TREE, SMALL])
def test_alone_it_grows_on_its_own_columns(settings) -> None:
    x, y = scaled(load_wine)
    rows = chosen(range(0, 178, 2), range(1, 178, 2))
    alone = TreesFederation().alone(held(x, y, [np.s_[6:]], np.s_[:6]), rows, settings, Streams(0))
    seed = int(Streams(0).rng("trees").integers(2**31))
    if settings is TREE:
        central = DecisionTreeClassifier(max_depth=5, random_state=seed)
        assert np.array_equal(alone, central.fit(x[::2, :6], y[::2]).predict(x[1::2, :6]))
    else:
        central = RandomForestClassifier(12, max_depth=3, random_state=seed)
        votes = [t.predict(x[1::2, :6]) for t in central.fit(x[::2, :6], y[::2]).estimators_]
        counts = np.stack([(np.stack(votes) == c).sum(axis=0) for c in range(3)], axis=1)
        assert np.array_equal(alone, counts.argmax(axis=1))


@pytest.mark.parametrize("settings", [TREE, SMALL])
def test_a_constant_column_is_never_tested_and_an_unseen_class_never_predicted(settings) -> None:
    x, y = scaled(load_wine)
    x[:, 9] = 0.5
    fed = grown(x, y, 6, settings, np.flatnonzero(y != 1))
    assert all((tree.feature != 9).all() for tree in trees_of(fed.model))
    released = fed.release(np.arange(178), Channel(), OPEN)
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
