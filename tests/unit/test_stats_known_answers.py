"""Tables of which everybody knows what joining tells: the measure says it."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.errors import UsageError
from whatleaks.stats.columns import CATEGORY, Column, describe
from whatleaks.stats.pool import pool
from whatleaks.stats.questions import answers, shuffle
from whatleaks.stats.rows import Row, rows
from whatleaks.stats.verdict import headline, recommend, word
from whatleaks.stats.ways import WITH, WITHOUT, Way, one_value, own_columns

RNG = np.random.default_rng


def judged(
    column: Column,
    truth: np.ndarray,
    attack: np.ndarray,
    own: dict[str, np.ndarray],
    persons: np.ndarray | None = None,
) -> tuple[Row, ...]:
    """Judge one attack's guess against one value for all, own columns, and the guess of exchanged messages."""
    rng = RNG(0)
    ways = [
        *one_value(column, len(truth)),
        *own_columns(column, own),
        Way("attack", WITHOUT, rng.permutation(attack)),
        Way("attack", WITH, attack),
    ]
    order = shuffle(np.arange(len(truth)) if persons is None else persons, rng)
    return rows(pool([answers(column, truth, ways, order)]), rng, partner="stranger")


def by_question(table: tuple[Row, ...]) -> dict[str, Row]:
    return {row.question: row for row in table}


def test_the_example_that_is_counted_by_hand() -> None:
    """456 people, without joining 171, with it 399: 240 of the 285, and 12 of the others are lost."""
    truth = np.arange(456.0)
    own = np.where(np.arange(456) < 171, truth, -1.0)
    attack = np.where((np.arange(456) >= 12) & (np.arange(456) < 411), truth, -1.0)
    column = describe("income", truth, digits=0)
    ways = [Way("own", WITHOUT, own), Way("attack", WITH, attack)]
    table = rows(
        pool([answers(column, truth, ways, shuffle(np.arange(456), RNG(0)))]),
        RNG(0),
        partner="stranger",
        threat="white-box",
        release="scores",
    )
    row = by_question(table)["exactly"]
    assert (row.people, row.unknown, row.without, row.with_) == (456, 285, 171, 399)
    assert row.leak == pytest.approx(228 / 285)
    assert row.low < row.leak < row.high
    assert (row.attack, row.chance) == ("attack", 0.001)
    record = row.record()
    assert list(record) == [
        *("partner", "threat", "release", "defense", "attack", "column", "question", "people"),
        *("unknown", "without", "with", "leak", "low", "high", "chance"),
    ]
    assert record["with"] == 399


def test_a_copy_is_told_whole() -> None:
    truth = RNG(1).normal(size=200)
    table = judged(describe("x", truth), truth, truth, {"own": RNG(2).normal(size=200)})
    assert all(row.leak == 1.0 for row in table)
    head = headline(table)
    assert head is not None
    assert word(head.row, head.chance) == "nearly all"
    assert head.row.with_ == 200
    assert recommend(table).outcome == "do-not-join"


def test_a_formula_that_is_known_anyway() -> None:
    rng = RNG(3)
    quantity, price = rng.integers(1, 9, 300), rng.integers(1, 50, 300)
    truth = (quantity * price).astype(float)
    column = describe("total", truth, digits=0)
    own = {"quantity": quantity.astype(float), "price": price.astype(float)}
    named = by_question(judged(column, truth, truth, own | {"quantity * price": truth}))
    assert all(row.leak == 0.0 and not row.counts for row in named.values())
    assert word(named["exactly"], 1.0) == "known anyway"
    assert headline(tuple(named.values())) is None
    assert recommend(tuple(named.values())).outcome == "join"
    unnamed = by_question(judged(column, truth, truth, own))
    assert unnamed["exactly"].leak == 1.0


def test_exceptions_to_a_declared_value() -> None:
    """What was declared is right of all but eight; eight of eight of these are found, and nobody else."""
    rng = RNG(4)
    truth = (rng.random(1200) < 0.3).astype(float)
    own = truth.copy()
    other = rng.choice(np.flatnonzero(truth == 1), 8, replace=False)
    own[other] = 0.0
    column = describe("ill", truth, kind=CATEGORY)
    table = judged(column, truth, truth, {"declared": own})
    row = by_question(table)["exactly"]
    assert (row.unknown, row.with_ - row.without, row.leak) == (8, 8, 1.0)
    head = headline(table)
    assert head is not None
    assert head.found
    assert recommend(table).outcome == "do-not-join"


