"""Fixed point: rounding to half a step, exact decoding, overflow refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatleaks.crypto.fixed_point import FixedPoint
from whatleaks.errors import CryptoError

inside = st.floats(-(2.0**31), 2.0**31, exclude_min=True, exclude_max=True)


@given(st.lists(inside, min_size=1, max_size=8), st.integers(1, 80))
def test_encoding_errs_by_at_most_half_a_step(values: list[float], fraction: int) -> None:
    numbers = FixedPoint(31, fraction)
    encoded = numbers.encode(np.array(values))
    for value, integer in zip(values, encoded, strict=True):
        off = abs(Fraction(value) - Fraction(int(integer), 2**fraction))
        assert off <= Fraction(1, 2 ** (fraction + 1))
        assert abs(integer) <= 2**numbers.bits


@given(st.integers(-(2**200), 2**200), st.integers(1, 150))
def test_decoding_gives_the_nearest_double(integer: int, fraction: int) -> None:
    decoded = FixedPoint().decode(np.array([integer], dtype=object), fraction)
    assert decoded[0] == float(Fraction(integer, 2**fraction))


@pytest.mark.parametrize("value", [2.0**31, -(2.0**31), 1e300, np.inf, np.nan])
def test_what_does_not_fit_is_refused(value: float) -> None:
    with pytest.raises(CryptoError, match="does not fit"):
        FixedPoint().encode(np.array([0.5, value]))


def test_the_largest_that_fits_comes_back() -> None:
    largest = np.nextafter(2.0**31, 0.0)
    numbers = FixedPoint()
    assert numbers.decode(numbers.encode(np.array([largest])), numbers.fraction)[0] == largest


@pytest.mark.parametrize(("whole", "fraction"), [(0, 48), (31, 0), (31, 513)])
def test_useless_formats_are_refused(whole: int, fraction: int) -> None:
    with pytest.raises(CryptoError, match="not usable"):
        FixedPoint(whole, fraction)
