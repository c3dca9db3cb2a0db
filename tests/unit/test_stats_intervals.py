"""Intervals hold and luck is told, on tables that are drawn many times; benchmarks/measure_coverage.py draws more."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.stats.columns import CATEGORY, describe
from whatleaks.stats.pool import Comparison, pool
from whatleaks.stats.questions import answers, shuffle
from whatleaks.stats.rows import FLIPS, intervals, luck, rows
from whatleaks.stats.verdict import headline, recommend
from whatleaks.stats.ways import WITH, WITHOUT, Way, one_value, own_columns


def test_three_of_three_is_no_certainty() -> None:
    ends = intervals(*np.ones((3, 1, 3)), np.random.default_rng(0))
    low, high, lowest, highest = (float(end[0]) for end in ends)
    assert 0.2 < low < 0.4  # the lower quantile of Beta(3, 1) is .29
    assert high == 1.0
    assert low - 0.02 < lowest <= low  # one row: together with none
    assert highest == 1.0


def test_ends_for_all_rows_are_no_nearer_than_those_of_one() -> None:
    rng = np.random.default_rng(5)
    unknown = (rng.random((40, 60)) < rng.random((40, 1))).astype(float)
    gain = unknown * (rng.random((40, 60)) < rng.random((40, 1)))
    low, high, lowest, highest = intervals(gain, gain, unknown, rng)
    assert (lowest <= np.maximum(low, 0)).all()
    assert (highest >= high).all()
    assert (lowest < low - 0.02).any()


def test_a_row_without_any_gain_widens_no_other() -> None:
    gain = np.zeros((2, 80))
    gain[0, :30] = 1.0
    alone = intervals(gain[:1], gain[:1], np.ones((1, 80)), np.random.default_rng(8))
    beside = intervals(gain, gain, np.ones((2, 80)), np.random.default_rng(8))
    assert beside[2][0] > alone[2][0] - 0.02


@pytest.mark.parametrize(
    ("unknown", "told", "many"), [(8, 0.75, 1), (20, 0.1, 1), (8, 0.6, 10), (20, 0.3, 30)]
)
def test_the_ends_of_the_worst_row_hold(unknown: int, told: float, many: int) -> None:
    """By standard errors alone 10 %, 14 % and 16 % of the first three miss."""
    rng, held = np.random.default_rng(6), 0
    rows_ = np.repeat(np.eye(many), unknown, axis=1)
    for _ in range(100):
        gain = rows_ * (rng.random(rows_.shape) < told)
        low, _, lowest, highest = intervals(gain, gain, rows_, rng)
        near = np.flatnonzero(low >= low.max() - 0.05)
        head = near[np.argmax(gain[near].sum(axis=1))]
        held += lowest[head] <= told <= highest[head]
    assert held >= 95


def test_nothing_of_forty_may_still_be_a_few() -> None:
    _, high, *_ = intervals(
        np.zeros((1, 40)), np.zeros((1, 40)), np.ones((1, 40)), np.random.default_rng(0)
    )
    assert 0.05 < high[0] < 0.12  # "rule of three": 3 / 40


def test_where_joining_is_behind_by_chance_its_upper_end_is_not_nothing() -> None:
    """Forty of 100 are known by own columns, 38 others by an attack: no leak, and none ruled out."""
    without, joined = np.zeros((2, 100))
    without[:40] = joined[30:68] = 1.0
    comparison = Comparison("x", "exactly", "own", np.arange(100), without, without, joined)
    (row,) = rows([comparison], np.random.default_rng(0), partner="stranger")
    assert (row.leak, row.low) == (0.0, 0.0)
    assert row.high > 0.15


def test_luck_is_the_share_of_all_signs() -> None:
    """Ten people gained and nobody lost: one of 1,024 ways to draw signs is as large."""
    gain = np.zeros((2, 50))
    gain[0, :10] = 1.0
    gain[1, :10] = np.tile([1.0, -1.0], 5)
    chance = luck(gain, np.random.default_rng(0))
    assert chance[0] <= 5 / (FLIPS + 1)
    assert chance[1] > 0.3


def test_the_more_rows_the_more_luck() -> None:
    """One row of ten people gained against two is nothing among five hundred rows without any gain."""
    rng = np.random.default_rng(1)
    gain = rng.choice([-1.0, 0.0, 1.0], (500, 200), p=[0.05, 0.9, 0.05])
    gain[0] = 0
    gain[0, :12] = [1] * 10 + [-1] * 2
    assert luck(gain[:1], rng)[0] < 0.05
    assert luck(gain, rng)[0] > 0.1


@pytest.mark.parametrize(
    ("share", "told", "people"),
    [(0.3, 0.5, 150), (0.02, 0.5, 600), (0.9, 0.1, 150), (0.5, 0.9, 30)],
)
def test_an_interval_holds(share: float, told: float, people: int) -> None:
    """Of a ``share`` of people who are unknown, ``told`` are told by joining, and one in ten others is lost."""
    rng, held = np.random.default_rng(2), 0
    lost = 0.1 * min(share, 1 - share)
    leak = (share * told - lost * (1 - share)) / share
    for _ in range(150):
        unknown = rng.random(people) < share
        with_ = np.where(unknown, rng.random(people) < told, rng.random(people) >= lost)
        comparison = Comparison(
            "x", "exactly", "attack", np.arange(people), 1.0 - unknown, *[with_.astype(float)] * 2
        )
        (row,) = rows([comparison], rng, partner="stranger")
        held += not row.counts or row.low <= leak <= row.high
    assert held / 150 >= 0.925


def test_people_who_come_twice_are_no_more_people() -> None:
    """The same 40 people in one trial or in five: the interval is as wide."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=40)
    column = describe("x", truth)
    attack = np.where(rng.random(40) < 0.5, truth, 9.0)
    ways = [Way("none", WITHOUT, np.full(40, 9.0)), Way("attack", WITH, attack)]
    one = answers(column, truth, ways, shuffle(np.arange(40), rng))
    (once, *_) = rows(pool([one]), np.random.default_rng(4), partner="stranger")
    (often, *_) = rows(pool([one] * 5), np.random.default_rng(4), partner="stranger")
    assert once == often


