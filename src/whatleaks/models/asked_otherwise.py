"""Asking about the same record again with another own part, and what the answers tell together.

Where parties' outputs are added up, nothing ties what the active party sends to its columns. It
may add any shift to its own part and see which class wins: the shift at which two classes are in
balance is their log-odds. Every answer halves what is open, however coarse the release is. Under
noise halving would go astray; there answers near the balance are averaged instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Bools, Floats
from whatleaks.codec import travels
from whatleaks.models.additive import adjacent_differences

# About every record, where nothing else is said: the log-odds are a double of 53 bits, and a few
# questions are needed to come near.
QUESTIONS = 60
HONEST = 2  # the first ones shift nothing: whether both answers agree tells whether there is noise
FIRST = 8.0  # log-odds that the first step away from the honest question goes
NARROW = 2.0  # log-odds within which noisy answers are averaged
FAR = 1e4  # log-odds by which classes that a question is not about are put out of it
DEVIATIONS = 4.0  # of the average, to either side, that averaged answers leave open


@travels
@dataclass(frozen=True)
class OtherAnswers:
    """What was added to the own part (questions x records x outputs), and what was released."""

    shifts: Floats
    answers: Floats


class Questioner:
    """Chooses the next shift of every record and keeps what the answers tell so far.

    With more than two classes questions go round the pairs of adjacent ones. What is told is
    each pair's log-odds had nothing been shifted: between ``low`` and ``high`` (records x pairs).
    """

    def __init__(self, records: int, classes: int) -> None:
        self._outputs = 1 if classes == 2 else classes
        self._first: Floats | None = None
        self._count, self._noisy = 0, False
        shape = (records, classes - 1)
        self._low, self._high = np.full(shape, -np.inf), np.full(shape, np.inf)
        self._mean, self._squares, self._averaged = (np.zeros(shape) for _ in range(3))
        self._tied = np.zeros(shape, dtype=np.bool_)

    @property
    def _pair(self) -> int:
        """Which pair the next question is about."""
        return self._count % self._low.shape[1]

    def shift(self) -> Floats:
        """Return what the next question adds to the own part of every record."""
        records, pair = len(self._low), self._pair
        if self._count < HONEST:
            return np.zeros((records, self._outputs))
        point = self._point()[:, pair]
        if self._outputs == 1:
            return -point[:, None]
        shift = np.full((records, self._outputs), -FAR)
        shift[:, pair], shift[:, pair + 1] = 0.0, -point
        return shift

    def hear(self, shift: Floats, answer: Floats) -> None:
        """Take in the answer to a question."""
        honest = self._count < HONEST
        if self._first is None:
            self._first = answer
        self._noisy |= honest and not np.array_equal(answer, self._first)
        pairs = slice(None) if honest else slice(self._pair, self._pair + 1)
        self._count += 1
        if honest and self._noisy and answer.shape[1] > 2:
            return  # of classes that are both unlikely noise says which is likelier
        offered = -adjacent_differences(shift)[:, pairs]
        less, more = answer[:, :-1][:, pairs], answer[:, 1:][:, pairs]
        near = self._near()[:, pairs]
        self._average(pairs, near, less, more)
        up, down = ~near & (more > less), ~near & (more < less)
        low, high = self._low[:, pairs], self._high[:, pairs]  # written through
        low[up] = np.maximum(low, offered)[up]
        high[down] = np.minimum(high, offered)[down]
        self._tied[:, pairs] = more == less

    def told(self) -> tuple[Floats, Floats]:
        """Return between which log-odds every pair lies."""
        count = np.maximum(self._averaged, 1.0)
        reach = DEVIATIONS * np.sqrt(self._squares) / count
        low = np.where(self._averaged > 0, self._mean - reach, self._low)
        return low, np.where(self._averaged > 0, self._mean + reach, self._high)

    def _near(self) -> Bools:
        """Say where answers are averaged from now on."""
        return np.asarray(self._noisy & (self._high - self._low <= NARROW))

    def _point(self) -> Floats:
        """Return the log-odds to be tried next: further out, in the middle, or at the average."""
        low, high = self._low, self._high
        with np.errstate(invalid="ignore"):
            # A rounded score may be in balance to all its digits: then the border is sought beside.
            middle = low + np.where(self._tied, 0.25, 0.5) * (high - low)
            middle = np.where(self._averaged > 0, self._mean, middle)
            out = np.where(np.isinf(high), low + np.maximum(FIRST, low), middle)
            out = np.where(np.isinf(low), high - np.maximum(FIRST, -high), out)
        return np.where(np.isinf(low) & np.isinf(high), 0.0, out)

    def _average(self, pairs: slice, near: Bools, less: Floats, more: Floats) -> None:
        """Step from the point asked about by what the answer says: its slope there is 1/4.

        Steps of 1/n (Robbins and Monro) make the last point the average of all readings.
        """
        both = less + more
        share = np.where(both > 0.0, more / np.where(both > 0.0, both, 1.0), 0.5)
        reading = 4.0 * (share - 0.5)
        asked = self._point()[:, pairs]
        counted, squares, mean = (
            kept[:, pairs] for kept in (self._averaged, self._squares, self._mean)
        )
        counted[near] += 1.0
        squares[near] += reading[near] ** 2
        mean[near] = (asked + reading / np.maximum(counted, 1.0))[near]


def log_odds(asked: OtherAnswers) -> tuple[Floats, Floats]:
    """Return between which log-odds all answers place each pair of adjacent classes.

    Whoever gets the first answer again, whatever it asks, has been told one answer.
    """
    answers, shifts = asked.answers, asked.shifts
    reader = Questioner(answers.shape[1], answers.shape[2])
    repeated = len(answers) > HONEST and bool((answers == answers[0]).all())
    heard = HONEST if repeated else len(answers)
    for shift, answer in zip(shifts[:heard], answers[:heard], strict=True):
        reader.hear(shift, answer)
    return reader.told()
