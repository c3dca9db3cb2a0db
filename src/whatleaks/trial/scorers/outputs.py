"""Guessed intermediate values against the true ones: one relative error (L 6.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.threat.guess import OutputGuess
from whatleaks.trial.truth import Committed, Truth


@travels
@dataclass(frozen=True)
class OutputScored:
    """How far the guessed intermediate values are off: mean error over mean size."""

    name: str
    role: str
    relative: float
    seconds: float
    isolated: str


def score_outputs(committed: Committed, role: str, truth: Truth) -> OutputScored:
    """Score the partner's intermediate values."""
    guess = committed.guess
    assert isinstance(guess, OutputGuess)
    if truth.outputs is None or guess.values.shape != truth.outputs.shape:
        raise AttackError(f"{committed.name} guessed intermediate values that nobody computed")
    size = float(np.abs(truth.outputs).mean())
    relative = float(np.abs(guess.values - truth.outputs).mean()) / size
    return OutputScored(committed.name, role, relative, committed.seconds, committed.isolated)
