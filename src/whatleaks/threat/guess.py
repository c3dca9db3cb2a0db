"""What an attack commits to. One answer; the evaluator scores it once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.codec import travels
from whatleaks.errors import AttackError


@travels
@dataclass(frozen=True)
class ValueGuess:
    """A value for every target record and column.

    ``alternatives`` holds the other tables that fit the view equally well, when the
    attack proves that its answer is one of finitely many. They are reported, never
    chosen among with the truth in hand.
    """

    values: Floats
    alternatives: tuple[Floats, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be scored."""
        for table in (self.values, *self.alternatives):
            if not np.isfinite(table).all():
                raise AttackError(
                    "an attack returned a value that is not finite: this is a bug in it"
                )


@travels
@dataclass(frozen=True)
class IntervalGuess:
    """A lower and an upper bound for every target record and column."""

    low: Floats
    high: Floats


Guess = ValueGuess | IntervalGuess
