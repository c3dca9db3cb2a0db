"""Possible records, as likely as known people make them, column by column.

Of n people the next one's value falls into each of the n + 1 gaps between theirs with the same chance:
that is so for any distribution, if they were drawn alike. In a gap all values are alike, and a
column with levels takes the nearest one. A category of a one-hot group has Laplace's chance, (count
+ 1) / (n + categories). How columns go together is not used: 25 people say little about it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.models.candidate_search import Candidates
from whatleaks.models.possible_records import Axis, PossibleRecords


@dataclass(frozen=True)
class LikelyRecords(PossibleRecords):
    """The same axes; equal lengths of an axis are equally likely, as everywhere in the search.

    ``ends``: for every axis where its gaps end, or up to which place each category reaches.
    """

    ends: tuple[Floats, ...]

    def values(self, places: Floats) -> Floats:
        """Return records at places of the cube: the last dimension, axes, becomes columns."""
        found = np.empty((*places.shape[:-1], self.width))
        for i, (axis, ends) in enumerate(zip(self.axes, self.ends, strict=True)):
            if len(axis.columns) > 1:
                which = np.searchsorted(ends[:-1], places[..., i], side="right")
                found[..., list(axis.columns)] = axis.table[which]
            else:
                drawn = np.interp(places[..., i], _steps(ends), ends)
                found[..., axis.columns[0]] = axis.grid.snap(drawn)
        return found

    def weights(self, values: Floats) -> Floats:
        """Return how likely listed records are: none of their columns is free."""
        found = np.ones(len(values))
        for axis, ends in zip(self.axes, self.ends, strict=True):
            if len(axis.columns) > 1:
                level, chances = (
                    values[:, list(axis.columns)].argmax(axis=1),
                    np.diff(ends, prepend=0),
                )
            else:
                levels, level = np.unique(values[:, axis.columns[0]], return_inverse=True)
                borders = np.interp(0.5 * (levels[1:] + levels[:-1]), ends, _steps(ends))
                chances = np.diff(np.concatenate([[0.0], borders, [1.0]]))
            found *= chances[level]
        return found

    def first(self, even: Candidates) -> Candidates:
        """Return candidates that stand for likely records, from those that stand for all alike."""
        if even.complete:
            weights = self.weights(even.values)
            return Candidates(even.places, even.values, weights, complete=True)
        return replace(even, values=self.values(even.places))


def likely_records(records: PossibleRecords, people: Floats) -> LikelyRecords:
    """Return records as likely as ``people`` (a row for each, unknown columns) make them."""
    ends = tuple(_ends(axis, people[:, list(axis.columns)]) for axis in records.axes)
    return LikelyRecords(records.axes, records.width, ends)


def _ends(axis: Axis, seen: Floats) -> Floats:
    if len(axis.columns) > 1:
        counts = np.bincount(seen.argmax(axis=1), minlength=len(axis.columns)) + 1.0
        return np.asarray(np.cumsum(counts) / counts.sum())
    low, high = axis.grid.bounds
    inside = np.sort(np.clip(seen[:, 0], low, high))
    return np.concatenate([[low], inside, [high]])


def _steps(ends: Floats) -> Floats:
    return np.linspace(0.0, 1.0, len(ends))
