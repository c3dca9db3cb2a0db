"""Products of many powers modulo one number, with the squarings shared (Straus).

A plain matrix times an encrypted vector is, under Paillier, one product of powers of the
ciphertexts for every row. Row by row and power by power that takes about 1.5 B
multiplications for each B-bit entry. Here the powers 0 to 31 of every ciphertext are made
once for all rows, and a row walks over all its exponents five bits at a time: B / 5
multiplications for each entry, and B squarings for the whole row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.crypto.fixed_point import BigInts

_WINDOW = 5


def power_products(bases: Sequence[int], exponents: BigInts, modulus: int) -> list[int]:
    """Return the product of ``bases[i] ** exponents[row, i]`` for every row.

    Exponents may be negative: a row is shifted by its smallest one, and the product of all
    bases to the power of the shift is divided out again.
    """
    from gmpy2 import invert, mpz

    n = mpz(modulus)
    low = np.array([min(0, *row) for row in exponents], dtype=object)
    shifted = exponents - low[:, None]
    tables = [_powers(mpz(base), n) for base in bases]
    products = [_walk(row, tables, n) for row in _digits(shifted)]
    if any(low):
        whole = mpz(1)
        for base in bases:
            whole = whole * base % n
        inverse = invert(whole, n)
        shift = _digits(-low[:, None])
        powers = [_powers(inverse, n)]
        products = [
            product * _walk(row, powers, n) % n
            for product, row in zip(products, shift, strict=True)
        ]
    return [int(product) for product in products]


def _powers(base: int, n: int) -> list[int]:
    """Return base ** 0 to base ** 31."""
    powers = [base // base if base else base + 1, base]
    for _ in range(2, 1 << _WINDOW):
        powers.append(powers[-1] * base % n)
    return powers


def _digits(exponents: BigInts) -> list[list[list[int]]]:
    """Return, for every row, its exponents' base-32 digits: highest first, one list per place."""
    largest = max((int(e) for e in exponents.ravel()), default=0)
    places = max(1, -(-largest.bit_length() // _WINDOW))
    shifts = np.array([_WINDOW * place for place in reversed(range(places))], dtype=object)
    split = (exponents[:, None, :] >> shifts[None, :, None]) & ((1 << _WINDOW) - 1)
    digits: list[list[list[int]]] = split.astype(np.int64).tolist()
    return digits


def _walk(places: list[list[int]], tables: list[list[int]], n: int) -> int:
    """Evaluate one row, highest place first."""
    product = tables[0][0]
    for digits in places:
        for _ in range(_WINDOW):
            product = product * product % n
        for table, digit in zip(tables, digits, strict=True):
            if digit:
                product = product * table[digit] % n
    return product
