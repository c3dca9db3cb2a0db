"""What must hold of the measure on any table: bounds, units, names, useless ways."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.stats.columns import describe
from whatleaks.stats.pool import Comparison, pool
from whatleaks.stats.questions import answers, shuffle
from whatleaks.stats.rows import rows
from whatleaks.stats.ways import WITH, WITHOUT, Way

EXAMPLES = settings(max_examples=25, deadline=None, derandomize=True)


def world(seed: int, n: int, ties: bool) -> tuple[np.ndarray, list[Way]]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n) * 10.0 ** rng.integers(-3, 6)
    if ties:
        truth = np.round(3 * truth / np.abs(truth).max())
    ways = [
        Way(f"way {i}", side, np.where(rng.random(n) < rng.random(), truth, rng.permutation(truth)))
        for i in range(4)
        for side in (WITHOUT, WITH)
    ]
    return truth, ways


def compared(
    truth: np.ndarray, ways: list[Way], persons: np.ndarray | None = None, scale: float = 1.0
) -> tuple[Comparison, ...]:
    column = describe("x", truth * scale)
    ids = np.arange(len(truth)) if persons is None else persons
    scaled = [Way(way.name, way.side, way.guess * scale) for way in ways]
    return pool([answers(column, truth * scale, scaled, shuffle(ids, np.random.default_rng(1)))])


@EXAMPLES
@given(st.integers(0, 10_000), st.integers(6, 80), st.booleans())
def test_a_leak_is_between_nothing_and_all(seed: int, n: int, ties: bool) -> None:
    comparisons = compared(*world(seed, n, ties))
    for row in rows(comparisons, np.random.default_rng(2), partner="somebody"):
        assert 0.0 <= row.leak <= 1.0 + 1e-12
        assert row.low <= row.high
        assert 0.0 <= row.lowest <= row.highest <= 1.0
        assert row.low <= row.leak + 1e-9
        assert row.without <= row.with_ <= row.people
        assert row.unknown == row.people - row.without
        assert 0.001 <= row.chance <= 1.0


@EXAMPLES
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([0.25, 8.0, 1024.0]))
def test_units_and_names_of_people_change_nothing(seed: int, ties: bool, scale: float) -> None:
    truth, ways = world(seed, 60, ties)
    plain = compared(truth, ways)
    names = np.random.default_rng(seed).permutation(1000)[:60]
    for other in (compared(truth, ways, scale=scale), compared(truth, ways, persons=names)):
        for a, b in zip(plain, other, strict=True):
            assert (a.without.sum(), a.with_.sum()) == (b.without.sum(), b.with_.sum())
            assert a.attack == b.attack


@EXAMPLES
@given(st.integers(0, 10_000), st.booleans())
def test_one_more_way_on_both_sides_never_lowers_either(seed: int, ties: bool) -> None:
    truth, ways = world(seed, 60, ties)
    useless = np.random.default_rng(seed + 1).permutation(truth)
    more = [*ways, Way("useless", WITHOUT, useless), Way("useless", WITH, useless)]
    for a, b in zip(compared(truth, ways), compared(truth, more), strict=True):
        assert b.without.sum() >= a.without.sum()
        assert b.with_.sum() >= a.with_.sum()


@EXAMPLES
@given(st.integers(0, 10_000), st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_ways_is_irrelevant(seed: int, ties: bool, random: st.DrawFn) -> None:
    truth, ways = world(seed, 60, ties)
    mixed = list(ways)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    for a, b in zip(compared(truth, ways), compared(truth, mixed), strict=True):
        assert a.attack == b.attack
        np.testing.assert_array_equal(a.without, b.without)
        np.testing.assert_array_equal(a.with_, b.with_)


def test_trials_pool_in_any_order_and_a_way_may_be_absent_from_one() -> None:
    rng = np.random.default_rng(3)
    truth, ways = world(3, 80, ties=False)
    column = describe("x", truth)
    trials = []
    for part in (np.arange(50), np.arange(30, 80), np.arange(10, 60)):
        some = [Way(w.name, w.side, w.guess[part]) for w in ways]
        trials.append(answers(column, truth[part], some, shuffle(part, rng)))
    forth, back = pool(trials), pool(reversed(trials))
    for a, b in zip(forth, back, strict=True):
        np.testing.assert_array_equal(a.without, b.without)
        np.testing.assert_array_equal(a.with_, b.with_)
    fewer = [Way(w.name, w.side, w.guess[:50]) for w in ways if w.name != forth[0].attack]
    again = answers(column, truth[:50], fewer, shuffle(np.arange(50), rng))
    for a, b in zip(forth, pool([again, *trials[1:]]), strict=True):
        assert b.question == a.question
        assert len(b.persons) == len(a.persons)
