"""Reverse sum: SecureBoost's histograms spell out who is in which bin (Weng et al.).

An active party that encrypts a power of two for every record, in place of derivatives, reads from
each decrypted sum who lies left of a candidate split (``federation.boost.chosen``). Candidates come
shuffled, so neither column nor threshold is named. Here people whom it knows completely name both
(``models.shuffled_candidates``). Every other record is then bounded, and within its bounds the
regression on the known people answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.ridge import learnt
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.spelled import SpelledView


@attack(
    "reverse-sum",
    title="Each record's interval, from sums of numbers chosen in place of derivatives",
    paper="Weng, Zhang, Xue, Wei, Ji, Zong 2020 (arXiv 2011.09290)",
    needs="the power to choose what the partner adds up; complete records of some people who train",
)
@travels
@dataclass(frozen=True)
class ReverseSum:
    """Not in the paper: known people place the splits, and the regression on them answers inside."""

    name: str = "reverse-sum"

    def infer(self, view: SpelledView, rng: np.random.Generator) -> ValueGuess:
        """Bound every record, then answer for it."""
        del rng
        low, high = view.bounds()
        known = view.auxiliary
        return ValueGuess(sealed(np.clip(learnt(known.own, known.passive, view.own), low, high)))
