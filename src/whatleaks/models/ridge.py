"""Ridge regression with its strength chosen by leaving one record out, for each column alone.

The one learner of whoever has a few complete records: it uses these and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import AttackError

FEWEST = 3  # records: with fewer, leaving one out chooses nothing
STRENGTHS = np.logspace(-4, 4, 17)


@dataclass(frozen=True)
class Ridge:
    """A fitted regression. ``left_out``: what each known record misses if it is left out."""

    centre: Floats
    spread: Floats
    axes: Floats  # of the inputs: at most as many as known records
    scaled: Floats  # what the wanted values follow them by
    mean: Floats
    left_out: Floats

    def __call__(self, asked: Floats) -> Floats:
        """Answer for the rows of ``asked``."""
        along = (asked - self.centre) / self.spread @ self.axes.T
        return np.asarray(along @ self.scaled + self.mean)

    @property
    def slope(self) -> Floats:
        """How the wanted values follow the inputs as they are, inputs x wanted."""
        return np.asarray((self.axes / self.spread).T @ self.scaled)


def fitted(known: Floats, wanted: Floats) -> Ridge:
    """Fit ``wanted`` on ``known``, row by row.

    Inputs are standardised by the known rows; one that does not vary there says nothing. The
    residual of a record that was left out is r_i / (1 - h_ii), with h the hat matrix of centred
    inputs plus 1/n for the mean, so one decomposition serves all strengths and columns.
    """
    n = len(known)
    if n < FEWEST:
        raise AttackError(f"a regression needs at least {FEWEST} known records, got {n}")
    centre, spread = known.mean(axis=0), known.std(axis=0)
    varies = spread > 1e-12
    spread = np.where(varies, spread, 1.0)
    inputs = np.where(varies, (known - centre) / spread, 0.0)
    mean = wanted.mean(axis=0)
    left, sizes, right = np.linalg.svd(inputs, full_matrices=False)
    projected = left.T @ (wanted - mean)
    squares = sizes**2
    kept = squares / (squares + STRENGTHS[:, None] * n)  # one row for each strength
    missed = (wanted - mean) - left @ (kept[:, :, None] * projected)
    free = 1.0 - 1.0 / n - kept @ (left**2).T
    missed /= np.maximum(free, 1e-9)[:, :, None]
    best = (missed**2).mean(axis=1).argmin(axis=0)
    scaled = (sizes[:, None] / (squares[:, None] + STRENGTHS[best] * n)) * projected
    left_out = missed[best, :, np.arange(wanted.shape[1])].T
    return Ridge(centre, spread, np.where(varies, right, 0.0), scaled, mean, left_out)


def learnt(known: Floats, wanted: Floats, asked: Floats) -> Floats:
    """Fit on the known rows and answer for others."""
    return fitted(known, wanted)(asked)
