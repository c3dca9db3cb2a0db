"""How exact a released score is, and what is left of that in its logarithm.

A score c stands for any true score within ``relative * c + absolute`` of it. Its logarithm is
therefore known within an interval: about ``relative + absolute / c`` wide on each side, so small
probabilities lose digits when decimals are kept, and keep them when significant digits are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.codec import travels
from whatleaks.errors import UsageError

# Rounding of exp, of the sum and of the quotient: a few last places of the released format.
LAST_PLACES = 4.0


@travels
@dataclass(frozen=True)
class Precision:
    """``arithmetic``: the unit roundoff of the logits' own computation (2**-53 for doubles)."""

    relative: float = LAST_PLACES * 2.0**-53
    absolute: float = 0.0
    arithmetic: float = 2.0**-53

    def __post_init__(self) -> None:
        """Refuse a precision that is none."""
        if not (
            0.0 <= self.relative < 0.5 and 0.0 <= self.absolute < 1.0 and self.arithmetic > 0.0
        ):
            raise UsageError(
                "a precision needs a relative error below 0.5 and an absolute one below 1, got "
                f"{self.relative} and {self.absolute}"
            )

    def logarithms(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the least and greatest logarithm that each score may stand for.

        Where rounding may have made the score zero the lower end is minus infinity: such a
        score bounds its class from above and is no equation.
        """
        slack = self.relative * scores + self.absolute
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = np.log(scores)
            share = slack / scores
            low = middle + np.log1p(-np.minimum(share, 1.0))
            high = middle + np.log1p(share)
        # Zero, or a double too small to keep all of its places.
        tiny = scores < np.finfo(np.float64).tiny
        low = np.where(tiny, -np.inf, low)
        high = np.where(tiny, np.log(np.finfo(np.float64).tiny + self.absolute), high)
        return low, high


def float64() -> Precision:
    """Return the precision of scores released as doubles, each from its own logit."""
    return Precision()


def float32(arithmetic: float = 2.0**-53) -> Precision:
    """Return the precision of scores released as 32-bit floats."""
    return Precision(2.0**-24 + LAST_PLACES * max(2.0**-53, arithmetic), 2.0**-149, arithmetic)


def decimals(digits: int) -> Precision:
    """Return the precision of scores rounded to so many digits after the point."""
    if not 0 <= digits <= 17:
        raise UsageError(f"scores are rounded to 0..17 decimals, got {digits}")
    return Precision(LAST_PLACES * 2.0**-53, 0.5 * 10.0**-digits * (1.0 + 1e-9))


def seen_precision(scores: Floats) -> Precision:
    """Read the precision off the scores themselves: decimals, 32-bit floats, or doubles.

    Uses only what was released. Many scores that all end after the same digit were rounded there.
    """
    told = scores[(scores > 0.0) & (scores < 1.0)]
    for digits in range(1, 13):
        if bool((np.abs(told - np.round(told, digits)) <= 2.0**-52).all()):
            return decimals(digits)
    narrow = told.astype(np.float32).astype(np.float64)
    return float32() if told.size and bool((narrow == told).all()) else float64()
