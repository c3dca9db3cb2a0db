"""Additively homomorphic encryption of real vectors: add, and multiply by plain matrices.

One of ``Ciphers`` knows one cryptosystem and works on integers. ``PublicKey``
adds what every one needs: fixed point, its scale, and a worst-case size that refuses
an operation before a result could wrap around. Scale and size follow from the operations
alone, never from a value, so what is written beside a ciphertext tells nothing.

A computed ciphertext has one way out, ``outgoing``, which re-randomises it: the bytes that a
party sends do not show which ciphertexts it computed them from.
"""

from __future__ import annotations

import hashlib
import secrets
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from whatleaks.arrays import Bools, Buckets, Floats, Ints, sealed
from whatleaks.crypto.fixed_point import BigInts, FixedPoint
from whatleaks.crypto.packing import layout, slots_of, unpacked
from whatleaks.errors import CryptoError

if TYPE_CHECKING:
    from whatleaks.crypto.ciphers import Ciphers

_HEADER = struct.Struct("<8sHHI")  # key, fraction, bits, count


@dataclass(frozen=True, eq=False)
class Encrypted:
    """An encrypted vector with the public facts about it: key, length, scale, worst-case size."""

    key: bytes = field(repr=False)
    count: int
    fraction: int
    bits: int
    vector: Any = field(repr=False)