def test_an_even_function_tells_who_is_unusual() -> None:
    """The message is how far the column is from its middle: no value, no fifth, but everybody unusual."""
    rng = RNG(5)
    truth = rng.normal(size=400)
    table = by_question(judged(describe("x", truth), truth, np.abs(truth - np.median(truth)), {}))
    for part in ("tenth", "fifth", "three tenths"):
        assert table[f"who is in the unusual {part}"].leak > 0.9
    assert table["which fifth"].leak < 0.5


def test_the_same_even_function_falling() -> None:
    truth = RNG(6).normal(size=400)
    table = by_question(judged(describe("x", truth), truth, -np.abs(truth - np.median(truth)), {}))
    assert table["who is in the unusual fifth"].leak > 0.9


@pytest.mark.parametrize("tail", ["lognormal", "Cauchy"])
def test_heavy_tails_do_not_hide_what_is_told(tail: str) -> None:
    """Half of the people are told to a thousandth; squared errors would see the largest values only."""
    rng = RNG(7)
    truth = np.exp(2 * rng.normal(size=600)) if tail == "lognormal" else rng.standard_cauchy(600)
    small = np.abs(truth) < np.quantile(np.abs(truth), 0.6)
    attack = np.where(small, truth * 1.000001, rng.permutation(truth))
    table = judged(describe("x", truth), truth, attack, {})
    row = by_question(table)[next(r.question for r in table if r.question.startswith("within"))]
    assert row.with_ >= 355
    head = headline(table)
    assert head is not None
    assert head.found
    assert head.row.leak > 0.4


def test_one_rare_yes() -> None:
    """One person of 300 is too few for any leak, whatever is told of this one."""
    truth = np.zeros(300)
    truth[17] = 1.0
    column = describe("ill", truth, kind=CATEGORY)
    table = judged(column, truth, truth, {})
    assert [row.question for row in table] == ["exactly"]
    assert not table[0].counts
    assert word(table[0], 1.0) == "known anyway"


def test_six_rare_yes_are_named() -> None:
    truth = np.zeros(300)
    truth[::50] = 1.0
    table = by_question(judged(describe("ill", truth, kind=CATEGORY), truth, truth, {}))
    assert table["who is 1"].people == 6
    assert table["who is 1"].leak == 1.0
    assert table["who is 1"].low > 0.3


def test_an_all_equal_column_is_known_anyway() -> None:
    truth = np.full(120, 7.0)
    for kind in ("number", CATEGORY):
        table = judged(describe("x", truth, kind=kind), truth, truth, {})
        assert table
        assert {word(row, 1.0) for row in table} == {"known anyway"}


def test_constant_guesses_tell_nothing_of_a_sorted_table() -> None:
    """Ties go by place: without the one shuffle a file sorted by the column would put everybody right."""
    truth = np.arange(500.0)
    table = judged(describe("x", truth), truth, np.full(500, 250.0), {})
    head = headline(table)
    assert head is not None
    assert word(head.row, head.chance) == "nothing found"
    assert by_question(table)["which fifth"].with_ < 160


def test_nobody_and_one_person_and_five() -> None:
    truth = np.array([3.0, 1.0, 4.0, 1.5, 9.0])
    column = describe("x", RNG(8).normal(size=50))
    alone = judged(column, truth[:1], truth[:1], {})
    assert {word(row, 1.0) for row in alone} == {"too few people"}
    assert recommend(alone).outcome == "not-decided"
    assert recommend(alone).small == ("x",)
    assert recommend(alone).people == 40
    five = by_question(judged(column, truth, truth, {}))
    assert five["exactly"].counts
    assert (five["exactly"].unknown, five["exactly"].leak) == (5, 1.0)
    assert five["exactly"].low < 0.7
    assert rows((), RNG(0), partner="nobody") == ()
    assert recommend(()).outcome == "not-decided"


