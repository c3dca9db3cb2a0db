"""How many queries the search for a SecureBoost threshold takes (Li et al., section 5.2)."""

from __future__ import annotations

from fractions import Fraction

from whatleaks.errors import UsageError, argument, positive


def queries_per_node(width: float, epsilon: float, records: int) -> int:
    """Return n_q = ceil(log_{m-1}((UB - LB) / eps)), in exact arithmetic.

    One query of m evenly spaced records leaves one of m - 1 intervals.
    """
    if records < 3:
        raise UsageError(
            f"{argument('per_query')} {records} divides nothing: use at least 3 records in a query"
        )
    positive("width", width)
    positive("epsilon", epsilon)
    left, count = Fraction(str(width)), 0
    while left > Fraction(str(epsilon)):
        left, count = left / (records - 1), count + 1
    return count
