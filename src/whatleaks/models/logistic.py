"""Fit a logistic model on data that one holds oneself, with scikit-learn's solver."""

from __future__ import annotations

import hashlib
from warnings import catch_warnings, simplefilter

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.errors import AttackError
from whatleaks.models.linear import Linear

PENALTIES = tuple(10.0**power for power in range(-3, 6))
ENOUGH_TO_CHOOSE = 50
MOST_TO_CHOOSE = (
    50_000  # records that the penalty is chosen on: with more of them it hardly matters
)
KEPT = 4  # choices that are remembered: several attacks fit the same records

_chosen: dict[str, float] = {}


def fit_logistic(x: Floats, labels: Ints, like: Linear, strength: float | None = None) -> Linear:
    """Fit ``labels`` (0..k-1) on ``x``; the outputs have the form of ``like``.

    How hard to fit is decided on every fifth record, held out: what early stopping does in
    A section III, with a solver that has no epochs. Too few records to hold any out are
    fitted with the weakest penalty that still has a maximum on separable data. ``strength`` is
    the inverse penalty of whoever has already decided.
    """
    from sklearn.linear_model import LogisticRegression

    outputs = like.weights.shape[1]
    classes = max(2, outputs)
    seen = np.unique(labels)
    if len(seen) < 2:
        raise AttackError("a model of one's own needs at least 2 classes among the training labels")
    fitted = LogisticRegression(C=strength or chosen_strength(x, labels), max_iter=2000).fit(
        x, labels
    )
    if outputs == 1:
        return Linear(sealed(fitted.coef_.T), sealed(fitted.intercept_))
    weights = np.zeros((x.shape[1], classes))
    # A class that the labels never show has no evidence: it keeps the lowest logit of all.
    bias = np.full(classes, float(fitted.intercept_.min()) - 10.0)
    coefficients, intercepts = fitted.coef_, fitted.intercept_
    if coefficients.shape[0] == 1:  # only two of several classes were seen
        coefficients = np.concatenate([-coefficients / 2, coefficients / 2])
        intercepts = np.concatenate([-intercepts / 2, intercepts / 2])
    weights[:, seen] = coefficients.T
    bias[seen] = intercepts
    return Linear(sealed(weights), sealed(bias))


def chosen_strength(x: Floats, labels: Ints) -> float:
    """Return the inverse penalty with the best likelihood on held-out records."""
    key = hashlib.sha256(f"{x.shape}".encode())
    for part in (x, labels):
        key.update(np.ascontiguousarray(part).data)
    name = key.hexdigest()
    if name not in _chosen:
        while len(_chosen) >= KEPT:
            _chosen.pop(next(iter(_chosen)))
        _chosen[name] = _choose(x, labels)
    return _chosen[name]


def _choose(x: Floats, labels: Ints) -> float:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    step = -(-len(x) // MOST_TO_CHOOSE)
    x, labels = x[::step], labels[::step]
    held = np.arange(len(x)) % 5 == 0
    seen = np.unique(labels[~held])
    if len(x) < ENOUGH_TO_CHOOSE or len(seen) < 2 or not np.isin(labels[held], seen).all():
        return PENALTIES[-1]
    with catch_warnings():  # a weak penalty that did not converge is judged as it is
        simplefilter("ignore", ConvergenceWarning)
        losses = [
            log_loss(
                labels[held],
                LogisticRegression(C=c, max_iter=500)
                .fit(x[~held], labels[~held])
                .predict_proba(x[held]),
                labels=seen,
            )
            for c in PENALTIES
        ]
    return PENALTIES[int(np.argmin(losses))]
