"""Several integers in one: ciphertexts have room for hundreds of bits, a sum needs fewer.

Two layouts. A *pair* holds a signed number above a number that is never negative, so that
sums of pairs are pairs of sums: one ciphertext carries a gradient and a Hessian. A *pack*
holds several signed numbers in slots one bit wider than their size.
"""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Ints
from whatleaks.crypto.fixed_point import BigInts
from whatleaks.errors import CryptoError


def paired(high: Ints, low: Ints, shift: int) -> BigInts:
    """Return ``high * 2**shift + low``; ``low`` must lie in 0..2**shift - 1, sums included."""
    pairs: BigInts = high.astype(object) * (1 << shift) + low.astype(object)
    return pairs


def unpaired(pairs: BigInts, shift: int) -> tuple[Ints, Ints]:
    """Return the sums of both halves: floor division leaves a low half that is not negative."""
    low = pairs % (1 << shift)
    return ((pairs - low) // (1 << shift)).astype(np.int64), low.astype(np.int64)


def slots_of(slot_bits: int, plaintext_bits: int) -> int:
    """Say how many slots of ``slot_bits`` bits a plaintext has."""
    return plaintext_bits // slot_bits


def layout(count: int, slots: int) -> Ints:
    """Say which number goes into which slot (row) of which pack (column).

    A last row that is not full repeats the last number; ``unpacked`` drops the copies.
    """
    packs = -(-count // slots)
    rows = -(-count // packs)
    return np.minimum(np.arange(rows * packs), count - 1).reshape(rows, packs)


def surfaced(numbers: BigInts, used: int) -> BigInts:
    """Return the signed numbers in the lowest ``used`` bits, whatever was added above them."""
    half = 1 << (used - 1)
    low: BigInts = (numbers + half) % (2 * half) - half
    return low


def unpacked(packs: BigInts, count: int, width: int) -> BigInts:
    """Return the ``count`` signed numbers of up to ``width`` bits that were packed."""
    slot, half = 1 << (width + 1), 1 << width
    rows = []
    for _ in range(-(-count // len(packs))):
        number = (packs + half) % slot - half
        packs = (packs - number) // slot
        rows.append(number)
    if packs.any():
        raise CryptoError("a packed ciphertext holds more than its slots: it is damaged")
    numbers: BigInts = np.concatenate(rows)[:count]
    return numbers
