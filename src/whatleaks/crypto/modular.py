"""Arithmetic on many ciphertexts at once, modulo the key's number.

Powers, with the squarings shared (Straus): a plain matrix times an encrypted vector is, under Paillier, one product of powers of the
ciphertexts for every row. Row by row and power by power that takes about 1.5 B
multiplications for each B-bit entry. Here the odd powers 1 to 63 of every ciphertext are made
once for all rows, and an exponent is cut into odd digits of up to six bits with zeros between
them: about B / 7 multiplications for each entry, and B squarings for the whole row.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from whatleaks.arrays import Ints
from whatleaks.crypto.fixed_point import BigInts
from whatleaks.errors import CryptoError

_WINDOW = 6
_MASK = (1 << _WINDOW) - 1


def power_products(bases: Sequence[int], exponents: BigInts, modulus: int) -> list[int]:
    """Return the product of ``bases[i] ** exponents[row, i]`` for every row.

    Exponents may be negative: a row is shifted by its smallest one, and the product of all
    bases to the power of the shift is divided out again.
    """
    from gmpy2 import mpz

    n = mpz(modulus)
    low = np.array([min(0, *row) for row in exponents], dtype=object)
    shifted = exponents - low[:, None]
    tables = [_odd_powers(mpz(base), n) for base in bases]
    products = [_walk(_places(row), tables, n) for row in shifted.tolist()]
    if any(low):
        whole = mpz(1)
        for base in bases:
            whole = whole * base % n
        inverse = [_odd_powers(_inverse(whole, n), n)]
        products = [
            product * _walk(_places([-shift]), inverse, n) % n
            for product, shift in zip(products, low.tolist(), strict=True)
        ]
    return [int(product) for product in products]


def horner(numbers: Sequence[int], places: Ints, bits: int, modulus: int) -> list[int]:
    """Return for every column of ``places`` the product of ``numbers[place] ** 2**(bits * row)``.

    From the highest row down: a power of two, then a product. GMP's powers of a whole list
    leave Python's lock alone, so the columns are shared out among the processors.
    """
    from gmpy2 import mpz, powmod_base_list

    if not places.size:
        return []
    n, power = mpz(modulus), mpz(1 << bits)
    table = [[mpz(numbers[place]) for place in row] for row in places.tolist()]

    def walk(columns: slice) -> list[int]:
        packed = table[-1][columns]
        for row in table[-2::-1]:
            raised = powmod_base_list(packed, power, n)
            packed = [a * b % n for a, b in zip(raised, row[columns], strict=True)]
        return [int(number) for number in packed]

    parts = min(os.cpu_count() or 1, places.shape[1])
    edges = np.linspace(0, places.shape[1], parts + 1).astype(int).tolist()
    slices = [slice(low, high) for low, high in itertools.pairwise(edges)]
    with ThreadPoolExecutor(parts) as threads:
        return list(itertools.chain.from_iterable(threads.map(walk, slices)))


def quotients(left: Sequence[int], right: Sequence[int], modulus: int) -> list[int]:
    """Return ``left[i] / right[i]`` for every i with one inverse in all (Montgomery).

    The product of all divisors is inverted; going back, each step takes one divisor out of it.
    """
    from gmpy2 import mpz

    n = mpz(modulus)
    divisors = [mpz(number) for number in right]
    products = [mpz(1)]
    for divisor in divisors:
        products.append(products[-1] * divisor % n)
    inverse = _inverse(products[-1], n)
    found = []
    for i in range(len(divisors) - 1, -1, -1):
        found.append(int(inverse * products[i] % n * left[i] % n))
        inverse = inverse * divisors[i] % n
    return found[::-1]


def _inverse(number: int, n: int) -> int:
    """Invert modulo n; what has no inverse was never made by encryption."""
    from gmpy2 import invert

    try:
        return invert(number, n)  # type: ignore[no-any-return]
    except ZeroDivisionError:
        raise CryptoError("an encrypted vector is damaged: a number has no inverse") from None


def _odd_powers(base: int, n: int) -> list[int]:
    """Return base ** 1, base ** 3, ..., base ** 63."""
    powers, square = [base % n], base * base % n
    for _ in range(3, 1 << _WINDOW, 2):
        powers.append(powers[-1] * square % n)
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
            rest >>= _WINDOW
            at += _WINDOW
    return places


def _walk(places: list[list[tuple[int, int]]], tables: list[list[int]], n: int) -> int:
    """Evaluate one row from its highest bit down."""
    product = tables[0][0] * 0 + 1  # a one of the tables' own kind of integer
    for entries in reversed(places):
        product = product * product % n
        for i, k in entries:
            product = product * tables[i][k] % n
    return product
