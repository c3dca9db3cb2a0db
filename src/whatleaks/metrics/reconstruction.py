"""How far a guess is from the truth, value by value."""

from __future__ import annotations

from whatleaks.arrays import Floats, sealed


def distances(guess: Floats, truth: Floats) -> Floats:
    """Return how far every value is off, with its sign; squared and averaged it is U Eq 10."""
    return sealed(guess - truth)


def apart(truth: Floats) -> Floats:
    """Return every value's distance from its column's mean, with its sign.

    The error of whoever knows the average and nothing about anybody: the yardstick of
    leakage. Its mean square is the column's variance.
    """
    return sealed(truth - truth.mean(axis=0))
