"""Masks: a random integer is added under encryption, so that the key holder decrypts noise.

The mask is 40 bits longer than the largest value it hides, so what is decrypted tells
nothing about the value beyond a chance of 2**-40. It is an integer at the ciphertext's own
scale and the sum returns as digits, so taking the mask off again is exact: training with
masks and without gives the same weights, bit for bit.
"""

from __future__ import annotations

import secrets

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.crypto.additive import Encrypted, PublicKey
from whatleaks.crypto.fixed_point import BigInts

HIDING_BITS = 40
_DIGIT = 32  # bits of a digit: exact in a double


def mask(key: PublicKey, encrypted: Encrypted) -> tuple[Encrypted, BigInts]:
    """Return the masked ciphertexts and the mask, which stays with the party that made it."""
    bits = encrypted.bits + HIDING_BITS
    drawn = np.empty(encrypted.count, dtype=object)
    # At least 2**bits of the value: the sum is never negative, so its digits need no sign.
    drawn[:] = [(1 << encrypted.bits) + secrets.randbits(bits) for _ in range(encrypted.count)]
    return key.add_integers(encrypted, drawn, bits + 1), drawn


def digit_count(bits: int) -> int:
    """Return how many digits a masked number of up to ``bits`` bits takes."""
    return -(-bits // _DIGIT)


def to_digits(integers: BigInts, count: int) -> Floats:
    """Write non-negative integers as rows of 32-bit digits, lowest first."""
    shifts = np.array([_DIGIT * i for i in range(count)], dtype=object)
    return sealed(((integers[:, None] >> shifts) & (2**_DIGIT - 1)).astype(np.float64))


def from_digits(digits: Floats) -> BigInts:
    """Read integers from rows of digits."""
    powers = np.array([1 << _DIGIT * i for i in range(digits.shape[1])], dtype=object)
    integers: BigInts = (np.frompyfunc(int, 1, 1)(digits) * powers).sum(axis=1)
    return integers
