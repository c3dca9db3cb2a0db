"""Fixed point: real numbers as integers, because additive encryption adds integers only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from whatleaks.arrays import Floats
from whatleaks.errors import CryptoError

BigInts: TypeAlias = npt.NDArray[np.object_]

_to_int = np.frompyfunc(int, 1, 1)


@dataclass(frozen=True)
class FixedPoint:
    """Numbers below ``2**whole`` in size, in steps of ``2**-fraction``.

    Rounding is to the nearest step, so encoding errs by at most ``error`` = half a step:
    1.8e-15 with the default 48 bits. A larger number is refused, never wrapped around.
    """

    whole: int = 31
    fraction: int = 48

    def __post_init__(self) -> None:
        """Refuse formats without room for a number."""
        if self.whole < 1 or not 1 <= self.fraction <= 512:
            raise CryptoError(
                f"a fixed point of {self.whole} whole and {self.fraction} fraction bits is not "
                "usable: take at least 1 of each and at most 512 for the fraction"
            )

    @property
    def error(self) -> float:
        """The largest rounding error of one encoded number."""
        return 2.0 ** -(self.fraction + 1)

    @property
    def bits(self) -> int:
        """The size of the largest encoded integer, in bits."""
        return self.whole + self.fraction

    def encode(self, values: Floats, fraction: int | None = None) -> BigInts:
        """Round to integers in steps of ``2**-fraction`` (this format's own unless given)."""
        largest = float(np.max(np.abs(values), initial=0.0))
        if not largest < 2.0**self.whole:  # also true for a value that is not a number
            raise CryptoError(
                f"a number of size {largest:.3g} does not fit into fixed point below "
                f"2**{self.whole}: scale the columns, or lower the learning rate"
            )
        steps = np.rint(np.ldexp(values, self.fraction if fraction is None else fraction))
        integers: BigInts = np.asarray(_to_int(steps), dtype=object)
        return integers

    def decode(self, integers: BigInts, fraction: int) -> Floats:
        """Return the nearest double of every integer counted in steps of ``2**-fraction``."""
        step = 1 << fraction
        # Division of Python integers rounds once, however long they are.
        return np.asarray(np.frompyfunc(lambda n: n / step, 1, 1)(integers), dtype=np.float64)
