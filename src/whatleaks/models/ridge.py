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
        along = (asked - self.centre) / self.spread @ self.axes.mT
        return np.asarray(along @ self.scaled + self.mean)

    @property
    def slope(self) -> Floats:
        """How the wanted values follow the inputs as they are, inputs x wanted."""
        return np.asarray((self.axes / self.spread).mT @ self.scaled)


def fitted(known: Floats, wanted: Floats) -> Ridge:
    """Fit ``wanted`` on ``known``, row by row; of stacked tables each for itself.

    Inputs are standardised by the known rows; one that does not vary there says nothing. The
    residual of a record that was left out is r_i / (1 - h_ii), with h the hat matrix of centred
    inputs plus 1/n for the mean, so one decomposition serves all strengths and columns.
    """
    n = known.shape[-2]
    if n < FEWEST:
        raise AttackError(f"a regression needs at least {FEWEST} known records, got {n}")
    centre, spread = known.mean(axis=-2, keepdims=True), known.std(axis=-2, keepdims=True)
    varies = spread > 1e-12
    spread = np.where(varies, spread, 1.0)
    inputs = np.where(varies, (known - centre) / spread, 0.0)
    mean = wanted.mean(axis=-2, keepdims=True)
    left, sizes, right = np.linalg.svd(inputs, full_matrices=False)
    projected = left.mT @ (wanted - mean)
    squares = np.square(sizes)
    # One row for each strength, then records, then what is wanted.
    kept = squares[..., None, :] / (squares[..., None, :] + STRENGTHS[:, None] * n)
    along = kept[..., None] * projected[..., None, :, :]
    missed = (wanted - mean)[..., None, :, :] - left[..., None, :, :] @ along
    free = 1.0 - 1.0 / n - kept @ np.square(left).mT
    missed /= np.maximum(free, 1e-9)[..., None]
    best = np.square(missed).mean(axis=-2).argmin(axis=-2)  # of each that is wanted
    weights = squares[..., None] + STRENGTHS[best][..., None, :] * n
    scaled = sizes[..., None] / weights * projected
    left_out = np.take_along_axis(missed, best[..., None, None, :], axis=-3)[..., 0, :, :]
    return Ridge(centre, spread, np.where(varies, right, 0.0), scaled, mean, left_out)


def learnt(known: Floats, wanted: Floats, asked: Floats) -> Floats:
    """Fit on the known rows and answer for others."""
    return fitted(known, wanted)(asked)
