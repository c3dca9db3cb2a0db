"""Additive secret sharing modulo 2**64: a value is the sum of shares, each uniform by itself.

Real numbers become 64-bit integers by fixed point. A sum of shares wraps around modulo
2**64; the sum of the values must not, so a value that leaves no room for as many others is
refused before it is shared.
"""

from __future__ import annotations

import secrets
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from whatleaks.arrays import Floats, sealed
from whatleaks.crypto.fixed_point import FixedPoint
from whatleaks.errors import CryptoError

Shares: TypeAlias = npt.NDArray[np.uint64]

FRACTION = 40


def numbers_for(parties: int) -> FixedPoint:
    """Return the fixed point in which a sum of ``parties`` values fits 63 bits and a sign."""
    if parties < 2:
        raise CryptoError(f"sharing needs at least 2 parties, got {parties}")
    return FixedPoint(whole=63 - FRACTION - (parties - 1).bit_length(), fraction=FRACTION)


def share(values: Floats, parties: int) -> Shares:
    """Split a vector into one row of shares per party."""
    encoded = numbers_for(parties).encode(values).astype(np.int64).astype(np.uint64)
    shape = (parties - 1, len(values))
    drawn = np.frombuffer(secrets.token_bytes(8 * shape[0] * shape[1]), dtype=np.uint64)
    rest = drawn.reshape(shape)
    last = encoded - rest.sum(axis=0, dtype=np.uint64)  # modulo 2**64
    return np.concatenate([rest, last[None]])


def combine(shares: Shares, parties: int) -> Floats:
    """Add rows of shares modulo 2**64 and return the real numbers of the sum."""
    total = shares.sum(axis=0, dtype=np.uint64).astype(np.int64)
    numbers = numbers_for(parties)
    return sealed(numbers.decode(total.astype(object), numbers.fraction))


def to_halves(shares: Shares) -> Floats:
    """Write 64-bit integers as rows of two 32-bit numbers, which doubles hold exactly."""
    low = shares & np.uint64(0xFFFFFFFF)
    return sealed(np.stack([low, shares >> np.uint64(32)], axis=-1).astype(np.float64))


def from_halves(halves: Floats) -> Shares:
    """Read what ``to_halves`` wrote; anything else is refused."""
    if (halves != np.floor(halves)).any() or (halves < 0).any() or (halves >= 2**32).any():
        raise CryptoError("a share is not made of 32-bit halves: the message is damaged")
    parts = halves.astype(np.uint64)
    whole: Shares = parts[..., 0] | (parts[..., 1] << np.uint64(32))
    return whole
