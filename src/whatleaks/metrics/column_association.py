"""How far guesses follow each of many columns: ``metrics.association``, all columns at once.

The numbers are those of ``followed`` and ``gained``, column by column; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Bools, Floats
from whatleaks.metrics.association import EXACT, LEVEL

FEWEST = 4  # records: on fewer nothing is said


@dataclass(frozen=True)
class Followed:
    """The squared correlations of a guess with every column, and each record's influence on them."""

    r: Floats
    influence: Floats  # on Fisher's scale; zero where the correlation is exact or there is none
    value: Floats
    low: Floats
    high: Floats
    n: int
    silent: Bools  # columns of which nothing can be said: few records, or nobody differs

    @property
    def exact(self) -> Bools:
        """The columns whose differences are followed to the last digits."""
        return np.asarray(1.0 - self.r * self.r <= EXACT)


def correlations(a: Floats, b: Floats, c: Floats, n: int) -> tuple[Floats, Floats, Bools]:
    """Return every column's correlation from three sums over ``n`` records, its divisor, and where there is one."""
    told = (b > EXACT * EXACT * n) & (c > 0.0) & (n >= FEWEST)
    size = np.sqrt(np.where(told, b * c, 1.0))
    return np.where(told, np.clip(a / size, -1.0, 1.0), 0.0), size, told


def shares(together: Floats, moved: Floats, spread: Floats) -> Floats:
    """Return ``follow(...).value`` alone."""
    a, b, c = together.sum(axis=0), moved.sum(axis=0), spread.sum(axis=0)
    return np.asarray(np.maximum(correlations(a, b, c, len(together))[0], 0.0) ** 2)


def follow(together: Floats, moved: Floats, spread: Floats) -> Followed:
    """Return how far a guess follows every column; the arguments as in ``followed``, a column each."""
    from scipy.special import stdtrit

    n = len(together)
    a, b, c = together.sum(axis=0), moved.sum(axis=0), spread.sum(axis=0)
    r, size, told = correlations(a, b, c, n)
    rest = 1.0 - r * r
    open_ = told & (rest > EXACT)
    share = moved / np.where(told, b, 1.0) + spread / np.where(told, c, 1.0)
    influence = (together / size - 0.5 * r * share) * n
    influence = (influence - influence.mean(axis=0)) / np.where(open_, rest, 1.0)
    influence = np.where(open_, influence, 0.0)
    value = np.maximum(r, 0.0) ** 2
    exact = rest <= EXACT
    low, high = value.copy(), np.where(exact & (r > 0.0), 1.0, value)
    if n >= FEWEST:
        error = np.sqrt(np.square(influence).sum(axis=0) / (n - 1) / n)
        half = float(stdtrit(n - 3, 0.5 + LEVEL / 2)) * error
        z = np.arctanh(np.where(open_, r, 0.0))
        ends = [np.maximum(np.tanh(z + sign * half), 0.0) ** 2 for sign in (-1.0, 1.0)]
        spread_out = open_ & influence.any(axis=0)
        low = np.where(spread_out, np.minimum(ends[0], value), low)
        high = np.where(spread_out, np.maximum(ends[1], value), high)
    silent = (c <= 0.0) | (n < FEWEST)
    return Followed(r, influence, value, low, np.where(silent, 1.0, high), n, silent)


def nothing_followed(records: int, columns: int) -> Followed:
    """Return the rival that follows nothing."""
    none = np.zeros(columns)
    return Followed(none, np.zeros((records, columns)), none, none, none, records, none > 0.0)


@dataclass(frozen=True)
class Gained:
    """How much more of every column one guess follows than another, and the chance of luck."""

    value: Floats
    low: Floats
    high: Floats
    chance: Floats
    n: int


def gain(one: Followed, other: Followed) -> Gained:
    """Return what ``gained`` returns, for every column."""
    from scipy.special import stdtr

    n = one.n
    value = one.value - other.value
    same = (one.r == other.r) & (one.influence == other.influence).all(axis=0)
    same |= one.silent
    both = (one.influence * other.influence).sum(axis=0)
    sizes = np.square(one.influence).sum(axis=0) * np.square(other.influence).sum(axis=0)
    shared = both / np.sqrt(np.where(sizes > 0.0, sizes, 1.0))
    low = joined_ends(one.value - one.low, other.high - other.value, shared)
    high = joined_ends(one.high - one.value, other.value - other.low, shared)
    rival = other.r > 0.0
    apart = one.influence - np.where(rival, other.influence, 0.0)
    error = np.sqrt(np.square(apart).sum(axis=0) / max(n - 1, 1) / n)
    bounded = [np.clip(x, -1.0 + 1e-16, 1.0 - 1e-16) for x in (one.r, np.where(rival, other.r, 0))]
    lead = np.arctanh(bounded[0]) - np.arctanh(bounded[1])
    luck = stdtr(max(n - 3, 1), -lead / np.where(error > 0.0, error, 1.0))
    chance = np.where(one.exact | (error <= 0.0), 0.0, luck)
    chance = np.where(value <= 0.0, 1.0, chance)
    return Gained(
        np.where(same, 0.0, value),
        np.where(same, 0.0, value - low),
        np.where(one.silent, 1.0, np.where(same, 0.0, value + high)),
        np.where(same, 1.0, chance),
        n,
    )


def joined_ends(one: Floats, other: Floats, shared: Floats) -> Floats:
    """Join two intervals' arms into that of a difference, less what both share (Zou 2007, MOVER)."""
    return np.sqrt(np.maximum(one * one + other * other - 2.0 * shared * one * other, 0.0))
