"""How far guesses follow the differences between people: the squared correlation.

An attack that does not know a column's average may miss every value by the same amount
and still put people in the right order. Whoever knows the average from elsewhere then
knows the values, so an auditor counts the order, not only the hits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.metrics.measurement import Measurement

UNIT = "leakage"
EXACT = 1e-9
LEVEL = 0.95


def followed(together: Floats, moved: Floats, spread: Floats) -> Measurement:
    """Return the squared correlation of guess and truth with an interval over records.

    The arguments are per record: the product of both deviations from their means, the
    guess's squared deviation, the truth's. A correlation below zero counts as none. The
    interval is the delta method's on Fisher's scale, with each record's own influence, so
    it needs no normal data.
    """
    return _correlation(together, moved, spread).squared()


def gained(
    one: tuple[Floats, Floats], other: tuple[Floats, Floats], spread: Floats
) -> tuple[Measurement, float]:
    """Return how much more one guess follows than another of the same records, and the chance.

    ``one`` and ``other`` are (together, moved) as in ``followed``. The interval joins those of
    the two squared correlations, less what the guesses share record by record (Zou 2007,
    MOVER). ``chance``: how often luck alone shows a lead as large, by the paired influences
    on Fisher's scale; one-sided.
    """
    from scipy.special import stdtr

    first, second = _correlation(*one, spread), _correlation(*other, spread)
    a, b = first.squared(), second.squared()
    n, value = a.n, a.value - b.value
    if first.silent:
        return Measurement(0.0, 0.0, 1.0, n, UNIT, "records"), 1.0
    if first.same_as(second):
        return Measurement(0.0, 0.0, 0.0, n, UNIT, "records"), 1.0
    shared = first.shared(second)
    low = _joined(a.value - a.low, b.high - b.value, shared)
    high = _joined(a.high - a.value, b.value - b.low, shared)
    found = Measurement(value, value - low, value + high, n, UNIT, "records")
    if value <= 0.0:
        return found, 1.0
    if first.exact:
        return found, 0.0
    rival = second if second.r > 0.0 else _NOTHING
    apart = first.influence if rival is _NOTHING else first.influence - rival.influence
    error = float(np.sqrt(np.square(apart).sum() / (n - 1) / n))
    lead = math.atanh(first.r) - math.atanh(rival.r)
    return found, float(stdtr(n - 3, -lead / error)) if error > 0.0 else 0.0


@dataclass(frozen=True)
class _Correlation:
    """A correlation with each record's influence on it, on Fisher's scale."""

    r: float
    influence: Floats
    n: int
    silent: bool = False  # nothing can be said: few records, or nobody differs

    @property
    def exact(self) -> bool:
        return 1.0 - self.r * self.r <= EXACT

    def squared(self) -> Measurement:
        from scipy.special import stdtrit

        n, r = self.n, self.r
        value = max(r, 0.0) ** 2
        if self.silent:
            return Measurement(0.0, 0.0, 1.0, n, UNIT, "records")
        if self.exact:
            return Measurement(value, value, 1.0 if r > 0 else value, n, UNIT, "records")
        if not self.influence.any():
            return Measurement(value, value, value, n, UNIT, "records")
        error = float(np.sqrt(np.square(self.influence).sum() / (n - 1) / n))
        half = float(stdtrit(n - 3, 0.5 + LEVEL / 2)) * error
        low, high = (max(math.tanh(math.atanh(r) + sign * half), 0.0) ** 2 for sign in (-1.0, 1.0))
        return Measurement(value, min(low, value), max(high, value), n, UNIT, "records")

    def shared(self, other: _Correlation) -> float:
        """Return how closely the two estimates move together, -1 to 1."""
        size = math.sqrt(float(np.square(self.influence).sum() * np.square(other.influence).sum()))
        return float(self.influence @ other.influence) / size if size > 0.0 else 0.0

    def same_as(self, other: _Correlation) -> bool:
        return self.r == other.r and np.array_equal(self.influence, other.influence)


_NOTHING = _Correlation(0.0, np.zeros(1), 0)


def _correlation(together: Floats, moved: Floats, spread: Floats) -> _Correlation:
    n = len(together)
    a, b, c = (float(part.sum()) for part in (together, moved, spread))
    if n < 4 or c <= 0.0:
        return _Correlation(0.0, np.zeros(n), n, silent=True)
    if b <= EXACT * EXACT * n:
        return _Correlation(0.0, np.zeros(n), n)
    r = min(max(a / math.sqrt(b * c), -1.0), 1.0)
    rest = 1.0 - r * r
    if rest <= EXACT:
        return _Correlation(r, np.zeros(n), n)
    influence = together / math.sqrt(b * c) - 0.5 * r * (moved / b + spread / c)
    influence = influence * n
    return _Correlation(r, (influence - influence.mean()) / rest, n)


def _joined(one: float, other: float, shared: float) -> float:
    return math.sqrt(max(one * one + other * other - 2.0 * shared * one * other, 0.0))
