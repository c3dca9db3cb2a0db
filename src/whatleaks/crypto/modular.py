"""Arithmetic on many ciphertexts at once. A number carries its modulus (``fmpz_mod``).

Powers of fixed bases from tables. Products of powers with the squarings shared (Straus): a plain
matrix times an encrypted vector is one product of powers of the ciphertexts for every row. Row by
row and power by power that takes about 1.5 B multiplications for each B-bit entry. Here the odd
powers 1 to 63 of every ciphertext are made once for all rows, and an exponent is cut into odd
digits of up to six bits with zeros between them: about B / 7 multiplications for each entry, and
B squarings for the whole row.
"""

from __future__ import annotations

import functools
import operator
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from whatleaks.crypto.fixed_point import BigInts
from whatleaks.errors import CryptoError

WINDOW = 6
_MASK = (1 << WINDOW) - 1


class Powers:
    """Powers of fixed bases, each to exponents of up to ``bits`` bits, from a table.

    A row of the table holds the powers 0 to 63 of a base to the power of 64, 64 squared and so
    on, so that a power is one product for every six bits of its exponent, without squarings.
    """

    def __init__(self, bases: Sequence[Any], bits: int) -> None:
        self._rows: list[list[Any]] = []
        for base in bases:
            for _ in range(-(-bits // WINDOW)):
                row = [base**0]
                for _ in range(_MASK):
                    row.append(row[-1] * base)
                self._rows.append(row)
                base = row[-1] * base

    def power(self, exponent: int) -> Any:
        """Return the only base to the power of an exponent that is not negative."""
        places = range(0, max(1, exponent.bit_length()), WINDOW)
        return self._product([exponent >> at & _MASK for at in places])

    def random(self) -> Any:
        """Return the product of all bases to random powers, from the system's randomness."""
        return self._product([b & _MASK for b in secrets.token_bytes(len(self._rows))])

    def _product(self, digits: list[int]) -> Any:
        return functools.reduce(operator.mul, map(operator.getitem, self._rows, digits))


def power_products(bases: Sequence[Any], exponents: BigInts) -> list[Any]:
    """Return the product of ``bases[i] ** exponents[row, i]`` for every row.

    Exponents may be negative: a row is shifted by its smallest one, and the product of all
    bases to the power of the shift is divided out again.
    """
    low = np.array([min(0, *row) for row in exponents], dtype=object)
    shifted = exponents - low[:, None]
    tables = [_odd_powers(base) for base in bases]
    products = [_walk(_places(row), tables) for row in shifted.tolist()]
    if any(low):
        whole = bases[0] ** 0
        for base in bases:
            whole = whole * base
        inverse = [_odd_powers(_inverse(whole))]
        products = [
            product * _walk(_places([-shift]), inverse)
            for product, shift in zip(products, low.tolist(), strict=True)
        ]
    return products


def quotients(left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
    """Return ``left[i] / right[i]`` for every i with one inverse in all (Montgomery).

    The product of all divisors is inverted; going back, each step takes one divisor out of it.
    """
    if not len(right):
        return []
    products = [right[0] ** 0]
    for divisor in right:
        products.append(products[-1] * divisor)
    inverse = _inverse(products[-1])
    found = []
    for i in range(len(right) - 1, -1, -1):
        found.append(inverse * products[i] * left[i])
        inverse = inverse * right[i]
    return found[::-1]


def _inverse(number: Any) -> Any:
    """Invert a number; what has no inverse was never made by encryption."""
    try:
        return number.inverse()
    except ZeroDivisionError:
        raise CryptoError("an encrypted vector is damaged: a number has no inverse") from None


def _odd_powers(base: Any) -> list[Any]:
    """Return base ** 1, base ** 3, ..., base ** 63."""
    powers, square = [base], base * base
    for _ in range(3, 1 << WINDOW, 2):
        powers.append(powers[-1] * square)
    return powers


def _places(exponents: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Cut a row's exponents into odd digits; return what to multiply at every bit, lowest first.

    An entry (i, k) at bit b stands for ``bases[i] ** ((2 k + 1) * 2**b)``.
    """
    longest = max(int(exponent).bit_length() for exponent in exponents)
    places: list[list[tuple[int, int]]] = [[] for _ in range(longest)]
    for i, exponent in enumerate(exponents):
        rest, at = int(exponent), 0
        while rest:
            zeros = (rest & -rest).bit_length() - 1
            rest >>= zeros
            at += zeros
            places[at].append((i, (rest & _MASK) >> 1))
            rest >>= WINDOW
            at += WINDOW
    return places


def _walk(places: list[list[tuple[int, int]]], tables: list[list[Any]]) -> Any:
    """Evaluate one row from its highest bit down."""
    product = tables[0][0] ** 0
    for entries in reversed(places):
        product = product * product
        for i, k in entries:
            product = product * tables[i][k]
    return product
