"""The fast backend: Paillier or Okamoto-Uchiyama of the HEU library, in C++.

HEU's encoders are not used: our integers come from ``FixedPoint`` and go through its
arbitrary-precision encoder with step 1, for ciphertexts and for plain factors alike. (Its
float encoder would scale a factor once more and stop at steps of 1e-6.)
"""

from __future__ import annotations

import functools
import os
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from whatleaks.arrays import Bools, Buckets, Ints
from whatleaks.crypto.fixed_point import BigInts
from whatleaks.crypto.heu_raw import RawNumbers, check_key, modulus_of
from whatleaks.crypto.modular import horner, power_products, quotients
from whatleaks.errors import CryptoError

_LENGTH = struct.Struct("<Q")
_SCHEMAS = {"heu-paillier": "z-paillier", "heu-ou": "ou"}


class HeuCiphers:
    """One HEU public key. The library's kit is made from it alone: it holds no secret."""

    def __init__(self, scheme: str, bits: int, public: Any) -> None:
        from heu import numpy as heu_numpy

        self.scheme = scheme
        self.key_bytes: bytes = public.serialize()
        kit = heu_numpy.setup(public)
        self._encoder = kit.bigint_encoder()
        self._array = kit.array
        self._encryptor = kit.encryptor()
        self._evaluator = kit.evaluator()
        self._load = heu_numpy.CiphertextArray.load_from
        # The library's bound is the largest size of a number of either sign.
        self.largest = int(public.plaintext_bound())
        # A Paillier ciphertext is a number below n**2, one of Okamoto-Uchiyama below n.
        self._cipher_bytes = bits // 8 * (2 if scheme == "heu-paillier" else 1)
        self._raw = self._tried(str(public))

    def encrypt(self, integers: BigInts) -> Any:
        """Encrypt a vector as a column."""
        return self._encryptor.encrypt(self._plain(integers.reshape(-1, 1)))

    def add(self, left: Any, right: Any) -> Any:
        """Add two vectors."""
        return self._evaluator.add(left, right)

    def add_plain(self, vector: Any, integers: BigInts) -> Any:
        """Add plain integers."""
        return self._evaluator.add(vector, self._plain(integers.reshape(-1, 1)))

    def matmul_plain(self, matrix: BigInts, vector: Any) -> Any:
        """Multiply a plain matrix by a vector: exactly the library's result, several times faster."""
        bases = self._numbers(vector)
        if self._raw is None or bases is None:
            return self._evaluator.matmul(self._plain(matrix), vector)
        return self._load(self._raw.write(power_products(bases, matrix, self._raw.modulus)))

    def _numbers(self, vector: Any) -> list[int] | None:
        """Return the numbers inside a vector, or None if writing them gives other bytes."""
        if self._raw is None:
            return None
        written: bytes = vector.serialize()
        numbers = self._raw.read(written)
        return numbers if self._raw.write(numbers) == written else None

    def _tried(self, description: str) -> RawNumbers | None:
        """Return the way to the raw numbers if one product equals the library's, else None."""
        try:
            raw = RawNumbers(modulus_of(description, self.scheme == "heu-paillier"))
            vector = self.encrypt(np.array([2, 3], dtype=object))
            raw.learn(vector.serialize())
            matrix = np.array([[5, 40], [1, 77]], dtype=object)
            mine = raw.write(power_products(raw.read(vector.serialize()), matrix, raw.modulus))
        except (CryptoError, ImportError, IndexError, ValueError):
            return None
        library: bytes = self._evaluator.matmul(self._plain(matrix), vector).serialize()
        return raw if mine == library else None

    def subtract(self, left: Any, right: Any) -> Any:
        """Subtract two vectors: the library's result, with one inverse for all elements."""
        minuend, subtrahend = self._numbers(left), self._numbers(right)
        if self._raw is None or minuend is None or subtrahend is None:
            return self._evaluator.sub(left, right)
        return self._load(self._raw.write(quotients(minuend, subtrahend, self._raw.modulus)))

    def take(self, vector: Any, places: Ints) -> Any:
        """Return the elements at ``places``; the library wants Python's own integers."""
        return vector[places.tolist()]

    def pack(self, vector: Any, places: Ints, bits: int) -> Any:
        """Follow Horner's rule from the highest slot down: the library's result, faster."""
        numbers = self._numbers(vector)
        if self._raw is not None and numbers is not None:
            return self._load(self._raw.write(horner(numbers, places, bits, self._raw.modulus)))
        packed = self.take(vector, places[-1])
        factor = self._plain(np.full((places.shape[1], 1), 1 << bits, dtype=object))
        for part in places[-2::-1]:
            packed = self.add(self._evaluator.mul(packed, factor), self.take(vector, part))
        return packed

    def bucket_sums(
        self, vector: Any, buckets: Buckets, count: int, groups: list[Bools]
    ) -> list[Any]:
        """Use the library's own histograms: int8 buckets, no empty group."""
        if not groups:
            return []
        members = [group.astype(np.int8) for group in groups]
        buckets = np.ascontiguousarray(buckets, dtype=np.int8)
        sums: list[Any] = self._evaluator.batch_feature_wise_bucket_sum(
            vector, members, buckets, count, True
        )
        return sums

    def rerandomise(self, vector: Any) -> Any:
        """Add a fresh encryption of zero."""
        return self.add(vector, self.encrypt(np.full(vector.shape[0], 0, dtype=object)))

    def to_bytes(self, vector: Any) -> bytes:
        """Write the library's bytes, padded: these alone are shorter for small ciphertexts."""
        written: bytes = vector.serialize()
        framed = _LENGTH.pack(len(written)) + written
        return framed.ljust(self._frame(vector.shape[0]), b"\0")

    def from_bytes(self, data: bytes, count: int) -> Any:
        """Read a vector; anything malformed is a ``CryptoError``."""
        if len(data) != self._frame(count):
            raise CryptoError(
                f"{count} ciphertexts have {self._frame(count)} bytes, not {len(data)}"
            )
        (length,) = _LENGTH.unpack_from(data)
        written = data[_LENGTH.size : _LENGTH.size + length]
        if len(written) != length or any(data[_LENGTH.size + length :]):
            raise CryptoError("an encrypted vector is damaged: its length is wrong")
        if self._raw is not None:
            self._raw.check(written, count)
        try:
            vector = self._load(written)
        except _library_errors():
            raise CryptoError(
                "an encrypted vector is damaged: the library cannot read it"
            ) from None
        if tuple(vector.shape) != (count, 1):
            raise CryptoError(f"an encrypted vector does not hold {count} numbers")
        return vector

    def _frame(self, count: int) -> int:
        return _LENGTH.size + 32 + count * (self._cipher_bytes + 16)

    def _plain(self, integers: BigInts) -> Any:
        return self._array(np.ascontiguousarray(integers), self._encoder)


