"""A number with its interval, its count and its unit: never a bare number."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from whatleaks.codec import travels


@travels
@dataclass(frozen=True, slots=True)
class Measurement:
    """``value`` lies in [``low``, ``high``] at 95 %; ``n`` units of ``over`` were measured."""

    value: float
    low: float
    high: float
    n: int
    unit: str
    over: str

    def __post_init__(self) -> None:
        """Refuse numbers that are not finite or stand outside their own interval."""
        # An audit of thousands of columns makes millions of these.
        if not (isfinite(self.value) and isfinite(self.low) and isfinite(self.high)):
            raise ValueError(f"a measurement in {self.unit} is not finite")
        if not self.low <= self.value <= self.high:
            raise ValueError(
                f"a measurement of {self.value} lies outside [{self.low}, {self.high}]"
            )

    def __str__(self) -> str:
        """Show value, interval and count on one line."""
        return f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}] n={self.n} {self.over}"
