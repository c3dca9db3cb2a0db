"""Logistic regression on one party's own columns: what it can predict without joining anybody."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.models.linear import Linear
from whatleaks.models.logistic import fit_logistic


def scores_from_own(own: Floats, labels: Ints, classes: int, training: Ints, asked: Ints) -> Floats:
    """Fit on the ``training`` records and score the ``asked`` ones: one column per class."""
    outputs = 1 if classes == 2 else classes
    shape = Linear(sealed(np.zeros((own.shape[1], outputs))), sealed(np.zeros(outputs)))
    z = fit_logistic(own[training], labels[training], shape).logits(own[asked])
    z = np.concatenate([np.zeros_like(z), z], axis=1) if outputs == 1 else z
    return np.asarray(softmax(z, axis=1))
