"""Guesses from auxiliary records and own columns alone: what the grants are worth without
any federation. An attack on embeddings that does not beat them shows no leak of embeddings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.answer_range import kept_in_range
from whatleaks.catalog import baseline
from whatleaks.codec import travels
from whatleaks.models.ridge import learnt
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.split import AuxiliaryView


@baseline(
    "auxiliary-mean",
    title="The average of the auxiliary records",
    needs="auxiliary records",
)
@travels
@dataclass(frozen=True)
class AuxiliaryMean:
    """The mean of the auxiliary records in every column, the same for everybody."""

    name: str = "auxiliary-mean"

    def infer(self, view: AuxiliaryView, rng: np.random.Generator) -> ValueGuess:
        """Answer the mean."""
        del rng
        mean = view.auxiliary.passive.mean(axis=0)
        return ValueGuess(sealed(np.broadcast_to(mean, (len(view.own), view.unknown))))


@baseline(
    "auxiliary-regression",
    title="A regression on the auxiliary records, without any message",
    needs="auxiliary records",
)
@travels
@dataclass(frozen=True)
class AuxiliaryRegression:
    """Ridge regression from own to passive columns on the auxiliary records; no message.

    Its strength is chosen by leaving auxiliary records out, column by column; its answers are kept
    in the columns' range.
    """

    name: str = "auxiliary-regression"

    def infer(self, view: AuxiliaryView, rng: np.random.Generator) -> ValueGuess:
        """Learn on the auxiliary records, answer for the targets."""
        del rng
        known = view.auxiliary
        values = learnt(known.own, known.passive, view.own)
        return ValueGuess(sealed(kept_in_range(values, view)))
