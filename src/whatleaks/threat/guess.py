"""What an attack commits to. One answer; the evaluator scores it once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, Ints
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
            _refuse_not_finite(table)


@travels
@dataclass(frozen=True)
class IntervalGuess:
    """A lower and an upper bound for every target record and column."""

    low: Floats
    high: Floats


@travels
@dataclass(frozen=True)
class BranchGuess:
    """A path through a decision tree for every target record, and what it says of the columns.

    ``leaf``: the node number of the leaf at the path's end. ``candidates``: how many paths the
    leaf was chosen among. A value lies in (``low``, ``high``]: records x unknown columns. A
    side that no test on the path bounds is given as the border of the public range.
    """

    leaf: Ints
    candidates: Ints
    low: Floats
    high: Floats

    def __post_init__(self) -> None:
        """Refuse what cannot be scored."""
        if self.low.shape != self.high.shape or self.low.ndim != 2:
            raise AttackError("an attack returned bounds of two shapes: this is a bug in it")
        if not len(self.leaf) == len(self.candidates) == len(self.low):
            raise AttackError("an attack returned paths for other records than bounds: a bug in it")
        if not (np.isfinite(self.low).all() and np.isfinite(self.high).all()):
            raise AttackError("an attack returned a bound that is not finite: this is a bug in it")


@travels
@dataclass(frozen=True)
class OutputGuess:
    """The partner's intermediate values: one row per record, one column per epoch."""

    values: Floats

    def __post_init__(self) -> None:
        """Refuse what cannot be scored."""
        _refuse_not_finite(self.values)


@travels
@dataclass(frozen=True)
class PictureGuess:
    """A picture for every target record: records x height x width x channels, on a scale 0 to 1."""

    values: Floats

    def __post_init__(self) -> None:
        """Refuse what cannot be scored."""
        _refuse_not_finite(self.values)
        if self.values.ndim != 4:
            raise AttackError(
                f"an attack returned pictures with {self.values.ndim} axes: records, height, "
                "width and channels are needed"
            )


Guess = ValueGuess | IntervalGuess | BranchGuess | OutputGuess | PictureGuess


def _refuse_not_finite(values: Floats) -> None:
    if not np.isfinite(values).all():
        raise AttackError("an attack returned a value that is not finite: this is a bug in it")
