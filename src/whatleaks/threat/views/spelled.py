"""The view of an active party of SecureBoost that chose the numbers which the others add up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed_ints
from whatleaks.codec import travels
from whatleaks.models.shuffled_candidates import bounds_of_candidates
from whatleaks.threat.grants import Grant, KnownPeople, Ranges, SpelledBins
from whatleaks.threat.views.split import AuxiliaryView


@travels
@dataclass(frozen=True)
class SpelledView(AuxiliaryView):
    """Who lies left of every candidate split, and complete records of some people among them.

    ``places`` says where the records under attack stand among those that trained.
    """

    needs: ClassVar[tuple[type[Grant], ...]] = (SpelledBins,)

    bins: SpelledBins
    places: Ints
    auxiliary: KnownPeople = field(kw_only=True)
    ranges: Ranges = field(kw_only=True)

    def exchanged(self, order: Ints) -> Self:
        """Return the view with every target's sides taken from another target; own columns stay."""
        return replace(self, places=sealed_ints(self.places[order]))

    def bounds(self) -> tuple[Floats, Floats]:
        """Return every target's interval in every column, as the known people place the splits."""
        bins, known = self.bins, self.auxiliary
        low = np.repeat(self.ranges.low[None], len(self.places), axis=0)
        high = np.repeat(self.ranges.high[None], len(self.places), axis=0)
        for records, left, first, last in zip(
            bins.records, bins.left, bins.first, bins.last, strict=True
        ):
            columns = slice(first, last)
            mine, at = _met(known.places, records)
            targets, rows = _met(self.places, records)
            below, above = bounds_of_candidates(
                left > 0, at, known.passive[mine, columns],
                self.ranges.low[columns], self.ranges.high[columns],
            )  # fmt: skip
            low[targets, columns] = np.maximum(low[targets, columns], below[rows])
            high[targets, columns] = np.minimum(high[targets, columns], above[rows])
        return low, high

    def evidence(self) -> Floats:
        """Return one row per record: own columns, and the intervals that its sides give."""
        return np.concatenate([self.own, *self.bounds()], axis=1)


def _met(places: Ints, records: Ints) -> tuple[Ints, Ints]:
    """Return which of ``places`` are among ``records``, and where."""
    order = np.argsort(records)
    at = np.searchsorted(records[order], places).clip(max=len(records) - 1)
    found = np.flatnonzero(records[order[at]] == places)
    return found, order[at[found]]
