"""How far a guess is from the truth, value by value."""

from __future__ import annotations

from whatleaks.arrays import Floats, sealed


def squared_errors(guess: Floats, truth: Floats) -> Floats:
    """Return the squared error of every value: records x columns (U Eq 10 before its mean)."""
    return sealed((guess - truth) ** 2)


def spread(truth: Floats) -> Floats:
    """Return every value's squared distance from its column's mean.

    The error of whoever knows the average and nothing about anybody: the yardstick of
    leakage. Its mean is the column's variance.
    """
    return sealed((truth - truth.mean(axis=0)) ** 2)