class PublicKey:
    """Encrypts, and computes on what is encrypted; cannot decrypt."""

    def __init__(self, ciphers: Ciphers, numbers: FixedPoint) -> None:
        self._ciphers = ciphers
        self.numbers = numbers
        # Integers of this many bits, positive or negative, decrypt to themselves.
        self.largest_bits = ciphers.largest.bit_length() - 1
        self.fingerprint = hashlib.sha256(ciphers.key_bytes).digest()[:8]

    @property
    def scheme(self) -> str:
        """The cryptosystem's name, as it stands on the wire."""
        return self._ciphers.scheme

    @property
    def key_bytes(self) -> bytes:
        """The public key as bytes, for other processes; ``crypto.keys.load_public`` reads it."""
        return self._ciphers.key_bytes

    def __repr__(self) -> str:
        """Name the scheme and the key."""
        return f"PublicKey({self.scheme}, {self.fingerprint.hex()})"

    def encrypt(self, values: Floats) -> Encrypted:
        """Encrypt a vector of real numbers."""
        vector = self._ciphers.encrypt(self.numbers.encode(_flat(values)))
        return self._made(vector, len(values), self.numbers.fraction, self.numbers.bits)

    def add(self, left: Encrypted, right: Encrypted) -> Encrypted:
        """Add two encrypted vectors of one scale."""
        self._check(left)
        self._check(right)
        if (left.count, left.fraction) != (right.count, right.fraction):
            raise CryptoError(
                f"cannot add {left.count} numbers with {left.fraction} fraction bits and "
                f"{right.count} with {right.fraction}: lengths and scales must agree"
            )
        bits = self._room(max(left.bits, right.bits) + 1)
        vector = self._ciphers.add(left.vector, right.vector)
        return self._made(vector, left.count, left.fraction, bits)

    def add_plain(self, left: Encrypted, values: Floats) -> Encrypted:
        """Add plain real numbers, encoded at the scale of the ciphertext."""
        self._check(left)
        if _flat(values).shape != (left.count,):
            raise CryptoError(f"cannot add {values.size} plain numbers to {left.count} encrypted")
        bits = self._room(max(left.bits, self.numbers.whole + left.fraction) + 1)
        vector = self._ciphers.add_plain(left.vector, self.numbers.encode(values, left.fraction))
        return self._made(vector, left.count, left.fraction, bits)

    def add_integers(self, left: Encrypted, integers: BigInts, bits: int) -> Encrypted:
        """Add plain integers of up to ``bits`` bits in steps of the ciphertext's own scale."""
        self._check(left)
        if integers.shape != (left.count,):
            raise CryptoError(f"cannot add {integers.size} integers to {left.count} encrypted")
        room = self._room(max(left.bits, bits) + 1)
        vector = self._ciphers.add_plain(left.vector, _fitting(integers, bits))
        return self._made(vector, left.count, left.fraction, room)

    def matmul_plain(self, matrix: Floats, right: Encrypted) -> Encrypted:
        """Multiply a plain matrix by an encrypted vector; the scales add up."""
        self._check(right)
        if matrix.ndim != 2 or matrix.shape[1] != right.count or not right.count:
            raise CryptoError(
                f"cannot multiply a matrix of shape {matrix.shape} by {right.count} "
                "encrypted numbers: its columns must be as many, and at least one"
            )
        bits = self._room(self.numbers.bits + right.bits + (right.count - 1).bit_length())
        vector = self._ciphers.matmul_plain(self.numbers.encode(matrix), right.vector)
        fraction = right.fraction + self.numbers.fraction
        return self._made(vector, matrix.shape[0], fraction, bits)

    def encrypt_integers(self, integers: BigInts, bits: int) -> Encrypted:
        """Encrypt integers of up to ``bits`` bits: exact, without a fraction."""
        if integers.ndim != 1:
            raise CryptoError(f"encryption takes a vector, got an array of shape {integers.shape}")
        vector = self._ciphers.encrypt(_fitting(integers, bits))
        return self._made(vector, len(integers), 0, self._room(bits))

    def subtract(self, left: Encrypted, right: Encrypted) -> Encrypted:
        """Subtract two encrypted vectors of one scale."""
        self._check(left)
        self._check(right)
        if (left.count, left.fraction) != (right.count, right.fraction):
            raise CryptoError(
                f"cannot subtract {right.count} numbers with {right.fraction} fraction bits from "
                f"{left.count} with {left.fraction}: lengths and scales must agree"
            )
        bits = self._room(max(left.bits, right.bits) + 1)
        vector = self._ciphers.subtract(left.vector, right.vector)
        return self._made(vector, left.count, left.fraction, bits)

    def take(self, encrypted: Encrypted, places: Ints) -> Encrypted:
        """Return the numbers at ``places``, in that order."""
        self._check(encrypted)
        if places.ndim != 1 or ((places < 0) | (places >= encrypted.count)).any():
            raise CryptoError(f"cannot take places outside of {encrypted.count} encrypted numbers")
        vector = self._ciphers.take(encrypted.vector, places)
        return self._made(vector, len(places), encrypted.fraction, encrypted.bits)

    def bucket_sums(
        self, encrypted: Encrypted, buckets: Buckets, count: int, groups: list[Bools]
    ) -> list[Encrypted]:
        """Sum each group's numbers by bucket, cumulatively: encrypted histograms.

        ``buckets[i, c]`` says into which of ``count`` buckets number i falls in column c; a
        group says which numbers take part. A result holds ``columns * count`` numbers.
        """
        self._check(encrypted)
        if buckets.ndim != 2 or len(buckets) != encrypted.count or not buckets.size:
            raise CryptoError(
                f"buckets of shape {buckets.shape} do not fit {encrypted.count} encrypted numbers"
            )
        if not 1 <= count <= 128 or int(buckets.min()) < 0 or int(buckets.max()) >= count:
            raise CryptoError(f"buckets must lie in 0..{count - 1}, and at most 128 are possible")
        bits = self._room(encrypted.bits + encrypted.count.bit_length())
        full = [group for group in groups if group.any()]
        sums = iter(self._ciphers.bucket_sums(encrypted.vector, buckets, count, full))
        size = buckets.shape[1] * count
        return [
            self._made(next(sums), size, encrypted.fraction, bits)
            if group.any()
            else self._made(
                self._ciphers.encrypt(np.full(size, 0, dtype=object)),
                size,
                encrypted.fraction,
                bits,
            )
            for group in groups
        ]

    def packs(self, count: int, width: int) -> int:
        """Say into how many ciphertexts ``pack`` puts ``count`` numbers."""
        slots = slots_of(self._room(width + 1), self.largest_bits)
        return int(layout(count, slots).shape[1])

    def packed_bits(self, count: int, width: int) -> int:
        """Say how many bits a ciphertext needs into which ``pack`` puts some of ``count`` numbers."""
        slots = slots_of(self._room(width + 1), self.largest_bits)
        return len(layout(count, slots)) * (width + 1)

    def pack(self, encrypted: Encrypted, width: int) -> Encrypted:
        """Put several numbers of up to ``width`` bits into each ciphertext: fewer to decrypt.

        See ``crypto.packing`` for the layout; ``unpacked`` there undoes it after decryption.
        """
        self._check(encrypted)
        if encrypted.bits > width or not encrypted.count:
            raise CryptoError(
                f"{encrypted.count} numbers of {encrypted.bits} bits do not fit slots of {width}"
            )
        slots = slots_of(self._room(width + 1), self.largest_bits)
        places = layout(encrypted.count, slots)
        packed = self._ciphers.pack(encrypted.vector, places, width + 1)
        bits = self._room(len(places) * (width + 1))
        return self._made(packed, places.shape[1], encrypted.fraction, bits)

    def drown(self, encrypted: Encrypted, used: int) -> Encrypted:
        """Add random numbers above the lowest ``used`` bits, from all that a ciphertext can hold.

        Whoever decrypts reads what was agreed (``packing.surfaced``), and nothing that a sender
        of too large numbers meant to find above it. The range of Okamoto-Uchiyama is secret:
        there two or three bits at its upper end stay open.
        """
        self._check(encrypted)
        most = max(0, self._ciphers.largest - (1 << max(used, encrypted.bits))) >> used
        drawn = np.empty(encrypted.count, dtype=object)
        drawn[:] = [
            (secrets.randbelow(2 * most + 1) - most) << used for _ in range(encrypted.count)
        ]
        vector = self._ciphers.add_plain(encrypted.vector, drawn)
        return self._made(vector, encrypted.count, encrypted.fraction, self.largest_bits)

    def outgoing_new(self, integers: BigInts, bits: int) -> bytes:
        """Encrypt integers straight onto the wire: new ciphertexts need no second randomness."""
        return self._written(self.encrypt_integers(integers, bits))

    def outgoing_values(self, values: Floats) -> bytes:
        """Encrypt real numbers straight onto the wire, likewise randomised once."""
        return self._written(self.encrypt(values))

    def rerandomise(self, encrypted: Encrypted, to_owner: bool = True) -> Encrypted:
        """Return other ciphertexts of the same numbers; see ``ciphers`` for ``to_owner``."""
        self._check(encrypted)
        vector = self._ciphers.rerandomise(encrypted.vector, to_owner)
        return self._made(vector, encrypted.count, encrypted.fraction, encrypted.bits)

    def outgoing(self, encrypted: Encrypted, to_owner: bool = True) -> bytes:
        """Re-randomise and write for the wire: the only way out for what was computed.

        ``to_owner``: the receiver may have the secret key.
        """
        return self._written(self.rerandomise(encrypted, to_owner))

    def incoming(self, data: bytes, count: int, fraction: int, bits: int) -> Encrypted:
        """Read ``count`` numbers from the wire; bytes for another key or length are refused.

        The reader says at which scale they must be (``fraction``) and how large they may be
        (``bits``): both follow from the protocol, and a sender that chose them would choose
        which digits of a decrypted number come back.
        """
        if len(data) < _HEADER.size:
            raise CryptoError("an encrypted vector is cut short: its header is missing")
        key, scale, size, announced = _HEADER.unpack_from(data)
        if key != self.fingerprint:
            raise CryptoError("an encrypted vector belongs to another key: parties must share one")
        if announced != count:
            raise CryptoError(f"an encrypted vector announces {announced} numbers, not {count}")
        if scale != fraction or size > bits:
            raise CryptoError(
                f"an encrypted vector of {size} bits with {scale} of fraction is refused: at most "
                f"{bits} with exactly {fraction} are due"
            )
        self._room(bits)
        vector = self._ciphers.from_bytes(data[_HEADER.size :], count)
        return self._made(vector, count, fraction, size)

    def _written(self, fresh: Encrypted) -> bytes:
        header = _HEADER.pack(self.fingerprint, fresh.fraction, fresh.bits, fresh.count)
        return header + self._ciphers.to_bytes(fresh.vector)

    def _made(self, vector: Any, count: int, fraction: int, bits: int) -> Encrypted:
        return Encrypted(self.fingerprint, count, fraction, bits, vector)

    def _check(self, encrypted: Encrypted) -> None:
        if encrypted.key != self.fingerprint:
            raise CryptoError("an encrypted vector belongs to another key: parties must share one")

    def _room(self, bits: int) -> int:
        if bits > self.largest_bits:
            raise CryptoError(
                f"a result of up to {bits} bits overflows the key's {self.largest_bits}: "
                "use a longer key, fewer fraction bits or fewer products in a row"
            )
        return bits