def nothing(kind: str, seed: int) -> tuple[float, float]:
    """Draw a table whose messages are somebody else's; return its chance and highest lower end."""
    rng = np.random.default_rng([seed, 9])
    persons = np.repeat(np.arange(30), 5) if kind == "panel" else np.arange(150)
    own, rest = rng.normal(size=(2, persons.max() + 1))[:, persons]
    number = (rng.normal(size=persons.max() + 1) + 0.5 * rng.normal(size=persons.max() + 1))[
        persons
    ]
    yes = (rng.random(150) < 0.1).astype(float)
    number = number + 0.3 * rng.normal(size=150) if kind == "panel" else number
    if kind == "ties":
        number, rest, own = np.round(number), np.round(rest), np.round(own)
    found, order = [], shuffle(persons, rng)
    control = rng.permutation(150)
    for name, truth in (("number", number), ("tail", np.exp(2 * number)), ("yes", yes)):
        column = describe(name, truth, kind=CATEGORY if name == "yes" else "number")
        ways = [*one_value(column, 150), *own_columns(column, {"own": own})]
        for side, message in ((WITH, rest), (WITHOUT, rest[control])):
            ways.append(Way("message", side, message))
            for slope in (-0.2, 0.2):
                share = np.clip(0.5 + slope * (message - own), 0, 1)
                guess = column.low + share * (column.high - column.low)
                ways.append(Way(f"solved {slope}", side, guess))
        found.extend(answers(column, truth, ways, order))
    table = rows(pool([found]), rng, partner="stranger")
    head = headline(table)
    assert head is not None
    assert recommend(table).outcome in ("join", "not-decided") or head.found
    return head.chance, head.low


@pytest.mark.parametrize("kind", ["linear", "ties", "panel"])
def test_nothing_is_found_where_nothing_is_told(kind: str) -> None:
    drawn = [nothing(kind, seed) for seed in range(60)]
    alarms = sum(chance <= 0.05 for chance, _ in drawn)
    assert alarms <= 6  # more are likely only if the rate is above 5 %
    assert sum(low > 0.1 for _, low in drawn) <= 2
