"""Adam on the inputs of a linear model with one output, with averages by record and not by value.

A record's gradient is its slope times the weights. So both averages of Adam are the record's own, of
its slopes, times a weight or its square, and a step is

    rate x mean / (size + u),    u = 1e-8 / |weight|,

where only u differs between columns. While a record's size is ``APART`` times as large as every u,
1 / (size + u) is its series in u / size up to rounding, and the sum of all steps is a few numbers by
record. Steps of records that are nearly still, those of columns with nearly no weight, and all where there
are few columns, are taken value by value. The numbers are those of ``models.adam`` up to rounding; a test
compares the two.
"""

from __future__ import annotations

import math

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.models.adam import FIRST, SECOND, SMALLEST

TERMS = 5  # of the series: with APART what is left out is 1e-15 of a step
APART = 1e3
FAINT = 1e-3  # of the largest weight: smaller ones are taken value by value
MANY = 32  # columns: with fewer, a series by record costs more than steps value by value


class OneOutput:
    """Unknown inputs of some records, all started at one place, and the output that they give.

    ``known``: what the rest of the model adds to the output, records x 1. ``weights``: unknown
    columns x 1.
    """

    def __init__(
        self, known: Floats, weights: Floats, bias: Floats, start: float, rate: float
    ) -> None:
        if known.shape[1] != 1 or weights.shape[1] != 1:
            raise ValueError("a model with one output is needed")
        records, sizes = len(known), np.abs(weights[:, 0])
        self._order = np.argsort(-sizes, kind="stable")  # faint columns last
        self._sizes = sizes[self._order]
        self._signs = np.sign(weights[self._order, 0])
        self._start, self._rate, self._steps = start, rate, 0
        self._fixed = known[:, 0] + bias[0] + start * weights.sum()
        with np.errstate(divide="ignore"):  # a column without weight has no gradient: it stays
            self._least = SMALLEST / self._sizes
        strong = self._sizes > FAINT * self._sizes.max(initial=0.0)
        self._strong = int(strong.sum()) if len(sizes) >= MANY else 0
        least = self._least[: self._strong]
        self._far = APART * float(least.max(initial=0.0))
        self._powers = (-least) ** np.arange(TERMS)[:, None]
        self._by_term = self._powers @ self._sizes[: self._strong]
        self._mean, self._square = np.zeros(records), np.zeros(records)
        self._sums = np.zeros((records, TERMS))
        self._single = np.zeros((records, len(sizes)))  # steps that were taken value by value
        self._of_single = np.zeros(records)  # what these give
        self._spare = np.empty_like(self._single)

    def outputs(self) -> Floats:
        """Return the output of every record, as a column."""
        return np.asarray((self._fixed - self._sums @ self._by_term - self._of_single)[:, None])

    def follow(self, slopes: Floats) -> None:
        """Take one step along the gradient that these slopes by the output give."""
        self._steps += 1
        slope = slopes[:, 0]
        self._mean = FIRST * self._mean + (1.0 - FIRST) * slope
        self._square = SECOND * self._square + (1.0 - SECOND) * slope * slope
        sizes = np.sqrt(self._square) / math.sqrt(1.0 - SECOND**self._steps)
        steps = self._rate / (1.0 - FIRST**self._steps) * self._mean
        if not self._strong:
            np.add.outer(sizes, self._least, out=self._spare)
            np.divide(steps[:, None], self._spare, out=self._spare)
            self._single += self._spare
            self._of_single = self._single @ self._sizes
            return
        far = sizes > self._far
        term = np.where(far, steps, 0.0)
        smaller = 1.0 / np.where(far, sizes, 1.0)
        for k in range(TERMS):
            term = term * smaller
            self._sums[:, k] += term
        still = np.flatnonzero(~far)
        self._one_by_one(still, slice(0, self._strong), sizes, steps)
        if self._strong < len(self._sizes):
            everybody = np.arange(len(sizes), dtype=np.int64)
            self._one_by_one(everybody, slice(self._strong, None), sizes, steps)

    def _one_by_one(self, rows: Ints, columns: slice, sizes: Floats, steps: Floats) -> None:
        if len(rows):
            moved = steps[rows, None] / (sizes[rows, None] + self._least[columns])
            self._single[rows, columns] += moved
            self._of_single[rows] += moved @ self._sizes[columns]

    @property
    def values(self) -> Floats:
        """The inputs where they are now."""
        moved = self._single.copy()
        moved[:, : self._strong] += self._sums @ self._powers
        values = np.empty_like(moved)
        values[:, self._order] = self._start - moved * self._signs
        return values
