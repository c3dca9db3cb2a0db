"""How often luck alone shows a lead as large: two guesses change places, record by record.

If what is sent tells nothing, an attack and the same attack with other people's messages are two
draws from one urn: each record's pair may change places, and any lead is one of the many that such
changes give. So these are drawn, with the lead in units of its own error (studentised), which is
what keeps a small and steady lead visible beside heavy tails. The error alone does not do: where few
records decide, it is small by luck as often as they agree by luck, and a t distribution is off by a
factor of ten in its tails.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.metrics.association import EXACT
from whatleaks.seeds import Streams

DRAWS = 999
TAIL = 3  # of the draws: with fewer beyond a lead, the t distribution goes on from there
ROUNDING = 1e-10  # of the parts of an error: a smaller one is what rounding left
AT_ONCE = 32  # columns
CLEAR = 1e-6  # a bound below needs no draws
SELDOM, FEWER = 1e-3, 249  # below, that many draws show where the tail begins
FAR = 5.0
MOST = 3000  # records; there 3 in 4,000 were called 1 in 1,000 by the error, 21 in 4,000 at 300
Guess = tuple[Floats, Floats]  # products with the truth's deviations, own squared deviations


@lru_cache(maxsize=2)
def _places(records: int) -> Floats:
    """Return who changes places (1) in every draw; the first row is the table as it is.

    Equal numbers of records share their draws, so equal comparisons have equal chances.
    """
    rng = Streams(0).rng("metrics/swaps")
    return np.concatenate([np.zeros((1, records)), rng.integers(0, 2, (DRAWS, records))])


def chance_by_swaps(one: Guess, other: Guess, spread: Floats, apart: Ints) -> Floats:
    """Return how often luck alone shows a lead of ``one`` as large over ``other``, by column.

    All tables are records x columns, as in ``column_association.follow``. ``apart``: of how many
    people the two say different things; k such pairs have 2**k orders, and no lead is rarer than one
    of them. A rival that says the same of everybody has no places to change, and beyond ``MOST``
    records the error alone is right: 0, nothing is added to what it says.
    """
    chances = np.zeros(spread.shape[1])
    if len(spread) > MOST:
        return chances
    least = EXACT * EXACT * len(spread)
    moves = (one[1].sum(axis=0) > least) & (other[1].sum(axis=0) > least)
    told = np.flatnonzero(moves & (spread.sum(axis=0) > 0.0))
    first, second = ((a[:, told], b[:, told]) for a, b in (one, other))
    likely = np.maximum(_bound(first, second, spread[:, told]), 0.5 ** apart[told])
    chances[told] = likely
    for some, draws in (
        (told[likely > SELDOM], DRAWS),
        (told[(likely <= SELDOM) & (likely > CLEAR)], FEWER),
    ):
        for start in range(0, len(some), AT_ONCE):
            few = some[start : start + AT_ONCE]
            truth = spread[:, few]
            first, second = (_scaled(a[:, few], b[:, few], truth) for a, b in (one, other))
            leads = _leads(first, second, truth / truth.sum(axis=0), draws)
            chances[few] = np.maximum(_chance(leads, len(spread)), 0.5 ** apart[few])
    return chances


def right_by_luck(values: Sequence[Floats]) -> float:
    """Return the chance that guesses with the truth's own values, dealt to people in any order, are all right.

    ``values``: the truth of each seed, whose people change places among themselves. One over the number
    of orders that differ: n! by the factorials of how many share each value.
    """
    from scipy.special import gammaln

    orders = 0.0
    for truth in values:
        _, counts = np.unique(np.rint(truth / EXACT), return_counts=True)
        orders += float(gammaln(len(truth) + 1.0) - gammaln(counts + 1.0).sum())
    return float(np.exp(-orders))


def _bound(one: Guess, other: Guess, spread: Floats) -> Floats:
    """Return a chance that luck does not exceed, without any draw; it is seldom small for few people.

    Of each pair: does the attack's guess lie on the truth's side of the middle, and how far, up to
    ``FAR`` times the median? With signs that are luck, such a sum is beyond x of its own size at most
    1 / (4 P(Z > sqrt 2)) = 3.18 times as often as a normal one (Bentkus and Dzindzalieta 2015).
    """
    from scipy.special import ndtr

    size = np.sqrt(spread)
    first, second = (
        np.where(size > 0.0, a / np.where(size > 0.0, size, 1.0), np.sqrt(b))
        for a, b in (one, other)
    )
    half, middle = (first - second) / 2.0, (first + second) / 2.0
    weight = np.square(half * middle).sum(axis=0)
    slope = (half * half * size * middle).sum(axis=0) / np.where(weight > 0.0, weight, 1.0)
    nearer = half * (size - slope * middle)
    most = FAR * np.median(np.abs(nearer), axis=0)
    nearer = np.clip(nearer, -most, most)
    error = np.sqrt(np.square(nearer).sum(axis=0))
    seen = nearer.sum(axis=0) / np.where(error > 0.0, error, 1.0)
    return np.asarray(np.minimum(ndtr(-seen) / (4.0 * ndtr(-np.sqrt(2.0))), 1.0))


def _scaled(products: Floats, squares: Floats, spread: Floats) -> Guess:
    """Return a guess of size 1 for a truth of size 1: who guesses in smaller steps weighs as much."""
    size = squares.sum(axis=0)
    return products / np.sqrt(size * spread.sum(axis=0)), squares / size


def _chance(leads: Floats, records: int) -> Floats:
    """Return the chance of the first row among all, which are draws of one distribution.

    Who changes places with everybody turns a lead's sign, so its size is compared, and half of
    that counts. Beyond the draws the t distribution goes on from where they end.
    """
    from scipy.special import stdtr, stdtrit

    seen, drawn = leads[0], np.abs(leads[1:])
    beyond = (drawn >= seen * (1.0 - ROUNDING)).sum(axis=0)
    counted = np.where(beyond > 0, (1 + beyond) / (2 * len(leads)), 0.0)
    freedom = max(records - 3, 1)
    end = np.partition(drawn, -TAIL, axis=0)[-TAIL]
    stretch = np.maximum(end / -stdtrit(freedom, TAIL / (2 * len(leads))), 1.0)
    carried = np.where(beyond < TAIL, stdtr(freedom, -seen / stretch), 0.0)
    return np.where(seen > 0.0, np.maximum(counted, carried), 1.0)


def _leads(one: Guess, other: Guess, spread: Floats, draws: int = DRAWS) -> Floats:
    """Return the lead on Fisher's scale over its error in every draw (rows) and column.

    A record's influence is a sum of its product, the guess's square and the truth's, so all sums
    that the error needs are sums over records of things that change places, or stay.
    """
    records, columns = spread.shape
    (x, m), (y, k) = one, other
    moving = [(x, y), (m, k), (x * x, y * y), (m * m, k * k), (x * m, y * k)]
    moving += [(x * spread, y * spread), (m * spread, k * spread), (x * k, y * m)]
    apart = np.concatenate([b - a for a, b in moving], axis=1)
    moved = (_places(records)[: draws + 1] @ apart).reshape(-1, len(moving), columns)
    ones = [a.sum(axis=0) + moved[:, i] for i, (a, _) in enumerate(moving)]
    others = [b.sum(axis=0) - moved[:, i] for i, (_, b) in enumerate(moving)]
    products, squares, truths = ((a * b).sum(axis=0) for a, b in ((x, y), (m, k), (spread, spread)))
    r, p, q, u = _terms(*ones[:2])
    s, v, w, z = _terms(*others[:2])
    (mine, mixed), (theirs, crossed) = (
        _squared(*terms, sums, truths) for terms, sums in (((p, q, u), ones), ((v, w, z), others))
    )
    parts = (
        mine + theirs
    )  # before anything is taken off, so that what rounding leaves is small beside it
    shared = p * (v * products - w * ones[7] - z * ones[5])
    shared -= q * (v * others[7] - w * squares - z * ones[6])
    shared -= u * (v * others[5] - w * others[6] - z * truths)
    error = np.maximum(parts - 2.0 * (mixed + crossed + shared), ROUNDING * parts)
    return np.asarray((np.arctanh(r) - np.arctanh(s)) / np.sqrt(error * records / (records - 1)))


def _terms(together: Floats, moved: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the correlation and what an influence takes of product and squares, on Fisher's scale."""
    moved = np.maximum(moved, ROUNDING)  # all who are guessed apart may have changed places
    r = np.clip(together / np.sqrt(moved), -1.0 + 1e-12, 1.0 - 1e-12)
    rest = 1.0 - r * r
    return r, 1.0 / np.sqrt(moved) / rest, 0.5 * r / moved / rest, 0.5 * r / rest


def _squared(
    p: Floats, q: Floats, u: Floats, sums: list[Floats], truths: Floats
) -> tuple[Floats, Floats]:
    """Return the sum of a guess's squared influences: the squares of its terms, less twice their products."""
    own = p * p * sums[2] + q * q * sums[3] + u * u * truths
    return own, p * q * sums[4] + p * u * sums[5] - q * u * sums[6]
