"""From the answers of trials to who is known: on either side by the way that is right most often."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.stats.questions import Answer, Key
from whatleaks.stats.ways import WITH, WITHOUT


@dataclass(frozen=True)
class Comparison:
    """Who is known without and with joining, one number from 0 to 1 for each person: one question, all trials."""

    column: str
    question: str
    attack: str  # the way that is right most often with joining
    persons: Ints
    without: Floats
    with_: Floats  # ties: as without
    by_joining: Floats  # by the best way with joining, even where one without is better


class Tally:
    """One question over trials: how often each way was right of each person. Trials come one at a time."""

    def __init__(self, column: str, question: str) -> None:
        self.column, self.question = column, question
        self.keys: dict[Key, int] = {}
        self.persons: Ints = np.empty(0, dtype=np.int64)
        self.times: Floats = np.empty(0)
        self.right = np.empty((0, 0), dtype=np.float32)  # keys x persons

    def add(self, answer: Answer) -> None:
        """Add a trial. A way that a trial does not have is right of nobody there."""
        persons, place = np.unique(answer.persons, return_inverse=True)
        order = np.argsort(place, kind="stable")
        right = answer.right[:, order]
        if len(persons) < len(place):
            starts = np.searchsorted(place[order], np.arange(len(persons)))
            right = np.add.reduceat(right, starts, axis=1, dtype=np.float32)
        everybody = np.union1d(self.persons, persons)
        places = [self.keys.setdefault(key, len(self.keys)) for key in answer.keys]
        before, now = np.searchsorted(everybody, self.persons), np.searchsorted(everybody, persons)
        sums = np.zeros((len(self.keys), len(everybody)), dtype=np.float32)
        sums[: len(self.right), before] = self.right
        sums[np.array(places)[:, None], now] += right
        times = np.zeros(len(everybody))
        times[before] = self.times
        times[now] += np.bincount(place)
        self.persons, self.times, self.right = everybody, times, sums

    def comparison(self) -> Comparison:
        """Take the way that is right most often on either side; ties: as without joining."""
        keys = sorted(self.keys, key=lambda key: (key.way, key.reading))
        best: dict[str, tuple[float, Key]] = {}
        shares = np.round((self.right / self.times).mean(axis=1, dtype=np.float64), 9)
        for key in keys:
            share = float(shares[self.keys[key]])
            if key.side not in best or share > best[key.side][0]:
                best[key.side] = share, key
        (o, without), (w, joined) = best[WITHOUT], best.get(WITH, best[WITHOUT])
        with_ = joined if w > o else without
        people = (self.right[self.keys[key]] / self.times for key in (without, with_, joined))
        return Comparison(self.column, self.question, with_.way, self.persons, *people)


def pool(trials: Iterable[Iterable[Answer]]) -> tuple[Comparison, ...]:
    """Pool the trials of one partner, release and defense: all columns, or one column after the other."""
    tallies: dict[tuple[str, str], Tally] = {}
    for answer in (answer for trial in trials for answer in trial):
        name = answer.column, answer.question
        tallies.setdefault(name, Tally(*name)).add(answer)
    return tuple(tally.comparison() for tally in tallies.values())
