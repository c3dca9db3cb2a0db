"""What a model is worth record by record: log loss, and each record's part in the AUC."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed

LEAST = 1e-6  # a score of zero for the true class would cost without end


def log_losses(scores: Floats, labels: Ints) -> Floats:
    """Return minus the logarithm of what each record's true class was given."""
    true = scores[np.arange(len(labels)), labels]
    return sealed(-np.log(np.maximum(true, LEAST)))


def auc_parts(scores: Floats, labels: Ints) -> Floats:
    """Return one number per record whose mean is the AUC: DeLong's placements, made unbiased.

    With more than two classes the mean over classes of one against the rest. A class that no
    record has, or every record has, has no AUC and is left out; without any, all are one half.
    """
    from scipy.stats import rankdata  # half a second, and not before it is needed

    n, classes = scores.shape
    parts = []
    for k in range(1, classes) if classes == 2 else range(classes):
        inside = labels == k
        ones, zeros = int(inside.sum()), int(n - inside.sum())
        if not ones or not zeros:
            continue
        below = rankdata(scores[:, k])
        placed = np.empty(n)
        placed[inside] = (below[inside] - rankdata(scores[inside, k])) / zeros
        placed[~inside] = 1.0 - (below[~inside] - rankdata(scores[~inside, k])) / ones
        auc = float(placed[inside].mean())
        share = np.where(inside, ones / n, zeros / n)
        parts.append(auc + (placed - auc) / share)  # the mean of each side's part is the AUC
    return sealed(np.mean(parts, axis=0) if parts else np.full(n, 0.5))
