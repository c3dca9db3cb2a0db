"""The three questions (the value, which fifth, who is unusual): of whom is each way to guess right, in one trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints
from whatleaks.errors import UsageError
from whatleaks.stats.columns import CATEGORY, FEWEST, Column, same_within
from whatleaks.stats.ways import WITH, WITHOUT, Way

TENTHS = {1: "tenth", 2: "fifth", 3: "three tenths"}  # of the people, farthest from the middle


@dataclass(frozen=True)
class People:
    """Whose rows are guessed in a trial, and the order in which ranks are taken.

    The order is drawn once: in a file that is sorted by the column, ties that go by place would
    put everybody right.
    """

    persons: Ints  # of each row; repeats where a person has several
    order: Ints


def shuffle(persons: Ints, rng: np.random.Generator) -> People:
    """Draw the order in which the people of a trial are ranked."""
    return People(np.asarray(persons, dtype=np.int64), rng.permutation(len(persons)))


@dataclass(frozen=True)
class Key:
    """A way to answer: a way to guess, and how the guess is read."""

    way: str
    reading: str
    side: str


@dataclass(frozen=True)
class Answer:
    """One question in one trial: the rows that it is about, and which way is right of which.

    This is what is kept of a trial: one bit for each row and way.
    """

    column: str
    question: str
    persons: Ints  # of each row
    keys: tuple[Key, ...]
    right: Bools  # keys x rows


@dataclass(frozen=True)
class _Guesses:
    """All ways to guess one column, people in the order in which they are ranked."""

    persons: Ints
    truth: Floats
    ways: tuple[Way, ...]
    values: Floats  # ways x people
    scores: Floats  # what people are ranked by, before categories are rounded to codes
    own: dict[int, Floats]  # the ways that rank by themselves: people, or people x codes


def answers(
    column: Column, truth: Floats, ways: Sequence[Way], people: People
) -> tuple[Answer, ...]:
    """Ask all questions about one column of the rows that one trial guesses."""
    truth = np.asarray(truth, dtype=np.float64)
    _check(column, truth, ways, people)
    order, codes = people.order, np.array(column.codes)
    scores = np.stack([way.guess for way in ways]).astype(np.float64)[:, order]
    values = scores
    if column.kind == CATEGORY:  # the nearest code; the digits of a number are its tolerance
        values = codes[np.searchsorted((codes[1:] + codes[:-1]) / 2, scores)]
    guesses = _Guesses(
        persons=people.persons[order],
        truth=truth[order],
        ways=tuple(ways),
        values=values,
        scores=scores,
        own={i: way.ranking[order] for i, way in enumerate(ways) if way.ranking is not None},
    )
    if column.stays:
        guesses = _one_each(column, guesses)
    questions = _categories if column.kind == CATEGORY else _numbers
    return tuple(questions(column, guesses))


def _check(column: Column, truth: Floats, ways: Sequence[Way], people: People) -> None:
    rows = len(people.persons)
    for name, values in [("the column itself", truth), *((way.name, way.guess) for way in ways)]:
        if np.shape(values) != (rows,) or not np.isfinite(values).all():
            raise UsageError(
                f"{column.name!r}: {name!r} must be one number for each of {rows} rows"
            )
    for way in ways:
        wide = (rows, len(column.codes)) if column.kind == CATEGORY else (rows,)
        ranking = np.zeros(wide) if way.ranking is None else way.ranking
        if np.shape(ranking) != wide or not np.isfinite(ranking).all():
            raise UsageError(f"{column.name!r}: the ranking of {way.name!r} must be {wide} numbers")
        if way.side not in (WITHOUT, WITH):
            raise UsageError(f"{way.name!r} is {way.side!r}; a way is {WITHOUT!r} or {WITH!r}")
    names = {(way.name, way.side) for way in ways}
    if not rows or len(names) < len(ways) or WITHOUT not in {side for _, side in names}:
        raise UsageError(
            f"{column.name!r} needs rows, a way without joining, and another name for each way of a side"
        )
    if column.kind == CATEGORY and not np.isin(truth, column.codes).all():
        raise UsageError(f"{column.name!r} has values that are none of its categories")
    if column.stays and not same_within(truth, people.persons):
        raise UsageError(f"{column.name!r} changes within a person, and was said to stay")


def _one_each(column: Column, guesses: _Guesses) -> _Guesses:
    """Make one guess for each person of the guesses for the rows: the (lower) middle one, or the commonest code."""
    _, first, person = np.unique(guesses.persons, return_index=True, return_inverse=True)
    if len(first) == len(person):
        return guesses
    place = np.argsort(np.argsort(first))[person]  # people keep the order of their first rows
    rows = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
    first = np.sort(first)
    middle = [np.sort(guesses.scores[:, own])[:, (len(own) - 1) // 2] for own in rows]
    scores = np.stack(middle, axis=1)
    values = scores
    if column.kind == CATEGORY:
        scores = np.stack([guesses.scores[:, own].mean(axis=1) for own in rows], axis=1)
        votes = [[(guesses.values[:, own] == c).sum(1) for own in rows] for c in column.codes]
        values = np.array(column.codes)[np.argmax(votes, axis=0)].T
    rankings = {i: np.stack([r[own].mean(axis=0) for own in rows]) for i, r in guesses.own.items()}
    return _Guesses(
        guesses.persons[first], guesses.truth[first], guesses.ways, values, scores, rankings
    )


def _numbers(column: Column, guesses: _Guesses) -> Iterator[Answer]:
    truth, values = guesses.truth, guesses.values
    everybody = np.ones(len(truth), dtype=bool)
    errors = np.abs(truth - values)
    for question, tolerance in column.within().items():
        yield _answer(column, question, guesses, everybody, {"": errors <= tolerance})
    rising = ranks(values)
    fifth = np.searchsorted(column.cuts, truth)
    ends = np.bincount(fifth, minlength=5).cumsum()[:-1]
    in_order = np.searchsorted(ends, np.arange(len(truth)), side="right")[rising]
    by_value = np.searchsorted(column.cuts, values)
    readings = {"by value": by_value == fifth, "in order": in_order == fifth}
    yield _answer(column, "which fifth", guesses, everybody, readings)
    places = {
        "far": ranks(-np.abs(values - np.median(values, axis=1, keepdims=True))),
        "high": ranks(-values),
        "low": rising,
    }
    own = {way: ranks(-ranking) for way, ranking in guesses.own.items()}
    farthest = ranks(-np.abs(truth - np.median(truth)))
    for tenths, part in TENTHS.items():
        count = max(FEWEST, tenths * len(truth) // 10)
        who = farthest < count
        readings = {reading: place[:, who] < count for reading, place in places.items()}
        named = {way: place[who] < count for way, place in own.items()}
        yield _answer(column, f"who is in the unusual {part}", guesses, who, readings, named)


def _categories(column: Column, guesses: _Guesses) -> Iterator[Answer]:
    truth, values = guesses.truth, guesses.values
    everybody = np.ones(len(truth), dtype=bool)
    yield _answer(column, "exactly", guesses, everybody, {"": values == truth})
    high, low = (ranks(-guesses.scores), ranks(guesses.scores)) if column.rare else (values, values)
    for code in column.rare:
        who = truth == code
        count = int(who.sum())
        if not count:
            continue
        guessed = ranks(-(values == code).astype(np.int8))
        places = {"as guessed": guessed, "high": high, "low": low}
        readings = {reading: place[:, who] < count for reading, place in places.items()}
        which = column.codes.index(code)
        own = {way: (ranks(-r[:, which]) < count)[who] for way, r in guesses.own.items()}
        yield _answer(column, f"who is {code:g}", guesses, who, readings, own)


def _answer(
    column: Column,
    question: str,
    guesses: _Guesses,
    who: Bools,
    readings: dict[str, Bools],
    own: dict[int, Bools] | None = None,
) -> Answer:
    """Put the readings of all ways below each other, and below these the ways' own rankings."""
    keys = [Key(way.name, reading, way.side) for reading in readings for way in guesses.ways]
    keys += [Key(guesses.ways[i].name, "own ranking", guesses.ways[i].side) for i in own or {}]
    right = np.concatenate([*readings.values(), *(r[None] for r in (own or {}).values())])
    return Answer(column.name, question, guesses.persons[who], tuple(keys), right)


def ranks(scores: Floats) -> Ints:
    """Return each one's place in rising order along the last axis; ties go by place."""
    order = np.argsort(scores, axis=-1, kind="stable")
    places = np.empty_like(order)
    np.put_along_axis(places, order, np.broadcast_to(np.arange(order.shape[-1]), order.shape), -1)
    return places
