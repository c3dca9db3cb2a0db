"""Shared squarings give the same products, and the fast matrix product is the library's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.crypto.heu_backend import HeuCiphers
from whatleaks.crypto.keys import generate_keys
from whatleaks.crypto.modular import horner, power_products, quotients
from whatleaks.errors import CryptoError

MODULUS = (2**61 - 1) * (2**31 - 1)


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
    assert power_products(bases, exponents, MODULUS) == expected


@pytest.mark.parametrize(("backend", "bits"), [("heu-paillier", 512), ("heu-ou", 1024)])
def test_the_fast_product_is_the_librarys_to_the_byte(backend: str, bits: int) -> None:
    pytest.importorskip("heu", reason="needs sf-heu: pip install 'whatleaks[secure]'")
    rng = np.random.default_rng(0)
    for _ in range(3):  # other keys: moduli with and without a bit at the top
        key, _ = generate_keys(backend, bits, insecure_test_key=True)
        ciphers = key._ciphers
        assert isinstance(ciphers, HeuCiphers)
        raw = ciphers._raw
        assert raw is not None, "the layout is not read: products fall back to the slow library"
        values = np.array([int(v) for v in rng.integers(-1000, 1000, 130)], dtype=object)
        vector = ciphers.encrypt(values)
        # 130 numbers of either sign: some have a zero byte or a bit at the top.
        assert raw.write(raw.read(vector.serialize())) == vector.serialize()
        matrix = np.array([[int(v) for v in row] for row in rng.integers(-50, 50, (12, 130))])
        matrix = matrix.astype(object)
        fast = ciphers.matmul_plain(matrix, vector)
        ciphers._raw = None
        slow = ciphers.matmul_plain(matrix, vector)
        assert fast.serialize() == slow.serialize()


@given(st.integers(1, 4), st.integers(1, 7), st.integers(1, 90), st.integers(0, 2**32))
def test_horner_is_the_product_of_powers_of_two(
    rows: int, columns: int, bits: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    numbers = [int(n) for n in rng.integers(1, 2**62, 9)]
    places = rng.integers(0, 9, (rows, columns))
    expected = [
        math.prod(pow(numbers[p], 2 ** (bits * r), MODULUS) for r, p in enumerate(column)) % MODULUS
        for column in places.T.tolist()
    ]
    assert horner(numbers, places, bits, MODULUS) == expected


@given(st.lists(st.tuples(st.integers(0, 2**90), st.integers(1, 2**30)), min_size=1, max_size=9))
def test_quotients_are_those_of_single_inverses(pairs: list[tuple[int, int]]) -> None:
    left, right = zip(*pairs, strict=True)
    expected = [a * pow(b, -1, MODULUS) % MODULUS for a, b in pairs]
    assert quotients(left, right, MODULUS) == expected


def test_what_has_no_inverse_is_refused_and_nothing_is_nothing() -> None:
    with pytest.raises(CryptoError, match="has no inverse"):
        quotients([5, 7], [3, 2**31 - 1], MODULUS)
    assert horner([], np.zeros((2, 0), dtype=np.int64), 8, MODULUS) == []