def _library_errors() -> tuple[type[Exception], ...]:
    """What the library raises about bytes that it cannot read: whatever its C++ code throws."""
    from heu import phe

    return (phe.PheRuntimeError, RuntimeError, LookupError, TypeError, ValueError, MemoryError)


@functools.cache
def _start_threads() -> None:
    """Make the library start its threads now and drop the line that it prints about them.

    It writes to the standard output at its first vector, and has no setting for it.
    """
    from heu import numpy as heu_numpy

    kit = heu_numpy.setup("mock", 256)
    ones = kit.array(np.full((64, 1), 1, dtype=object), kit.bigint_encoder())
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        kit.encryptor().encrypt(ones)
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def generate(scheme: str, bits: int) -> tuple[HeuCiphers, Callable[[Any], BigInts]]:
    """Make a key pair: the public part, and the function that decrypts."""
    from heu import numpy as heu_numpy
    from heu import phe

    _start_threads()
    try:
        kit = heu_numpy.setup(_SCHEMAS[scheme], bits)
    except phe.PheRuntimeError:
        raise CryptoError(f"{scheme} has no keys of {bits} bits: use 2048 or 3072") from None
    decryptor = kit.decryptor()

    def decrypt(vector: Any) -> BigInts:
        try:
            integers: BigInts = decryptor.decrypt(vector).to_numpy().reshape(-1)
        except _library_errors():
            raise CryptoError("an encrypted vector is damaged: it does not decrypt") from None
        return integers

    return HeuCiphers(scheme, bits, kit.public_key()), decrypt


def load(scheme: str, bits: int, key_bytes: bytes) -> HeuCiphers:
    """Read a public key written as ``key_bytes``."""
    from heu import phe

    _start_threads()
    check_key(key_bytes, bits, scheme == "heu-paillier")
    try:
        return HeuCiphers(scheme, bits, phe.PublicKey.load_from(key_bytes))
    except _library_errors():
        raise CryptoError("a public key is damaged: the library cannot read it") from None
