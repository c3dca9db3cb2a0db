"""Two-party additive shares of fixed-point numbers modulo 2**256: each share by itself is uniform.

A number is an integer in steps of 2**-48. A product has twice the fraction; each party cuts the
excess off its own share (``cut``). For shares of a number below 2**s that is right but for one
step, except with a chance of 2**(s - 255): nothing is ever sent for it.
"""

from __future__ import annotations

import secrets

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.crypto.fixed_point import BigInts, FixedPoint

BITS = 256
_MODULUS = 1 << BITS
_HALF = 1 << (BITS - 1)


def reduced(integers: BigInts) -> BigInts:
    """Return the integers modulo 2**256."""
    ring: BigInts = integers % _MODULUS
    return ring


def drawn(count: int) -> BigInts:
    """Draw a share that says nothing."""
    share = np.empty(count, dtype=object)
    share[:] = [secrets.randbits(BITS) for _ in range(count)]
    return share


def encoded(values: Floats, numbers: FixedPoint) -> BigInts:
    """Return real numbers as elements of the ring."""
    return reduced(numbers.encode(values))


def cut(share: BigInts, bits: int, first: bool) -> BigInts:
    """Drop the lowest ``bits`` bits of a shared number; exactly one party is the ``first``.

    The second cuts the negative of its share, so that the two halves meet again.
    """
    if first:
        return reduced(share >> bits)
    return reduced(-(reduced(-share) >> bits))


def opened(one: BigInts, other: BigInts, numbers: FixedPoint) -> Floats:
    """Put two shares together and return the real numbers."""
    total = (one + other + _HALF) % _MODULUS - _HALF
    return sealed(numbers.decode(total, numbers.fraction))
