"""Guessed intervals against the truth: how wide they are and how often they hold the value."""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.arrays import Floats, sealed
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.threat.guess import IntervalGuess
from whatleaks.trial.truth import Committed, Truth


@travels
@dataclass(frozen=True)
class IntervalScored:
    """Records x columns: the width of each interval, and one where it holds the true value."""

    name: str
    role: str
    width: Floats
    held: Floats
    seconds: float
    isolated: str


def score_intervals(committed: Committed, role: str, truth: Truth) -> IntervalScored:
    """Score lower and upper bounds."""
    guess = committed.guess
    assert isinstance(guess, IntervalGuess)
    if not guess.low.shape == guess.high.shape == truth.values.shape:
        raise AttackError(f"{committed.name} guessed intervals of another shape than the truth has")
    held = (guess.low <= truth.values) & (truth.values <= guess.high)
    return IntervalScored(
        committed.name,
        role,
        sealed(guess.high - guess.low),
        sealed(held),
        committed.seconds,
        committed.isolated,
    )
