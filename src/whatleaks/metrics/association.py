"""How far guesses follow the differences between people: the squared correlation.

An attack that does not know a column's average may miss every value by the same amount
and still put people in the right order. Whoever knows the average from elsewhere then
knows the values, so an auditor counts the order, not only the hits.
"""

from __future__ import annotations

import math

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.metrics.measurement import Measurement

UNIT = "leakage"
EXACT = 1e-9


def followed(together: Floats, moved: Floats, spread: Floats) -> Measurement:
    """Return the squared correlation of guess and truth with an interval over records.

    The arguments are per record: the product of both deviations from their means, the
    guess's squared deviation, the truth's. A correlation below zero counts as none. The
    interval is the delta method's on Fisher's scale, with each record's own influence, so
    it needs no normal data.
    """
    from scipy.special import stdtrit

    n = len(together)
    a, b, c = (float(part.sum()) for part in (together, moved, spread))
    if n < 4 or b <= EXACT * EXACT * n or c <= 0.0:
        return Measurement(0.0, 0.0, 0.0, n, UNIT, "records")
    r = min(max(a / math.sqrt(b * c), -1.0), 1.0)
    value = max(r, 0.0) ** 2
    rest = 1.0 - r * r
    if rest <= EXACT:
        return Measurement(value, value, 1.0 if r > 0 else value, n, UNIT, "records")
    influence = together / math.sqrt(b * c) - 0.5 * r * (moved / b + spread / c)
    influence = influence * n
    error = float(np.sqrt(np.square(influence - influence.mean()).sum() / (n - 1) / n)) / rest
    half = float(stdtrit(n - 3, 0.975)) * error
    low, high = (max(math.tanh(math.atanh(r) + sign * half), 0.0) ** 2 for sign in (-1.0, 1.0))
    return Measurement(value, min(low, value), max(high, value), n, UNIT, "records")
