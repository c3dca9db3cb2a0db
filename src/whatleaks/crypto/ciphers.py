"""Additive encryption of vectors of integers: Paillier and Okamoto-Uchiyama, on python-flint.

Both multiply numbers modulo a product of secret primes, so that a product of ciphertexts is a
ciphertext of the sum. A vector is a numpy array of such numbers (``fmpz_mod``); nobody outside
looks into it. Running times depend on the values: whoever can time a party closely learns more
than its messages tell.

Randomness. A ciphertext is hidden by a random n-th power, ``r ** n``. Raising to the power of n
takes 8 ms at 2,048 bits, so random n-th powers are products of powers of a few (``Powers``).

* *Fresh ciphertexts*, and sums for a party without the secret key, hide their content from whoever
  cannot factor n. They use one base and a short exponent, after Damgard, Jurik and Nielsen ("A
  generalization of Paillier's public-key system", 2010, 4.2). Assumed: without the factors,
  ``h ** x`` with a short x looks like a random n-th power. Theirs has half the bits of n; here x
  has four times the bits of strength that factoring n has (112 at 2,048 bits, 128 at 3,072). All
  known searches for x take the square root of the number of candidates: 2 ** 224 steps, where
  factoring takes 2 ** 112.
* *Sums for the key's owner*, who knows the factors, must not tell what was added. Nothing is
  assumed, but there must be many bases: B of them all lie in a subgroup of index r, and show there
  in which part the sum was, with a chance of r ** -B. Modulo two primes there are three subgroups
  of index 2 (numbers that are squares modulo p, modulo q, or both or neither): 3 * 2 ** -B, and B
  is 72 or more. Characters of an order r below 2 ** e, where e is the bits of one exponent, see
  no more than about their number times r ** -B; for longer orders all exponents together have 128
  bits more than the group (leftover hash lemma). On average over the bases a product is so within
  2 ** -64 of a uniform one; k sums under the same bases are within k * 2 ** -64.
  The limit: an owner who makes n of k primes gets 2 ** k subgroups of index 2, and a chance of
  about 2 ** (k - B) to read one mark. How many primes n has cannot be seen from outside.

A key brings no bases: one from its owner could have a trapdoor. Whoever uses the key draws them.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from flint import fmpz, fmpz_mod_ctx

from whatleaks.arrays import Bools, Buckets, Ints
from whatleaks.crypto.fixed_point import BigInts
from whatleaks.crypto.modular import WINDOW, Powers, power_products, quotients
from whatleaks.errors import CryptoError

Decrypt = Callable[[Any], BigInts]

_FEWEST_BASES, _MARGIN = 72, 128
_SMALL_PRIMES = fmpz.primorial_ui(fmpz(2000))


class Ciphers(ABC):
    """What one public key can do. It holds no secret."""

    scheme: ClassVar[str]

    def __init__(self, n: fmpz, modulus: fmpz, group_bits: int, largest: int) -> None:
        self._n = n
        self._bits = int(n).bit_length()
        self._ring = fmpz_mod_ctx(modulus)
        self._modulus = int(modulus)
        self._group_bits = group_bits
        self._cipher_bytes = -(-self._modulus.bit_length() // 8)
        # Integers from minus this to this decrypt to themselves.
        self.largest = largest

    @property
    @abstractmethod
    def key_bytes(self) -> bytes:
        """The public key; its length depends on the scheme and the number of bits only."""

    @abstractmethod
    def _plain(self, integers: BigInts) -> Any:
        """Return ciphertexts of plain integers without randomness."""

    def encrypt(self, integers: BigInts) -> Any:
        """Encrypt a vector with fresh randomness."""
        return self._plain(integers) * self._array(self._short.random() for _ in integers)

    def rerandomise(self, vector: Any, to_owner: bool = True) -> Any:
        """Give the same plain vector new randomness: one for the key's owner, or for others."""
        powers = self._full if to_owner else self._short
        return vector * self._array(powers.random() for _ in vector)

    def add(self, left: Any, right: Any) -> Any:
        """Add two vectors."""
        return left * right

    def add_plain(self, vector: Any, integers: BigInts) -> Any:
        """Add plain integers, without randomness: what leaves is re-randomised."""
        return vector * self._plain(integers)

    def subtract(self, left: Any, right: Any) -> Any:
        """Subtract two vectors."""
        return self._array(quotients(left, right))

    def matmul_plain(self, matrix: BigInts, vector: Any) -> Any:
        """Multiply a plain matrix by a vector."""
        return self._array(power_products(vector, matrix))

    def take(self, vector: Any, places: Ints) -> Any:
        """Return the elements at ``places``, in that order."""
        return vector[places]

    def pack(self, vector: Any, places: Ints, bits: int) -> Any:
        """Return for every column of ``places`` the sum of ``2**(bits * r) * vector[places[r]]``.

        Horner's rule, from the highest row down.
        """
        packed = vector[places[-1]]
        for part in places[-2::-1]:
            packed = packed ** (1 << bits) * vector[part]
        return packed

    def bucket_sums(
        self, vector: Any, buckets: Buckets, count: int, groups: list[Bools]
    ) -> list[Any]:
        """Sum the elements of each group by bucket, cumulatively along the buckets.

        ``buckets[i, c]`` says into which of ``count`` buckets element i falls in column c.
        A group's result holds ``columns * count`` elements, column after column.
        """
        columns = buckets.shape[1]
        cells = np.arange(columns) * count + buckets
        sums = []
        for group in groups:
            # The number 1 is a ciphertext of zero; it is re-randomised before it leaves.
            table = np.full(columns * count, self._ring.one(), dtype=object)
            np.multiply.at(table, cells[group].ravel(), np.repeat(vector[group], columns))
            sums.append(np.multiply.accumulate(table.reshape(columns, count), axis=1).ravel())
        return sums

    def to_bytes(self, vector: Any) -> bytes:
        """Write a vector; the length depends on the key and the number of elements only."""
        return b"".join(int(number).to_bytes(self._cipher_bytes, "big") for number in vector)

    def from_bytes(self, data: bytes, count: int) -> Any:
        """Read a vector of ``count`` elements; anything else is a ``CryptoError``."""
        size = self._cipher_bytes
        if len(data) != count * size:
            raise CryptoError(f"{count} ciphertexts have {count * size} bytes, not {len(data)}")
        numbers = [int.from_bytes(data[i : i + size], "big") for i in range(0, len(data), size)]
        if not all(0 < number < self._modulus for number in numbers):
            raise CryptoError("an encrypted vector is damaged: a ciphertext is out of range")
        vector = self._array(map(self._ring, numbers))
        # A ciphertext has an inverse: one product tells whether all have.
        if not np.multiply.reduce(vector, initial=self._ring.one()).is_unit():
            raise CryptoError("an encrypted vector is damaged: a number has no inverse")
        return vector

    @cached_property
    def _short(self) -> Powers:
        return Powers([self._nth_power()], 448 if self._bits < 3072 else 512)

    @cached_property
    def _full(self) -> Powers:
        # The longest whole windows that leave the fewest bases or more; then as many as are needed.
        total = self._group_bits + _MARGIN
        bits = max(1, total // (WINDOW * _FEWEST_BASES)) * WINDOW
        count = max(_FEWEST_BASES, -(-total // bits))
        return Powers([self._nth_power() for _ in range(count)], bits)

    def _nth_power(self) -> Any:
        return self._ring(1 + secrets.randbelow(int(self._n) - 1)) ** int(self._n)

    @staticmethod
    def _array(numbers: Iterable[Any]) -> Any:
        found = list(numbers)
        vector = np.empty(len(found), dtype=object)
        vector[:] = found
        return vector


class Paillier(Ciphers):
    """Paillier with generator 1 + n: ``(1 + n) ** m * r ** n`` modulo n squared."""

    scheme = "paillier"

    def __init__(self, n: int) -> None:
        super().__init__(fmpz(n), fmpz(n) ** 2, n.bit_length(), n // 2)

    @property
    def key_bytes(self) -> bytes:
        """The modulus n."""
        return int(self._n).to_bytes(self._bits // 8, "big")

    def _plain(self, integers: BigInts) -> Any:
        # (1 + n) ** m = 1 + m n modulo n squared
        return self._array(self._ring(1 + int(m) * self._n) for m in integers)

    @classmethod
    def generate(cls, bits: int) -> tuple[Paillier, Decrypt]:
        """Make a key pair: the public part, and the function that decrypts."""
        return cls.of_primes(_prime(bits // 2), _prime(bits // 2))

    @staticmethod
    def of_primes(p: fmpz, q: fmpz) -> tuple[Paillier, Decrypt]:
        """Make the key pair of two primes."""
        n = p * q
        largest = n // 2
        # Modulo p squared, c ** (p - 1) = 1 + m n (p - 1), in which p n (p - 1) is 0.
        p_factor, q_factor = pow(-q, -1, p), pow(-p, -1, q)
        p_inverse = pow(p, -1, q)

        def one(number: Any) -> int:
            c = fmpz(int(number))
            of_p = (pow(c, p - 1, p * p) - 1) // p * p_factor % p
            of_q = (pow(c, q - 1, q * q) - 1) // q * q_factor % q
            m = of_p + p * ((of_q - of_p) * p_inverse % q)
            return int(m - n if m > largest else m)

        return Paillier(int(n)), _elementwise(one)

    @staticmethod
    def load(bits: int, key: bytes) -> Paillier:
        """Read a public key written as ``key_bytes``."""
        return Paillier(*_numbers(key, bits, 1))


class OkamotoUchiyama(Ciphers):
    """Okamoto-Uchiyama: ``g ** m * r ** n`` modulo n = p * p * q.

    A number above p / 2 comes back less a multiple of p: whoever sees decrypted numbers of that
    size learns the secret key. So ``largest`` is below every p of this key length.
    """

    scheme = "okamoto-uchiyama"

    def __init__(self, n: int, g: int) -> None:
        bits = n.bit_length()
        self._third = -(-bits // 3)
        super().__init__(fmpz(n), fmpz(n), bits - self._third, 1 << self._third)
        self._g = g

    @property
    def key_bytes(self) -> bytes:
        """The modulus n and the generator g."""
        size = self._bits // 8
        return int(self._n).to_bytes(size, "big") + self._g.to_bytes(size, "big")

    @cached_property
    def _generator(self) -> Powers:
        return Powers([self._ring(self._g)], self._third + 1)

    def _plain(self, integers: BigInts) -> Any:
        power = self._generator.power
        return self._array(power(int(m)) if m >= 0 else power(-int(m)).inverse() for m in integers)

    @classmethod
    def generate(cls, bits: int) -> tuple[OkamotoUchiyama, Decrypt]:
        """Make a key pair: the public part, and the function that decrypts."""
        third = -(-bits // 3) + 2  # p is above 4 * largest
        p, q = _prime(third), _prime(bits - 2 * third)
        while True:
            g = fmpz(2 + secrets.randbelow(int(p * p * q) - 2))
            if g.gcd(p * q) == 1 and pow(g, p - 1, p * p) != 1:
                return cls.of_primes(p, q, g)

    @staticmethod
    def of_primes(p: fmpz, q: fmpz, g: fmpz) -> tuple[OkamotoUchiyama, Decrypt]:
        """Make the key pair of two primes and a generator."""
        n, square = p * p * q, p * p
        logarithm = (pow(g, p - 1, square) - 1) // p
        factor = pow(logarithm, -1, p)

        def one(number: Any) -> int:
            m = (pow(fmpz(int(number)), p - 1, square) - 1) // p * factor % p
            return int(m - p if 2 * m > p else m)

        return OkamotoUchiyama(int(n), int(g)), _elementwise(one)

    @staticmethod
    def load(bits: int, key: bytes) -> OkamotoUchiyama:
        """Read a public key written as ``key_bytes``.

        Only who knows p sees whether g generates: with another g its owner decrypts nothing.
        """
        n, g = _numbers(key, bits, 2)
        if not 1 < g < n or fmpz(g).gcd(fmpz(n)) != 1:
            raise CryptoError("a public key has a generator out of range or without an inverse")
        return OkamotoUchiyama(n, g)


SCHEMES: dict[str, type[Paillier] | type[OkamotoUchiyama]] = {
    cls.scheme: cls for cls in (Paillier, OkamotoUchiyama)
}


def _prime(bits: int) -> fmpz:
    """Draw a prime p of exactly so many bits; the product of two, or three, is not shorter.

    Neither p nor (p - 1) / 2 has a factor below 2,000: p is 3 modulo 4, and the group modulo p has
    no small parts but one of order 2.
    """
    while True:
        p = fmpz(secrets.randbits(bits) | 7 << (bits - 3) | 3)
        if (p * (p // 2)).gcd(_SMALL_PRIMES) == 1 and p.is_probable_prime():
            return p


def _numbers(key: bytes, bits: int, count: int) -> list[int]:
    """Read the numbers of a public key; the first is the modulus, of exactly ``bits`` bits.

    A prime or a power of one has no secret factors. That others are hard to find is not checked.
    """
    size = bits // 8
    if len(key) != count * size:
        raise CryptoError(f"a public key of {bits} bits has {count * size} bytes, not {len(key)}")
    numbers = [int.from_bytes(key[i : i + size], "big") for i in range(0, len(key), size)]
    n = fmpz(numbers[0])
    if numbers[0].bit_length() != bits or n.gcd(_SMALL_PRIMES) != 1:
        raise CryptoError(f"a public key's modulus must have {bits} bits, no factor below 2,000")
    if n.is_probable_prime() or n.is_perfect_power():
        raise CryptoError("a public key's modulus is a prime or a power: everybody could decrypt")
    return numbers


def _elementwise(decrypt: Callable[[Any], int]) -> Decrypt:
    def vector(ciphertexts: Any) -> BigInts:
        integers = np.empty(len(ciphertexts), dtype=object)
        integers[:] = [decrypt(number) for number in ciphertexts]
        return integers

    return vector
