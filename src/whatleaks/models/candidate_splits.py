"""Candidate splits: columns cut into bins, and the order in which equal splits are preferred."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Bools, Buckets, Floats, Ints, sealed, sealed_bools
from whatleaks.codec import travels
from whatleaks.errors import TableError

MOST_BINS = 127  # and one bucket for missing values: what int8 holds


@travels
@dataclass(frozen=True)
class Bins:
    """Where each column is cut, and whether it has missing values.

    Bin b of a column holds the values from ``cuts[b - 1]`` (included) to ``cuts[b]``
    (excluded); the code after the last bin means missing.
    """

    cuts: tuple[Floats, ...]
    gaps: Bools

    def codes(self, x: Floats) -> Buckets:
        """Return the bin of every value."""
        codes = np.empty(x.shape, dtype=np.int8)
        for column, cuts in enumerate(self.cuts):
            values = x[:, column]
            place = np.searchsorted(cuts, values, side="right")
            codes[:, column] = np.where(np.isnan(values), len(cuts) + 1, place)
        return codes

    @property
    def missing(self) -> Ints:
        """The code that means missing, for every column."""
        return np.array([len(cuts) + 1 for cuts in self.cuts], dtype=np.int64)

    def thresholds(self, column: Ints, bin_: Ints) -> Floats:
        """Return the value below which a record lies in one of the bins up to ``bin_``."""
        return sealed([[*self.cuts[c], np.inf][b] for c, b in zip(column, bin_, strict=True)])


def fit_bins(x: Floats, most: int) -> Bins:
    """Cut every column between its distinct values, or at its quantiles if they are too many."""
    if x.ndim != 2 or not x.shape[1]:
        raise TableError(f"boosting needs a table with at least one column, got {x.shape}")
    if np.isinf(x).any():
        raise TableError("a column has an infinite value: boosting takes numbers or missing ones")
    return Bins(
        tuple(_cuts(x[:, c], most) for c in range(x.shape[1])),
        sealed_bools(np.isnan(x).any(axis=0)),
    )


def _cuts(values: Floats, most: int) -> Floats:
    present = values[~np.isnan(values)]
    distinct = np.unique(present)
    if len(distinct) <= most:
        middle = distinct[:-1] + (distinct[1:] - distinct[:-1]) / 2
        # Two neighbouring doubles have no middle: the upper one cuts between them.
        return sealed(np.where(middle > distinct[:-1], middle, distinct[1:]))
    quantiles = np.unique(np.quantile(present, np.arange(1, most) / most))
    return sealed(quantiles[quantiles > distinct[0]])


@dataclass(frozen=True)
class Candidates:
    """The candidate splits of some columns, in the order that breaks ties.

    ``view_*`` describe the columns as they are summed: a column with missing values is seen
    twice, once with them after the last bin (right) and once in the first (left). Summed
    cumulatively along the buckets, ``cell`` of the views gives a candidate's left side.
    """

    view_column: Ints
    view_missing_left: Bools
    buckets: int
    cell: Ints
    column: Ints
    bin: Ints
    missing_left: Bools

    def seen(self, codes: Buckets, bins: Bins) -> Buckets:
        """Return the bucket of every record in every view."""
        views = codes[:, self.view_column]
        first = (views == bins.missing[self.view_column]) & self.view_missing_left
        return np.ascontiguousarray(np.where(first, 0, views), dtype=np.int8)

    def left(self, codes: Buckets, bins: Bins, pick: Ints) -> Bools:
        """Route every record by the candidate picked for it."""
        column = self.column[pick]
        code = codes[np.arange(len(codes)), column]
        missing = code == bins.missing[column]
        return np.where(missing, self.missing_left[pick], code <= self.bin[pick])


def candidates(bins: Bins, columns: Ints) -> Candidates:
    """List the candidates of ``columns``; one that leaves no value on a side is left out.

    The order is that in which XGBoost tries them: by column; missing values to the right,
    from the lowest bin up; then missing values to the left, from the highest bin down.
    """
    views: list[tuple[int, bool]] = []
    found: list[tuple[int, int, int, bool]] = []
    for column in columns.tolist():
        cuts = len(bins.cuts[column])
        for missing_left in (False, True) if bins.gaps[column] else (False,):
            # With missing values on the right, the last bin parts the present from the missing.
            last = cuts + 1 if bins.gaps[column] and not missing_left else cuts
            order = reversed(range(last)) if missing_left else range(last)
            found += [(len(views), column, b, missing_left) for b in order]
            views.append((column, missing_left))
    buckets = 2 + max(len(bins.cuts[column]) for column in columns.tolist())
    table = np.array(found, dtype=np.int64).reshape(-1, 4)
    return Candidates(
        np.array([v[0] for v in views], dtype=np.int64),
        np.array([v[1] for v in views], dtype=np.bool_),
        buckets,
        table[:, 0] * buckets + table[:, 2],
        table[:, 1],
        table[:, 2],
        table[:, 3].astype(np.bool_),
    )
