"""The numbers inside HEU's ciphertexts, to compute on them without the library.

HEU writes a column of ciphertexts as msgpack: four fields, then one string per element that
holds the number, lowest byte first, with a sign bit, in Montgomery form with 60-bit digits.
This is the layout of the pinned version; ``HeuCiphers`` compares with the library's own
bytes before it relies on it, for every vector, and uses the library otherwise.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from whatleaks.errors import CryptoError

_KEY_TAIL = 8  # bytes after the numbers of a key: its scheme


class RawNumbers:
    """Reads and writes columns of ciphertexts under one modulus."""

    def __init__(self, modulus: int) -> None:
        from gmpy2 import mpz

        digits = -(-modulus.bit_length() // 60)
        self.modulus = mpz(modulus)
        self._r = pow(mpz(2), 60 * digits, self.modulus)
        self._r_inverse = pow(self._r, -1, self.modulus)
        self._tail = b""  # what the library writes after a number: learnt from our own

    def learn(self, data: bytes) -> None:
        """Learn what the library writes after a number, from a column of its own."""
        self._tail = _items(data)[0][1]

    def read(self, data: bytes) -> list[int]:
        """Return the ciphertexts of a column as plain numbers."""
        from gmpy2 import mpz

        return [
            mpz.from_bytes(inner, "little") * self._r_inverse % self.modulus
            for inner, _ in _items(data)
        ]

    def check(self, data: bytes, count: int) -> None:
        """Refuse bytes that are not ``count`` ciphertexts, before the library sets memory aside.

        A ciphertext has an inverse: one product and one gcd tell whether all have.
        """
        from gmpy2 import gcd, mpz

        product = mpz(1)
        for inner, tail in _items(data, count):
            number = mpz.from_bytes(inner, "little")
            if tail != self._tail or not 0 < number < self.modulus:
                raise CryptoError("an encrypted vector is damaged: a ciphertext is out of range")
            product = product * number % self.modulus
        if gcd(product, self.modulus) != 1:
            raise CryptoError("an encrypted vector is damaged: a number has no inverse")

    def write(self, numbers: Sequence[int]) -> bytes:
        """Return a column of ciphertexts in the library's layout."""
        count = len(numbers)
        parts = [b"\x94", _write_int(count), b"\x01\x02", _write_array(count)]
        for number in numbers:
            inside = self._r * number % self.modulus
            inner = inside.to_bytes(inside.bit_length() // 8 + 1, "little")  # a sign bit on top
            item = b"\x91" + _write_raw(inner) + self._tail
            parts.append(_write_raw(item))
        return b"".join(parts)


def _items(data: bytes, count: int | None = None) -> list[tuple[bytes, bytes]]:
    """Return number and tail of every ciphertext of a column, of ``count`` if that is given."""
    try:
        rows, at = _read_int(data, 1)
        columns, at = _read_int(data, at)
        dimensions, at = _read_int(data, at)
        held, at = _read_array(data, at)
        known = data[0] == 0x94 and (columns, dimensions) == (1, 2) and held == rows
        if not known or count not in (None, rows):
            raise CryptoError("an encrypted vector has an unknown layout or length")
        items = []
        for _ in range(rows):
            item, at = _read_raw(data, at)
            inner, end = _read_raw(item, 1)
            items.append((inner, item[end:]))
    except IndexError:
        raise CryptoError("an encrypted vector is cut short") from None
    if at != len(data):
        raise CryptoError("an encrypted vector has bytes that do not belong to it")
    return items


def check_key(data: bytes, bits: int, paillier: bool) -> None:
    """Refuse a public key with longer numbers than agreed, before the library computes with them.

    Paillier: n and a generator of twice its length. Okamoto-Uchiyama: three numbers of the
    length of n, and the plaintexts' bits, from which the library makes a number. Then a tail.
    """
    size = bits // 8 + 1  # a sign bit on top
    try:
        count, at = _read_array(data, 0)
        sizes = (size, 2 * size) if paillier else (size, size, size)
        sound = count == (2 if paillier else 4)
        for most in sizes:
            number, at = _read_raw(data, at)
            sound = sound and 0 < len(number) <= most
        if not paillier:
            plaintext, at = _read_int(data, at)
            sound = sound and plaintext <= bits
    except IndexError:
        sound = False
    if not sound or len(data) - at != _KEY_TAIL:
        raise CryptoError(f"a public key does not hold the numbers of one of {bits} bits: refused")


def modulus_of(description: str, paillier: bool) -> int:
    """Return the number that ciphertexts are taken modulo, from HEU's text about a key."""
    found = re.search(r"\bn=([0-9A-Fa-f]+)", description)
    if found is None:
        raise CryptoError("the library describes its public key in an unknown way")
    n = int(found[1], 16)
    return n * n if paillier else n


def _read_int(data: bytes, at: int) -> tuple[int, int]:
    sizes = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}
    first = data[at]
    if first < 0x80:
        return first, at + 1
    if first not in sizes:
        raise CryptoError("an encrypted vector has an unknown layout")
    end = at + 1 + sizes[first]
    return int.from_bytes(data[at + 1 : end], "big"), end


def _read_array(data: bytes, at: int) -> tuple[int, int]:
    first = data[at]
    if first & 0xF0 == 0x90:
        return first & 0x0F, at + 1
    if first not in (0xDC, 0xDD):
        raise CryptoError("an encrypted vector has an unknown layout")
    end = at + (3 if first == 0xDC else 5)
    return int.from_bytes(data[at + 1 : end], "big"), end


def _read_raw(data: bytes, at: int) -> tuple[bytes, int]:
    first = data[at]
    if first & 0xE0 == 0xA0:
        start, size = at + 1, first & 0x1F
    elif first in (0xD9, 0xDA, 0xDB):
        start = at + 1 + {0xD9: 1, 0xDA: 2, 0xDB: 4}[first]
        size = int.from_bytes(data[at + 1 : start], "big")
    else:
        raise CryptoError("an encrypted vector has an unknown layout")
    return data[start : start + size], start + size


def _write_int(value: int) -> bytes:
    if value < 0x80:
        return bytes([value])
    if value < 0x100:
        return bytes([0xCC, value])
    return struct.pack(">BH", 0xCD, value) if value < 1 << 16 else struct.pack(">BI", 0xCE, value)


def _write_array(count: int) -> bytes:
    if count < 16:
        return bytes([0x90 | count])
    return struct.pack(">BH", 0xDC, count) if count < 1 << 16 else struct.pack(">BI", 0xDD, count)


def _write_raw(data: bytes) -> bytes:
    if len(data) < 32:
        return bytes([0xA0 | len(data)]) + data
    if len(data) < 256:
        return bytes([0xD9, len(data)]) + data
    return struct.pack(">BH", 0xDA, len(data)) + data
