"""Fit a logistic model on data that one holds oneself, with scikit-learn's solver."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.errors import AttackError
from whatleaks.models.linear import Linear


def fit_logistic(x: Floats, labels: Ints, like: Linear) -> Linear:
    """Fit ``labels`` (0..k-1) on ``x`` without a penalty; the outputs have the form of ``like``.

    The penalty is a hundred-thousandth of the usual one rather than none: on separable
    data the maximum does not exist, and a solver would run off to infinity.
    """
    from sklearn.linear_model import LogisticRegression

    outputs = like.weights.shape[1]
    classes = max(2, outputs)
    seen = np.unique(labels)
    if len(seen) < 2:
        raise AttackError("a model of one's own needs at least 2 classes among the training labels")
    fitted = LogisticRegression(C=1e5, max_iter=2000).fit(x, labels)
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
