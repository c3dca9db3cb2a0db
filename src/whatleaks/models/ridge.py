"""Ridge regression with its strength chosen by leaving one record out, for each column alone.

The one learner of whoever has a few complete records: it uses these and nothing else.
"""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import AttackError

FEWEST = 3  # records: with fewer, leaving one out chooses nothing
STRENGTHS = np.logspace(-4, 4, 17)


def learnt(known: Floats, wanted: Floats, asked: Floats) -> Floats:
    """Fit ``wanted`` on ``known``, row by row, and answer for the rows of ``asked``.

    Inputs are standardised by the known rows; one that does not vary there says nothing. The
    residual of a record that was left out is r_i / (1 - h_ii), with h the hat matrix of centred
    inputs plus 1/n for the mean, so one decomposition serves all strengths and columns.
    """
    n = len(known)
    if n < FEWEST:
        raise AttackError(f"a regression needs at least {FEWEST} known records, got {n}")
    centre, spread = known.mean(axis=0), known.std(axis=0)
    varies = spread > 1e-12
    inputs = (known[:, varies] - centre[varies]) / spread[varies]
    mean = wanted.mean(axis=0)
    left, sizes, right = np.linalg.svd(inputs, full_matrices=False)
    projected = left.T @ (wanted - mean)
    squares = sizes**2
    errors = np.empty((len(STRENGTHS), wanted.shape[1]))
    for i, strength in enumerate(STRENGTHS * n):
        kept = squares / (squares + strength)
        residuals = (wanted - mean) - left @ (kept[:, None] * projected)
        free = 1.0 - 1.0 / n - (left**2) @ kept
        errors[i] = ((residuals / np.maximum(free, 1e-9)[:, None]) ** 2).mean(axis=0)
    best = (STRENGTHS * n)[errors.argmin(axis=0)]
    scaled = (sizes[:, None] / (squares[:, None] + best)) * projected
    answered = (asked[:, varies] - centre[varies]) / spread[varies]
    return np.asarray(answered @ (right.T @ scaled) + mean)
