"""Shared squarings, tables and shared inverses give the numbers of single powers and inverses."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpz_mod_ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.crypto.modular import Powers, power_products, quotients
from whatleaks.errors import CryptoError

MODULUS = (2**61 - 1) * (2**31 - 1)
RING = fmpz_mod_ctx(MODULUS)


@given(data=st.data(), rows=st.integers(1, 3), columns=st.integers(1, 5))
@settings(max_examples=80, deadline=None)
def test_products_equal_powers_one_by_one(data: st.DataObject, rows: int, columns: int) -> None:
    base = st.integers(2, 2**30)  # prime to both factors
    bases = data.draw(st.lists(base, min_size=columns, max_size=columns))
    entry = st.integers(-(2**80), 2**80)
    row = st.lists(entry, min_size=columns, max_size=columns)
    exponents = np.array(data.draw(st.lists(row, min_size=rows, max_size=rows)), dtype=object)
    expected = []
    for powers in exponents:
        product = 1
        for b, e in zip(bases, powers, strict=True):
            product = product * pow(b, int(e), MODULUS) % MODULUS
        expected.append(product)
    found = power_products([RING(base) for base in bases], exponents)
    assert [int(number) for number in found] == expected


@given(st.integers(2, 2**30), st.integers(0, 2**90))
def test_powers_from_a_table_are_powers(base: int, exponent: int) -> None:
    found = Powers([RING(base)], 91).power(exponent)
    assert int(found) == pow(base, exponent, MODULUS)


def test_random_products_are_of_powers_of_all_bases(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Powers([RING(3), RING(5)], 12)  # two digits each, the lower one first
    drawn = bytes([7, 1 + 64, 2, 63 + 128])  # only the lowest six bits count
    monkeypatch.setattr("secrets.token_bytes", lambda count: drawn[:count])
    assert int(table.random()) == pow(3, 7 + 64 * 1, MODULUS) * pow(5, 2 + 64 * 63, MODULUS) % (
        MODULUS
    )


@given(st.lists(st.tuples(st.integers(0, 2**90), st.integers(1, 2**30)), min_size=1, max_size=9))
def test_quotients_are_those_of_single_inverses(pairs: list[tuple[int, int]]) -> None:
    left, right = zip(*pairs, strict=True)
    expected = [a * pow(b, -1, MODULUS) % MODULUS for a, b in pairs]
    found = quotients([RING(a) for a in left], [RING(b) for b in right])
    assert [int(number) for number in found] == expected


def test_what_has_no_inverse_is_refused_and_nothing_is_nothing() -> None:
    with pytest.raises(CryptoError, match="has no inverse"):
        quotients([RING(5), RING(7)], [RING(3), RING(2**31 - 1)])
    assert quotients([], []) == []
