"""Candidate search through trees: one tree's class or shares, or a forest's votes.

One unknown column is known to a model of trees only by the sides of its thresholds that it lies on: the
parts between them are all the candidates there are, each as likely as it is long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.candidate_search import possible
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.candidate_search import MOST, Candidates, candidate_mean, first_candidates
from whatleaks.models.leaf_products import ScoredByTrees
from whatleaks.models.possible_records import PossibleRecords
from whatleaks.models.reproduced import Reproduced
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.tree import WhiteBoxForestView, WhiteBoxTreeView


def searched(
    view: WhiteBoxTreeView | WhiteBoxForestView,
    soft: bool,
    cut: int,
    noise: float,
    rng: np.random.Generator,
) -> Floats:
    """Return the mean of every record's candidates."""
    records = possible(view)
    scoring = ScoredByTrees(view.model, view.own, soft=soft)
    told = Reproduced(view.released, False, cut, noise)
    first = parts_between(records, scoring.borders())
    if first is None:
        first = first_candidates(records, len(view.own), scoring.cost, rng)
    return sealed(candidate_mean(scoring, told, records, first, rng))


def parts_between(records: PossibleRecords, borders: Floats) -> Candidates | None:
    """Return the parts of one free column between the thresholds, by their middles; else None."""
    axis = records.axes[0]
    if len(records.axes) > 1 or axis.levels <= MOST or len(borders) >= MOST:
        return None
    low, high = axis.grid.bounds
    ends = np.concatenate([[low], borders[(borders > low) & (borders < high)], [high]])
    middles = 0.5 * (ends[1:] + ends[:-1])[:, None]
    return Candidates(np.zeros_like(middles), middles, np.diff(ends), complete=True)


@attack(
    "candidate-search-forest",
    title="Search through possible values for those that the forest votes on as was seen",
    paper="whatleaks",
    needs="vote fractions, the whole forest and the columns' ranges",
)
@travels
@dataclass(frozen=True)
class CandidateSearchForest:
    """Told by a defense: ``cut``, digits after which votes are cut off; ``noise`` on them."""

    cut: int = -1
    noise: float = 0.0
    name: str = "candidate-search-forest"

    def infer(self, view: WhiteBoxForestView, rng: np.random.Generator) -> ValueGuess:
        """Search for all records at once."""
        return ValueGuess(searched(view, view.model.soft, self.cut, self.noise, rng))


@attack(
    "candidate-search-tree",
    title="Search through possible values for those that the tree answers as was seen",
    paper="whatleaks",
    needs="the released class or shares, the whole tree and the columns' ranges",
)
@travels
@dataclass(frozen=True)
class CandidateSearchTree:
    """A tree that was trained here releases its class, one from outside the shares in the leaf."""

    cut: int = -1
    noise: float = 0.0
    name: str = "candidate-search-tree"

    def infer(self, view: WhiteBoxTreeView, rng: np.random.Generator) -> ValueGuess:
        """Search for all records at once."""
        soft = bool(((view.released > 0.0) & (view.released < 1.0)).any())
        return ValueGuess(searched(view, soft, self.cut, self.noise, rng))