class SecretKey:
    """Decrypts. It prints nothing of itself and does not leave its process."""

    __slots__ = ("_decrypt", "_fingerprint", "_largest_bits", "_numbers")

    def __init__(self, decrypt: Callable[[Any], BigInts], public: PublicKey) -> None:
        self._decrypt = decrypt
        self._fingerprint = public.fingerprint
        self._numbers = public.numbers
        self._largest_bits = public.largest_bits

    def decrypt(self, encrypted: Encrypted) -> Floats:
        """Return the real numbers, sealed."""
        return sealed(self._numbers.decode(self.decrypt_integers(encrypted), encrypted.fraction))

    def decrypt_integers(self, encrypted: Encrypted) -> BigInts:
        """Return the integers as they are; one that is larger than it may be is refused.

        Whoever hands decrypted numbers on would otherwise answer about any number at all.
        """
        if encrypted.key != self._fingerprint:
            raise CryptoError("an encrypted vector belongs to another key: it cannot be decrypted")
        integers = self._decrypt(encrypted.vector)
        if encrypted.bits >= self._largest_bits or not integers.size:
            return integers  # covered: every number that there is was agreed
        if max(-int(integers.min()), int(integers.max())) > 1 << encrypted.bits:
            raise CryptoError("a decrypted number is larger than any that was agreed: refused")
        return integers

    def decrypt_packed(self, packed: Encrypted, count: int, width: int) -> BigInts:
        """Return the ``count`` integers of up to ``width`` bits that ``PublicKey.pack`` packed."""
        if not 0 < packed.count <= count:
            raise CryptoError(f"{packed.count} ciphertexts cannot hold {count} packed numbers")
        return unpacked(self.decrypt_integers(packed), count, width)

    def __repr__(self) -> str:
        """Say that there is a key, and nothing about it."""
        return "SecretKey(withheld)"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        raise TypeError("a secret key does not leave its process: it cannot be pickled or copied")


def _fitting(integers: BigInts, bits: int) -> BigInts:
    if integers.size and max(-int(integers.min()), int(integers.max())) >= 1 << bits:
        raise CryptoError(f"an integer does not fit into the {bits} bits announced for it")
    return integers


def _flat(values: Floats) -> Floats:
    if values.ndim != 1:
        raise CryptoError(f"encryption takes a vector, got an array of shape {values.shape}")
    return values
