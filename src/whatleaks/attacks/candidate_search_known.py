"""Candidate search by one who knows some people: likely values weigh more among those that fit.

Ours. Without people all possible values are alike, though most columns crowd in a corner of their range.
A forest's votes are better answered by ``forest-conditional-mean``: see the page of this attack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.candidate_search import possible
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.candidate_search import candidate_mean, first_candidates
from whatleaks.models.likely_records import likely_records
from whatleaks.models.reproduced import Reproduced
from whatleaks.models.scored_candidates import ScoredByNetwork
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.known import KnownLinearView, KnownWhiteBoxView


@attack(
    "candidate-search-known",
    title="Search through likely values for those that the network scores as was seen",
    paper="whatleaks",
    needs="scores, the whole model, the columns' ranges, and complete records of some people",
)
@travels
@dataclass(frozen=True)
class CandidateSearchKnown:
    """Told by a defense: ``cut``, digits after which scores are cut off; ``noise`` on them."""

    leaves_out: ClassVar[tuple[type, ...]] = (KnownLinearView,)

    cut: int = -1
    noise: float = 0.0
    name: str = "candidate-search-known"

    def infer(self, view: KnownWhiteBoxView, rng: np.random.Generator) -> ValueGuess:
        """Search for all records at once."""
        records = possible(view)
        likely = likely_records(records, view.auxiliary.passive)
        scoring = ScoredByNetwork(view.model, view.own)
        told = Reproduced(view.scores, True, self.cut, self.noise)
        even = first_candidates(records, len(view.own), scoring.cost, rng, listed=False)
        first = likely.first(even)
        return ValueGuess(sealed(candidate_mean(scoring, told, likely, first, rng)))
