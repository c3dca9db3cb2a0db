"""Values of many records from their outputs and the values of a few: truncated least squares.

The outputs z = X W of several passes lie in the column space of X. Their left singular
vectors are coordinates of every record there, and records whose X is known say what the
coordinates mean: X ~ U_r B. How many vectors carry more than rounding is not known beforehand,
so the rank is the one with the smallest leave-one-out error on the known records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, Ints

RIDGES = 10.0 ** np.arange(-4.0, 3.01, 0.5)
SHARES = (0.0, 0.03, 0.1, 0.3, 1.0)  # weights of the own columns beside the vectors


@dataclass(frozen=True)
class Choice:
    """What leave-one-out chose: singular vectors, weight of the own columns, ridge, its error."""

    rank: int
    share: float
    ridge: float
    error: float


def coordinates(outputs: Floats, resolution: float = 1e-12) -> Floats:
    """Return the left singular vectors that stand above rounding, each of mean square one."""
    vectors, sizes, _ = np.linalg.svd(outputs, full_matrices=False)
    seen = int((sizes > resolution * sizes[0]).sum()) if sizes[0] > 0.0 else 0
    found: Floats = vectors[:, :seen] * np.sqrt(len(outputs))
    return found


def standardised(columns: Floats) -> Floats:
    """Return columns with mean zero and mean square one; constant ones stay zero."""
    spread = columns.std(axis=0)
    found: Floats = (columns - columns.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return found


def from_known_records(
    outputs: Floats,
    own: Floats,
    known: Ints,
    values: Floats,
    shares: tuple[float, ...] = SHARES,
    resolution: float = 1e-12,
) -> tuple[Floats, Choice]:
    """Return the values of all records, and what was chosen.

    ``values`` are those of the rows ``known``. Beside r singular vectors the own columns take
    part with a weight, and a ridge keeps directions that the known records hardly span in
    check: all three by leave-one-out, which is a closed form for least squares.
    """
    vectors, beside = coordinates(outputs, resolution), standardised(own)
    count, mean = len(known), values.mean(axis=0)
    centred = values - mean
    best, features = Choice(0, 0.0, 0.0, np.inf), np.zeros((len(outputs), 0))
    for share in shares:
        # A record that is left out must still leave as many as there are coordinates.
        for rank in range(min(vectors.shape[1], count - 2) + 1):
            tried = np.concatenate([vectors[:, :rank], share * beside], axis=1)
            errors = left_out(tried[known], centred)
            at = int(errors.argmin())
            if errors[at] < best.error:
                best = Choice(rank, share, float(RIDGES[at]), float(errors[at]))
                features = tried
    given = features[known] - features[known].mean(axis=0)
    weights = np.linalg.solve(given @ given.T + best.ridge * np.eye(count), centred)
    found: Floats = mean + (features - features[known].mean(axis=0)) @ (given.T @ weights)
    return found, best


def left_out(features: Floats, centred: Floats) -> Floats:
    """Return the mean squared leave-one-out error of a ridge regression for every ridge.

    With the hat matrix H a record's error without itself is its error over 1 - H_ii.
    """
    count = len(features)
    given = features - features.mean(axis=0)
    sizes, vectors = np.linalg.eigh(given @ given.T)
    kept = np.maximum(sizes, 0.0) / (np.maximum(sizes, 0.0) + RIDGES[:, None])  # ridges x records
    fitted = np.einsum("ip,rp,pc->ric", vectors, kept, vectors.T @ centred)
    leverage = 1.0 / count + kept @ (vectors * vectors).T
    errors: Floats = np.square((centred - fitted) / (1.0 - leverage)[:, :, None]).mean(axis=(1, 2))
    return errors
