"""The limit: what a supervised regressor gets from the same evidence.

The evaluator, who holds the truth, trains a regressor on other records from everything
that the adversary sees of a record to the true values. It estimates what a better attack
with this view could hope for. It is no proof: an attack that solves equations exactly can
do better than a regressor, and few records make a weak one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed

ENOUGH_OTHERS = 400
MOST_OTHERS = 3000
FOLDS = 5


def predict_from_evidence(
    evidence: Floats,
    truth: Floats,
    other_evidence: Floats,
    other_truth: Floats,
    rng: np.random.Generator,
) -> Floats:
    """Return the regressor's values for every target record, never trained on that record.

    With many other records it is trained on these alone. With few, the targets are cut into
    folds and each fold is predicted from the others.
    """
    if len(other_evidence) >= ENOUGH_OTHERS:
        chosen = rng.permutation(len(other_evidence))[:MOST_OTHERS]
        return sealed(_fit_predict(other_evidence[chosen], other_truth[chosen], evidence, rng))
    fold = rng.permutation(np.arange(len(evidence)) % min(FOLDS, len(evidence)))
    values = np.empty_like(truth)
    for k in np.unique(fold):
        held = fold == k
        x = np.concatenate([other_evidence, evidence[~held]])
        y = np.concatenate([other_truth, truth[~held]])
        values[held] = _fit_predict(x, y, evidence[held], rng)
    return sealed(values)


def _fit_predict(x: Floats, y: Floats, new: Floats, rng: np.random.Generator) -> Floats:
    """Choose per column, by a held-out third, among the mean, a linear map and a forest."""
    seed = int(rng.integers(2**31))
    order = rng.permutation(len(x))
    cut = max(1, len(x) * 2 // 3)
    fit, check = order[:cut], order[cut:]
    best = np.zeros(y.shape[1], dtype=np.int64)
    if len(check):
        losses = np.stack(
            [
                ((_candidate(k, x, y, fit, seed)(x[check]) - y[check]) ** 2).mean(axis=0)
                for k in range(3)
            ]
        )
        best = losses.argmin(axis=0)
    values = np.empty((len(new), y.shape[1]))
    for k in np.unique(best):
        values[:, best == k] = _candidate(int(k), x, y, np.arange(len(x)), seed)(new)[:, best == k]
    # A linear map can run off to anywhere on a record unlike all others; nobody would believe that.
    low, high = y.min(axis=0), y.max(axis=0)
    return np.clip(values, low - (high - low), high + (high - low))


def _candidate(kind: int, x: Floats, y: Floats, rows: Ints, seed: int) -> Any:
    """Fit one candidate on ``rows`` and return its prediction function."""
    if kind == 0:
        mean = y[rows].mean(axis=0)
        return lambda new: np.broadcast_to(mean, (len(new), len(mean)))
    if kind == 1:
        from sklearn.linear_model import LinearRegression

        return LinearRegression().fit(x[rows], y[rows]).predict
    from sklearn.ensemble import ExtraTreesRegressor

    forest = ExtraTreesRegressor(100, min_samples_leaf=2, random_state=seed, n_jobs=1)
    target = y[rows].ravel() if y.shape[1] == 1 else y[rows]
    fitted = forest.fit(x[rows], target)
    return lambda new: fitted.predict(new).reshape(len(new), -1)
