"""Guessed pictures against the true ones: squared error and PSNR of every record."""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.arrays import Floats, sealed
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.metrics.picture import psnr
from whatleaks.threat.guess import PictureGuess
from whatleaks.trial.truth import Committed, Truth


@travels
@dataclass(frozen=True)
class PictureScored:
    """Per record the mean squared error of all pixels and the peak signal-to-noise ratio in dB."""

    name: str
    role: str
    squared: Floats
    psnr: Floats
    seconds: float
    isolated: str


def score_pictures(committed: Committed, role: str, truth: Truth) -> PictureScored:
    """Score pictures on a scale from 0 to 1; the truth holds one flat picture per record."""
    guess = committed.guess
    assert isinstance(guess, PictureGuess)
    flat = guess.values.reshape(len(guess.values), -1)
    if flat.shape != truth.values.shape:
        raise AttackError(
            f"{committed.name} guessed {len(flat)} pictures of {flat.shape[1]} numbers, the truth "
            f"has {truth.values.shape[0]} of {truth.values.shape[1]}"
        )
    squared = ((flat - truth.values) ** 2).mean(axis=1)
    return PictureScored(
        committed.name,
        role,
        sealed(squared),
        sealed(psnr(squared)),
        committed.seconds,
        committed.isolated,
    )
