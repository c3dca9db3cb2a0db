"""The measure gives what a slow plain text of the same equations gives, to the last digit."""

from __future__ import annotations

import numpy as np
import pytest

from plain_measure import judge, known_people
from whatleaks.stats.columns import CATEGORY, Column, describe
from whatleaks.stats.pool import pool
from whatleaks.stats.questions import People, answers, shuffle
from whatleaks.stats.rows import rows
from whatleaks.stats.ways import WITH, WITHOUT, Way

PEOPLE = 36


def ways_to(rng: np.random.Generator, truth: np.ndarray, column: Column) -> list[Way]:
    """Draw ways of every kind: close, tied, constant, a bare message, and with a ranking of their own."""
    n = len(truth)
    wide = (n, len(column.codes)) if column.kind == CATEGORY else n
    close = np.where(rng.random(n) < 0.6, truth, rng.permutation(truth))
    return [
        Way("constant", WITHOUT, np.full(n, truth[0])),
        Way("noisy", WITHOUT, truth + truth.std() * rng.normal(size=n)),
        Way("tied", WITHOUT, np.round(rng.normal(size=n))),
        Way("solved", WITHOUT, rng.permutation(close)),
        Way("solved", WITH, close),
        Way("message", WITH, -3 * truth + rng.normal(size=n)),
        Way("far", WITH, np.abs(truth - np.median(truth)), ranking=rng.normal(size=wide)),
    ]


def drawn(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    values = {
        "normal": rng.normal(size=n),
        "whole": rng.poisson(2.0, n).astype(float),
        "lognormal": np.exp(2 * rng.normal(size=n)),
        "mostly zero": np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
        "levels": rng.choice(5, n, p=[0.45, 0.3, 0.13, 0.06, 0.06]).astype(float),
        "yes or no": (rng.random(n) < 0.08).astype(float),
    }
    return values[kind]


def described(kind: str, rng: np.random.Generator) -> Column:
    return describe(
        "column",
        drawn(kind, rng, 400),
        kind=CATEGORY if kind in ("levels", "yes or no") else "number",
        digits=0 if kind == "whole" else None,
    )


@pytest.mark.parametrize(
    "kind", ["normal", "whole", "lognormal", "mostly zero", "levels", "yes or no"]
)
def test_one_trial_of_single_rows(kind: str) -> None:
    rng = np.random.default_rng(4)
    column = described(kind, rng)
    truth = drawn(kind, rng, PEOPLE)
    ways = ways_to(rng, truth, column)
    people = shuffle(np.arange(100, 100 + PEOPLE), rng)
    comparisons = pool([answers(column, truth, ways, people)])
    order = people.order
    moved = [
        Way(w.name, w.side, w.guess[order], None if w.ranking is None else w.ranking[order])
        for w in ways
    ]
    plain = known_people(
        column, [(list(truth[order]), moved, [int(p) for p in people.persons[order]])]
    )
    assert {c.question for c in comparisons} == set(plain)
    for comparison in comparisons:
        without, with_, joined = plain[comparison.question]
        assert dict(zip(comparison.persons.tolist(), comparison.without, strict=True)) == without
        assert dict(zip(comparison.persons.tolist(), comparison.with_, strict=True)) == with_
        assert dict(zip(comparison.persons.tolist(), comparison.by_joining, strict=True)) == joined
    if kind not in ("normal", "levels"):
        return
    table = rows(comparisons, np.random.default_rng(5), partner="stranger")
    judged = judge(plain, np.random.default_rng(5))
    assert {row.question for row in table if row.counts} == set(judged)
    for row in table:
        if row.counts:
            ends = (row.leak, row.low, row.high, row.chance, row.lowest, row.highest)
            np.testing.assert_allclose(ends, judged[row.question], atol=1e-12)


@pytest.mark.parametrize("kind", ["normal", "levels"])
def test_several_trials_of_people_with_several_rows(kind: str) -> None:
    """A person counts once, by the mean over rows and trials; the column changes within a person."""
    rng = np.random.default_rng(6)
    column = described(kind, rng)
    trials, parts = [], []
    for _ in range(3):
        persons = rng.choice(np.repeat(np.arange(20), 4), 30, replace=False)
        truth = drawn(kind, rng, 30)
        ways = ways_to(rng, truth, column)
        people = People(persons, np.arange(30))
        parts.append(answers(column, truth, ways, people))
        trials.append((list(truth), ways, persons.tolist()))
    plain = known_people(column, trials)
    for comparison in pool(iter(parts)):
        without, with_, joined = plain[comparison.question]
        assert comparison.persons.tolist() == sorted(without)
        np.testing.assert_allclose(comparison.without, [without[p] for p in sorted(without)])
        np.testing.assert_allclose(comparison.with_, [with_[p] for p in sorted(with_)])
        np.testing.assert_allclose(comparison.by_joining, [joined[p] for p in sorted(joined)])


def test_a_column_that_stays_is_guessed_once_for_each_person() -> None:
    """The lower middle one of a person's guesses for numbers, the commonest for categories."""
    rng = np.random.default_rng(7)
    persons = rng.permutation(np.repeat(np.arange(25), 3))
    for kind in ("whole", "levels"):
        of_person = drawn(kind, rng, 25)
        of_person[:5] = np.arange(5)  # every level is there
        truth = of_person[persons]
        column = describe(
            "column", truth, kind=CATEGORY if kind == "levels" else "number", persons=persons
        )
        assert column.stays
        ways = [Way(w.name, w.side, w.guess) for w in ways_to(rng, truth, column)]
        found = pool([answers(column, truth, ways, People(persons, np.arange(75)))])
        met = list(dict.fromkeys(persons.tolist()))  # people stand as their first rows do
        one_each = []
        for way in ways:
            guesses = [sorted(way.guess[persons == p]) for p in met]
            if kind == "whole":
                one = [g[1] for g in guesses]
            else:
                codes = np.array(column.codes)
                near = [[codes[np.argmin(np.abs(codes - g))] for g in three] for three in guesses]
                one = [max(sorted(set(three)), key=three.count) for three in near]
            one_each.append(Way(way.name, way.side, np.array(one)))
        plain = known_people(column, [([float(of_person[p]) for p in met], one_each, met)])
        for comparison in found:
            if comparison.question.startswith("who is") and kind == "levels":
                continue  # there people are ranked by the mean of the guesses, not by the commonest
            without, with_, joined = plain[comparison.question]
            assert comparison.without.tolist() == [without[p] for p in sorted(without)]
            assert comparison.with_.tolist() == [with_[p] for p in sorted(with_)]
            assert comparison.by_joining.tolist() == [joined[p] for p in sorted(joined)]
