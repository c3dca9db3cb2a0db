"""A small decoder on auxiliary pictures alone, and the better of it and the regression: the bar.

A picture's other half follows from the own one in ways that no line draws. Whoever has complete
pictures can train a decoder on them before any message is sent. An attack on pictures that does not
beat the better of the two has told less than its holder knew. Which one is better is found on
auxiliary pictures that both were not trained on, never on those that are attacked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.answer_range import kept_in_range
from whatleaks.attacks.auxiliary_baselines import AuxiliaryRegression
from whatleaks.catalog import baseline
from whatleaks.codec import travels
from whatleaks.models.small_decoder import Decoded, DecoderSettings, decoded
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.split import AuxiliaryView


@baseline(
    "auxiliary-decoder",
    title="A small decoder trained on the auxiliary pictures, without any message",
    needs="auxiliary records",
)
@travels
@dataclass(frozen=True)
class AuxiliaryDecoder:
    """``rounds`` over the auxiliary records at most; it stops by some that it leaves out."""

    extra: ClassVar[str] = "networks"
    pictures: ClassVar[bool] = True  # tables have their regression

    rounds: int = 100
    name: str = "auxiliary-decoder"

    def infer(self, view: AuxiliaryView, rng: np.random.Generator) -> ValueGuess:
        """Learn on the auxiliary records, answer for the targets."""
        found = _learnt(view, rng, self.rounds)
        return ValueGuess(sealed(kept_in_range(found.values, view)))


@baseline(
    "auxiliary-best",
    title="Regression or decoder, whichever does better on auxiliary pictures left out",
    needs="auxiliary records",
)
@travels
@dataclass(frozen=True)
class AuxiliaryBest:
    """What the auxiliary records tell without any message, by whichever of two learners reads it better."""

    extra: ClassVar[str] = "networks"
    pictures: ClassVar[bool] = True
    stream: ClassVar[str] = "auxiliary-decoder"  # the very decoder that stands beside it
    weighs: ClassVar[tuple[str, ...]] = ("auxiliary-regression", "auxiliary-decoder")

    rounds: int = 100
    name: str = "auxiliary-best"

    def infer(self, view: AuxiliaryView, rng: np.random.Generator) -> ValueGuess:
        """Answer as the one that missed the left-out records less."""
        found = _learnt(view, rng, self.rounds)
        if found.regression <= found.missed:
            return AuxiliaryRegression().infer(view, rng)
        return ValueGuess(sealed(kept_in_range(found.values, view)))


def _learnt(view: AuxiliaryView, rng: np.random.Generator, rounds: int) -> Decoded:
    known = view.auxiliary
    return decoded(known.own, known.passive, view.own, rng, DecoderSettings(rounds=rounds))
