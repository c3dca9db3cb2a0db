"""The small decoder of one who has auxiliary records and may ask the passive party's network about them.

As ``embedding-regression``, with a decoder in place of the line: on pictures, whatever else is tried
with the same grants must beat the better of the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.answer_range import kept_in_range
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.small_decoder import DecoderSettings, decoded, one_spread
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.split import QueryView


@attack(
    "embedding-decoder",
    title="A small decoder on the auxiliary records and the passive party's answers to them",
    paper="whatleaks",
    needs="auxiliary records and the passive party's answers to them, embeddings",
    again=False,
)
@travels
@dataclass(frozen=True)
class EmbeddingDecoder:
    """Own columns and embeddings side by side, each on a scale of its own."""

    extra: ClassVar[str] = "networks"

    rounds: int = 100
    name: str = "embedding-decoder"

    def infer(self, view: QueryView, rng: np.random.Generator) -> ValueGuess:
        """Have the auxiliary records answered, train, decode what was received."""
        records = view.auxiliary
        answers = view.model(self.name).answers(records.passive)
        own, sent = one_spread(records.own), one_spread(answers)
        known = np.concatenate([own.apply(records.own), sent.apply(answers)], axis=1)
        seen = np.concatenate([own.apply(view.own), sent.apply(view.embeddings)], axis=1)
        settings = DecoderSettings(rounds=self.rounds)
        found = decoded(sealed(known), records.passive, sealed(seen), rng, settings)
        return ValueGuess(sealed(kept_in_range(found.values, view)))
