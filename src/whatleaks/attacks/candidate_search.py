"""Candidate search: possible values put through the granted model, those kept that give the scores.

Ours, after approximate Bayesian computation; in none of the papers. ``models.candidate_search`` says how.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.models.candidate_search import candidate_mean, first_candidates
from whatleaks.models.possible_records import PossibleRecords, possible_records
from whatleaks.models.reproduced import Reproduced
from whatleaks.models.scored_candidates import ScoredByNetwork
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import WhiteBoxLinearView, WhiteBoxPredictionView


def possible(view: Any) -> PossibleRecords:
    """Return what the view grants of the unknown columns: the schema's grids, else their ranges."""
    if view.unknown < 1:
        raise AttackError("candidate search needs at least 1 unknown column, got 0")
    grids = None if view.schema is None else view.schema.grids
    if view.ranges is None:
        return possible_records(view.unknown, grids, np.zeros(view.unknown), np.ones(view.unknown))
    return possible_records(view.unknown, grids, view.ranges.low, view.ranges.high)


@attack(
    "candidate-search",
    title="Search through possible values for those that the network scores as was seen",
    paper="whatleaks",
    needs="scores, the whole model and the columns' ranges",
)
@travels
@dataclass(frozen=True)
class CandidateSearch:
    """Told by a defense: ``cut``, digits after which scores are cut off; ``noise`` on them."""

    # There the scores are equations, which half* and lattice decoding solve: see the page of this attack.
    leaves_out: ClassVar[tuple[type, ...]] = (WhiteBoxLinearView,)

    cut: int = -1
    noise: float = 0.0
    name: str = "candidate-search"

    def infer(self, view: WhiteBoxPredictionView, rng: np.random.Generator) -> ValueGuess:
        """Search for all records at once."""
        records = possible(view)
        scoring = ScoredByNetwork(view.model, view.own)
        told = Reproduced(view.scores, True, self.cut, self.noise)
        first = first_candidates(records, len(view.own), scoring.cost, rng)
        return ValueGuess(sealed(candidate_mean(scoring, told, records, first, rng)))
