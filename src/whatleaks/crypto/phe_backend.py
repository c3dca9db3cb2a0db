"""The reference backend: Paillier of the ``phe`` library, in Python over gmpy2.

Slow and easy to read; tests hold the fast backend against it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from whatleaks.arrays import Bools, Buckets, Ints
from whatleaks.crypto.fixed_point import BigInts
from whatleaks.errors import CryptoError


class PheCiphers:
    """One Paillier public key of ``phe``; a vector is an object array of encrypted integers."""

    scheme = "phe-paillier"

    def __init__(self, public: Any) -> None:
        from phe import EncryptedNumber

        self._public = public
        self._number = EncryptedNumber
        self.key_bytes = int(public.n).to_bytes((public.n.bit_length() + 7) // 8, "big")
        # The library keeps a third of its range free to notice an overflow; here sizes are
        # counted, and numbers that cover others need all of it.
        self.largest = int(public.n) // 2
        self._cipher_bytes = 2 * len(self.key_bytes)

    def encrypt(self, integers: BigInts) -> Any:
        """Encrypt every element with fresh randomness."""
        return self._raw(integers, None)

    def _raw(self, integers: BigInts, randomness: int | None) -> Any:
        n = self._public.n
        return np.frompyfunc(
            lambda m: self._number(self._public, self._public.raw_encrypt(int(m) % n, randomness)),
            1,
            1,
        )(integers)

    def add(self, left: Any, right: Any) -> Any:
        """Add two vectors."""
        return left + right

    def add_plain(self, vector: Any, integers: BigInts) -> Any:
        """Add plain integers, without randomness: what leaves is re-randomised."""
        return vector + self._raw(integers, 1)

    def matmul_plain(self, matrix: BigInts, vector: Any) -> Any:
        """Multiply a plain matrix by a vector."""
        return (matrix * vector).sum(axis=1)

    def subtract(self, left: Any, right: Any) -> Any:
        """Subtract two vectors."""
        return left - right

    def take(self, vector: Any, places: Ints) -> Any:
        """Return the elements at ``places``."""
        return vector[places]

    def pack(self, vector: Any, places: Ints, bits: int) -> Any:
        """Follow Horner's rule from the highest slot down."""
        packed = vector[places[-1]]
        for part in places[-2::-1]:
            packed = packed * (1 << bits) + vector[part]
        return packed

    def bucket_sums(
        self, vector: Any, buckets: Buckets, count: int, groups: list[Bools]
    ) -> list[Any]:
        """Add every element into its cells, then along the buckets."""
        columns = buckets.shape[1]
        cells = np.arange(columns) * count + buckets
        sums = []
        for group in groups:
            # The number 1 is a ciphertext of zero; it is re-randomised before it leaves.
            table = np.full(columns * count, self._number(self._public, 1, 0), dtype=object)
            np.add.at(table, cells[group].ravel(), np.repeat(vector[group], columns))
            sums.append(np.add.accumulate(table.reshape(columns, count), axis=1).ravel())
        return sums

    def rerandomise(self, vector: Any) -> Any:
        """Add a fresh encryption of zero."""
        return self.add(vector, self.encrypt(np.full(len(vector), 0, dtype=object)))

    def to_bytes(self, vector: Any) -> bytes:
        """Write every ciphertext with the length of n squared."""
        size = self._cipher_bytes
        # be_secure=False: outgoing() has re-randomised already.
        return b"".join(int(c.ciphertext(be_secure=False)).to_bytes(size, "big") for c in vector)

    def from_bytes(self, data: bytes, count: int) -> Any:
        """Read a vector; a wrong length or a number outside n squared is a ``CryptoError``."""
        size = self._cipher_bytes
        if len(data) != count * size:
            raise CryptoError(f"{count} ciphertexts have {count * size} bytes, not {len(data)}")
        integers = [int.from_bytes(data[i : i + size], "big") for i in range(0, len(data), size)]
        if not all(0 < integer < self._public.nsquare for integer in integers):
            raise CryptoError("an encrypted vector is damaged: a ciphertext is out of range")
        product = 1
        for integer in integers:
            product = product * integer % self._public.n
        if math.gcd(product, self._public.n) != 1:
            raise CryptoError("an encrypted vector is damaged: a number has no inverse")
        vector = np.empty(count, dtype=object)
        vector[:] = [self._number(self._public, integer, 0) for integer in integers]
        return vector


def generate(bits: int) -> tuple[PheCiphers, Callable[[Any], BigInts]]:
    """Make a key pair: the public part, and the function that decrypts."""
    from phe import generate_paillier_keypair

    public, secret = generate_paillier_keypair(n_length=bits)

    def decrypt(vector: Any) -> BigInts:
        n = public.n
        raw = [secret.raw_decrypt(number.ciphertext(be_secure=False)) for number in vector]
        integers = np.empty(len(raw), dtype=object)
        integers[:] = [int(m) - n if 2 * m > n else int(m) for m in raw]
        return integers

    return PheCiphers(public), decrypt


def load(bits: int, key_bytes: bytes) -> PheCiphers:
    """Read a public key written as ``key_bytes``."""
    from phe import PaillierPublicKey

    n = int.from_bytes(key_bytes[: bits // 8 + 1], "big")
    if n.bit_length() > bits or len(key_bytes) > bits // 8 or n < 6 or n % 2 == 0:
        raise CryptoError(f"a public key is no odd number of {bits} bits: it is refused")
    return PheCiphers(PaillierPublicKey(n))