def test_a_panel_with_persons_and_without() -> None:
    """Six people of whom two are told whole: by rows 40 of 120 are told, by persons two of six."""
    persons = np.repeat(np.arange(6), 20)
    truth = np.array([3.0, 8.0, 1.0, 12.0, 7.0, 20.0])[persons]
    ways = [
        Way("fifty", WITHOUT, np.full(120, 50.0)),
        Way("attack", WITH, np.where(persons < 2, truth, 50.0)),
    ]
    order = shuffle(persons, RNG(0))
    by_person = describe("x", truth, persons=persons)
    (six, *_) = rows(pool([answers(by_person, truth, ways, order)]), RNG(0), partner="stranger")
    assert (six.people, six.unknown, six.with_) == (6, 6, 2)
    order = shuffle(np.arange(120), RNG(0))
    (all_, *_) = rows(
        pool([answers(describe("x", truth), truth, ways, order)]), RNG(0), partner="stranger"
    )
    assert (all_.people, all_.with_) == (120, 40)
    assert six.low < all_.low < all_.high < six.high  # rows are not people
    changing = truth + RNG(9).integers(0, 3, 120)
    assert not describe("x", changing, persons=persons).stays
    with pytest.raises(UsageError, match="changes within a person"):
        answers(by_person, changing, ways, shuffle(persons, RNG(0)))


def test_a_near_copy_is_told_apart_by_its_digits() -> None:
    """Last year's salary is an own column: three digits, one digit and the class are three leaks."""
    rng = RNG(10)
    last = rng.gamma(4, 10_000, 400)
    truth = last * (1 + 0.06 * rng.normal(size=400))
    column = describe("salary", truth)
    closely = list(column.within())[5]
    leaks = []
    for error in (10.0, 900.0, 40_000.0):
        table = judged(column, truth, truth + error * rng.normal(size=400), {"last": last})
        leaks.append(by_question(table)[closely].leak)
    assert leaks[0] == 1.0
    assert 0.15 < leaks[1] < 0.8
    assert leaks[2] < 0.05


def test_what_is_not_a_number_is_refused() -> None:
    truth = RNG(11).normal(size=20)
    column, people = describe("x", truth), shuffle(np.arange(20), RNG(0))
    bad = truth.copy()
    bad[3] = np.nan
    fine = Way("own", WITHOUT, truth)
    for ways, who in (
        ([fine, Way("attack", WITH, bad)], "'attack' must be one number"),
        ([fine, Way("attack", WITH, truth[:5])], "'attack' must be one number"),
        ([fine, Way("attack", WITH, truth, ranking=bad)], "ranking of 'attack'"),
        ([fine, fine], "another name"),
        ([Way("attack", WITH, truth)], "a way without joining"),
        ([fine, Way("attack", "beside", truth)], "'beside'"),
    ):
        with pytest.raises(UsageError, match=who):
            answers(column, truth, ways, people)
    with pytest.raises(UsageError, match="'the column itself'"):
        answers(column, bad, [fine], people)
    with pytest.raises(UsageError, match="must be numbers"):
        describe("x", bad)
    with pytest.raises(UsageError, match="of kind 'date'"):
        describe("x", truth, kind="date")
    levels = describe("x", np.array([0.0, 1.0]), kind=CATEGORY)
    with pytest.raises(UsageError, match="none of its categories"):
        answers(levels, truth, [fine], people)


def test_figures_are_rounded_up_to_two_digits() -> None:
    column = Column("x", "number", 0, 1, step=1.0, spread=471.0)
    assert list(column.within()) == [
        *("exactly", "within 59", "within 30", "within 15", "within 7.4"),
        *("within 3.7", "within 1.9", "within 0.92"),
    ]
    assert list(Column("x", "number", 0, 1, spread=80_000.0).within())[1] == "within 10,000"


@pytest.mark.parametrize("limits", [(10.0, 0.0), (0.0, np.nan), (-np.inf, 1.0)])
def test_limits_that_are_no_range_are_refused(limits: tuple[float, float]) -> None:
    with pytest.raises(UsageError, match="the limits of 'income' must be two numbers, the lower"):
        describe("income", np.arange(10.0), limits=limits)
    assert describe("income", np.ones(3), limits=(1.0, 1.0)).high == 1.0


def test_the_ends_of_a_record_are_shares() -> None:
    """Where joining gains 30 people and loses 29, the lower end of the difference is below 0."""
    truth = np.arange(100.0)
    own = np.where(truth < 30, truth, -1.0)
    attack = np.where((truth >= 29) & (truth < 60), truth, -1.0)
    column = describe("x", truth, digits=0)
    ways = [Way("own", WITHOUT, own), Way("attack", WITH, attack)]
    people = shuffle(np.arange(100), RNG(0))
    table = rows(pool([answers(column, truth, ways, people)]), RNG(0), partner="stranger")
    assert min(row.low for row in table) < 0
    for row in table:
        record = row.record()
        leak, low, high = (float(record[name]) for name in ("leak", "low", "high"))
        assert 0 <= low <= leak <= high <= 1
