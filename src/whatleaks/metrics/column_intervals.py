"""Intervals of many columns over the same records: the resamples are drawn once for all of them.

The numbers are those of ``metrics.intervals`` with the same resamples; only the work is shared.
How often each resample holds each record is a table of counts, so that all columns' sums in all
resamples are one matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.metrics.intervals import EDGE, LARGE, RESAMPLES, SMALL, t_half_widths
from whatleaks.metrics.measurement import Measurement


class Resamples:
    """Records drawn with replacement. Without random numbers every interval is the t interval."""

    def __init__(self, records: int, rng: np.random.Generator | None) -> None:
        self.records = records
        self._counts: Floats | None = None
        if rng is not None and SMALL <= records <= LARGE:
            rows = rng.integers(0, records, (RESAMPLES, records))
            rows += np.arange(RESAMPLES)[:, None] * records
            counts = np.bincount(rows.ravel(), minlength=RESAMPLES * records)
            self._counts = counts.reshape(RESAMPLES, records) / records
        self._weighed: tuple[Floats, Floats, Floats] | None = None  # by the weights met last

    def means(self, errors: Floats, unit: str) -> list[Measurement]:
        """Return the mean of every column with its interval."""
        centre = errors.mean(axis=0)
        residuals = errors - centre
        if self._counts is None:
            return self._t_intervals(centre, t_half_widths(residuals), unit)
        shifts = self._counts @ residuals
        spreads = self._counts @ np.square(residuals) - np.square(shifts)
        low, high = _ends(residuals, np.ones(len(centre)), shifts, spreads)
        return [
            _around(value, sides, self.records, unit)
            for value, *sides in zip(centre.tolist(), low.tolist(), high.tolist(), strict=True)
        ]

    def recovered(self, errors: Floats, deviations: Floats) -> list[Measurement]:
        """Return 1 - error / variance of every column; nothing where a column does not vary."""
        varies = deviations.sum(axis=0) > 0.0
        top, bottom = errors[:, varies], deviations[:, varies]
        ratio = top.mean(axis=0) / bottom.mean(axis=0)
        residuals = top - ratio * bottom
        nothing = Measurement(0.0, 0.0, 0.0, self.records, "recovered", "records")
        found = [nothing] * errors.shape[1]
        if self._counts is None:
            half = t_half_widths(residuals) / bottom.mean(axis=0)
            made = self._t_intervals(1.0 - ratio, half, "leakage")
            for place, j in enumerate(np.flatnonzero(varies)):
                found[j] = made[place]
            return found
        mass, weights = self._masses(bottom)
        shifts = (self._counts @ residuals) / mass
        # The mean of (residual - shift * weight) squared, multiplied out.
        squares = self._counts @ np.square(residuals)
        mixed = self._counts @ (residuals * bottom)
        spreads = (squares - 2.0 * shifts * mixed + np.square(shifts) * weights) / mass**2
        shifts, spreads = np.nan_to_num(shifts), np.nan_to_num(spreads)
        low, high = _ends(residuals, bottom.mean(axis=0), shifts, spreads)
        for place, j in enumerate(np.flatnonzero(varies)):
            value, sides = 1.0 - float(ratio[place]), (-float(high[place]), -float(low[place]))
            found[j] = _around(value, sides, self.records, "leakage")
        return found

    def _masses(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return every resample's sums of weights and of their squares; guesses on the same records share them."""
        assert self._counts is not None
        if self._weighed is None or not np.array_equal(self._weighed[0], weights):
            mass = self._counts @ weights
            mass = np.where(mass > 0.0, mass, np.nan)
            self._weighed = weights, mass, self._counts @ np.square(weights)
        return self._weighed[1:]

    def _t_intervals(self, centre: Floats, half: Floats, unit: str) -> list[Measurement]:
        return [
            _around(value, (-width, width), self.records, unit)
            for value, width in zip(centre.tolist(), half.tolist(), strict=True)
        ]


def _ends(
    residuals: Floats, weights: Floats, shifts: Floats, spreads: Floats
) -> tuple[Floats, Floats]:
    """Return what ``intervals.ends`` does for every column; ``weights`` are the columns' means of them."""
    n = len(residuals)
    half = t_half_widths(residuals) / weights
    variances = residuals.var(axis=0)
    told = (half > 0.0) & ~(spreads <= 1e-12 * variances / np.square(weights)).any(axis=0)
    low, high = -half, half.copy()
    t = np.sort(shifts[:, told] / np.sqrt(spreads[:, told] / (n - 1)), axis=0)
    error = np.sqrt(variances[told] / (n - 1)) / weights[told]
    low[told] = np.minimum(-t[-EDGE] * error, 0.0)
    high[told] = np.maximum(-t[EDGE - 1] * error, 0.0)
    return low, high


def _around(centre: float, side: Sequence[float], records: int, unit: str) -> Measurement:
    return Measurement(centre, centre + side[0], centre + side[1], records, unit, "records")
