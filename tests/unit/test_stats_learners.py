"""What is learnt from complete records, with and without the messages of the people who are guessed."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.errors import UsageError
from whatleaks.stats.columns import CATEGORY, Column, describe
from whatleaks.stats.learners import Records, learn, learn_alone
from whatleaks.stats.pool import pool
from whatleaks.stats.questions import answers, shuffle
from whatleaks.stats.rows import Row, rows
from whatleaks.stats.ways import WITH, WITHOUT, Way, one_value, own_columns

PEOPLE, KNOWN = 200, 400


def world(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[Column]]:
    """Draw own columns, messages and passive columns: read by own ones, by the message, by both, a category."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(PEOPLE + KNOWN, 3))
    hidden = rng.normal(size=PEOPLE + KNOWN)
    messages = np.c_[hidden + 0.5 * own[:, 2], rng.normal(size=PEOPLE + KNOWN)]
    level = np.digitize(hidden, [-1.4, 0.0, 1.0]).astype(float)
    passive = np.c_[np.sin(2 * own[:, 0]), hidden, level, rng.normal(size=PEOPLE + KNOWN)]
    names = ("own", "message", "level", "noise")
    columns = [
        describe(name, values, kind=CATEGORY if name == "level" else "number")
        for name, values in zip(names, passive.T, strict=True)
    ]
    return own, messages, passive, columns


def table(seed: int, *, exchanged: bool = False) -> dict[tuple[str, str], Row]:
    own, messages, passive, columns = world(seed)
    rng = np.random.default_rng(seed + 1)
    asked, known = slice(PEOPLE), slice(PEOPLE, None)
    records = Records(own[known], messages[known], passive[known])
    sent = messages[asked]
    sent = rng.permutation(sent) if exchanged else sent
    alone = learn_alone(columns, records, own[asked], rng)
    seen = learn(columns, records, own[asked], sent, rng.permutation(messages[asked]), rng)
    order, found = shuffle(np.arange(PEOPLE), rng), []
    for column, truth, a, b in zip(columns, passive[asked].T, alone, seen, strict=True):
        held = own_columns(column, {str(i): v for i, v in enumerate(own[asked].T)})
        ways = [*one_value(column, PEOPLE, truth[:25]), *held, *a, *b]
        assert {way.side for way in a} == {WITHOUT}
        assert len([way for way in b if way.side == WITH]) == 3
        found.extend(answers(column, truth, ways, order))
    return {(r.column, r.question): r for r in rows(pool([found]), rng, partner="insider")}


def test_what_own_columns_tell_is_no_leak_and_what_messages_tell_is() -> None:
    found = table(1)
    assert found["own", "which fifth"].without > 0.7 * PEOPLE
    assert found["own", "which fifth"].low <= 0.0
    assert found["message", "which fifth"].low > 0.5
    assert found["level", "exactly"].low > 0.5
    assert found["level", "who is 0"].leak > 0.5
    assert found["noise", "which fifth"].low <= 0.0
    assert min(row.chance for row in found.values()) == 0.001


def test_messages_of_somebody_else_tell_nothing() -> None:
    found = [table(seed, exchanged=True) for seed in range(10, 14)]
    assert sum(min(row.chance for row in t.values()) <= 0.05 for t in found) <= 1
    assert max(row.lowest for t in found for row in t.values()) <= 0.02


def test_the_control_is_also_trained_on_exchanged_messages() -> None:
    """A column is own + message. Whoever is trained on true messages is misled by others': r = .5, not .7."""
    rng = np.random.default_rng(8)
    own, messages = rng.normal(size=(2, 1200, 1))
    truth = own + messages
    records = Records(own[:600], messages[:600], truth[:600])
    control = rng.permutation(messages[600:])
    column = [describe("x", truth[:, 0])]
    (ways,) = learn(column, records, own[600:], messages[600:], control, rng)
    follows = {way.name: np.corrcoef(way.guess, truth[600:, 0])[0, 1] for way in ways}
    assert follows["ridge, messages"] > 0.999
    assert 0.4 < follows["ridge, exchanged messages"] < 0.6
    assert follows["ridge, exchanged messages, also in training"] > 0.65


def test_the_nearest_record_gives_its_value_to_the_last_digit() -> None:
    own, messages, passive, columns = world(2)
    records = Records(own, messages, passive)
    ways = learn_alone(columns, records, own, np.random.default_rng(0))
    for of_column, truth in zip(ways, passive.T, strict=True):
        (nearest,) = [way for way in of_column if way.name.startswith("nearest record")]
        np.testing.assert_array_equal(nearest.guess, truth)


def test_a_forest_sees_a_product_of_two_own_columns_among_many_columns() -> None:
    """One forest for thirty columns at once does not (its R2 is .1): it splits where most columns gain."""
    rng = np.random.default_rng(3)
    own, passive = rng.normal(size=(900, 4)), rng.normal(size=(900, 30))
    passive[:, 0] = own[:, 0] * own[:, 1]
    columns = [describe(str(i), values) for i, values in enumerate(passive.T)]
    records = Records(own[:700], np.empty((700, 0)), passive[:700])
    ways = learn_alone(columns, records, own[700:], rng)[0]
    (forest,) = [way for way in ways if way.name.startswith("forest")]
    assert np.corrcoef(forest.guess, passive[700:, 0])[0, 1] ** 2 > 0.6


def test_the_same_stream_gives_the_same_guesses() -> None:
    own, messages, passive, columns = world(4)
    records = Records(own, messages, passive)
    twice = [
        learn(columns, records, own, messages, messages[::-1], np.random.default_rng(5))
        for _ in range(2)
    ]
    for a, b in zip(*twice, strict=True):
        for one, other in zip(a, b, strict=True):
            np.testing.assert_array_equal(one.guess, other.guess)


def test_records_that_do_not_fit_are_refused() -> None:
    own, messages, passive, columns = world(5)
    with pytest.raises(UsageError, match="at least 2 people x 4 columns"):
        learn_alone(columns, Records(own, messages, passive[:, :2]), own, np.random.default_rng(0))


def test_own_columns_stand_for_the_column_as_they_are_and_mapped() -> None:
    column = describe("x", np.array([10.0, 20.0]))
    ways = {way.name: way.guess for way in own_columns(column, {"age": np.array([0.0, 1.0, 4.0])})}
    np.testing.assert_allclose(ways["age"], [0, 1, 4])
    np.testing.assert_allclose(ways["age, rising"], [10, 12.5, 20])
    np.testing.assert_allclose(ways["age, falling"], [20, 17.5, 10])
    wider = own_columns(column, {"age": np.array([0.0, 4.0])}, {"age": (0.0, 8.0)})
    np.testing.assert_allclose(wider[1].guess, [10, 15])
    assert len(own_columns(column, {"same": np.ones(3)})) == 1


def test_one_value_for_everybody() -> None:
    column = describe("x", np.arange(101.0))
    values = [way.guess[0] for way in one_value(column, 3)]
    assert values == pytest.approx([10, 30, 50, 70, 90])
    with_records = one_value(column, 3, np.arange(11.0))
    assert [way.guess[0] for way in with_records][5:] == pytest.approx([1, 3, 5, 7, 9])
    level = describe("x", np.repeat([0.0, 1.0, 2.0], [50, 45, 5]), kind=CATEGORY)
    assert [way.guess[0] for way in one_value(level, 3)] == [0, 1]
    assert isinstance(one_value(level, 3)[0], Way)
