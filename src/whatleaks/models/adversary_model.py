"""The adversary's own model of the scores, refined by scores or classes seen before (Varasteh, Eq 9)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.models.linear import Linear


@dataclass(frozen=True)
class Seen:
    """Own columns of earlier predictions and what was released on them: scores, or classes alone."""

    own: Floats
    scores: Floats | None = None
    classes: Ints | None = None


def refined(
    start: Linear,
    own: Floats,
    labels: Ints,
    seen: Seen,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    penalty: float = 1e-4,
) -> Linear:
    """Minimise Eq 9 from the unrefined model ``start`` (Eq 8).

    alpha weighs log^2 of the ratios to the scores seen, summed over classes; beta the classes seen.
    Deviation: L-BFGS with a small penalty on the weights in place of Adam with early stopping, since
    the objective is smooth and has few parameters.
    """
    outputs = start.weights.shape[1]
    columns = own.shape[1]
    count = len(own) + len(seen.own)
    told = None if seen.scores is None else np.log(np.maximum(seen.scores, 1e-300))

    def unpacked(flat: Floats) -> tuple[Floats, Floats]:
        return flat[:-outputs].reshape(columns, outputs), flat[-outputs:]

    def logs(x: Floats, weights: Floats, bias: Floats) -> Floats:
        z = x @ weights + bias
        both = np.concatenate([np.zeros((len(z), 1)), z], axis=1) if outputs == 1 else z
        return np.asarray(log_softmax(both, axis=1))

    def entropy(x: Floats, classes: Ints, weights: Floats, bias: Floats) -> tuple[float, Floats]:
        found = logs(x, weights, bias)
        slope = np.exp(found)
        slope[np.arange(len(x)), classes] -= 1.0
        return -float(found[np.arange(len(x)), classes].sum()), slope

    def objective(flat: Floats) -> tuple[float, Floats]:
        weights, bias = unpacked(flat)
        value, slope = entropy(own, labels, weights, bias)
        pieces = [(own, slope / count)]
        value /= count
        if beta and seen.classes is not None:
            more, slope = entropy(seen.own, seen.classes, weights, bias)
            value += beta * more / count
            pieces.append((seen.own, beta * slope / count))
        if alpha and told is not None:
            found = logs(seen.own, weights, bias)
            off = found - told
            value += alpha * float((off**2).sum()) / len(off)
            slope = 2.0 * (off - np.exp(found) * off.sum(axis=1, keepdims=True))
            pieces.append((seen.own, alpha * slope / len(off)))
        by_weight, by_bias = 2.0 * penalty * weights, np.zeros(outputs)
        for x, slope in pieces:
            kept = slope[:, -outputs:] if outputs == 1 else slope
            by_weight = by_weight + x.T @ kept
            by_bias = by_bias + kept.sum(axis=0)
        value += penalty * float((weights**2).sum())
        return value, np.concatenate([by_weight.ravel(), by_bias])

    first = np.concatenate([start.weights.ravel(), start.bias])
    found = minimize(objective, first, jac=True, method="L-BFGS-B", options={"maxiter": 300})
    weights, bias = unpacked(found.x)
    return Linear(sealed(weights), sealed(bias))
