"""What a client of a horizontal regression works out about the only other one (L section 4.2)."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import AttackError


def others_gradients(averages: Floats, own: Floats, learning_rate: float) -> Floats:
    """Return the other client's gradient of every round (Eq 5): g_A = 2 (W_k - W_k+1) / eta - g_B.

    ``averages`` has the common weights before every round and after the last, ``own`` the own
    gradients at them.
    """
    moved = 2.0 * (averages[:-1] - averages[1:]) / learning_rate
    found: Floats = moved - own
    return found


def others_gram(averages: Floats, gradients: Floats) -> Floats:
    """Return X_A^T X_A from g_k+1 - g_k = X_A^T X_A (W_k+1 - W_k) (Eq 7), by least squares."""
    steps = np.diff(averages[: len(gradients)], axis=0)
    changes = np.diff(gradients, axis=0)
    if len(steps) < averages.shape[1]:
        raise AttackError(
            f"{len(averages) - 1} rounds give {len(steps)} differences of weights for "
            f"{averages.shape[1]} columns: train for more rounds"
        )
    # Late rounds move little: every difference gets the same weight.
    sizes = np.linalg.norm(steps, axis=1, keepdims=True)
    sizes[sizes == 0.0] = 1.0
    found = np.linalg.lstsq(steps / sizes, changes / sizes, rcond=None)[0]
    return np.asarray((found + found.T) / 2.0, dtype=np.float64)
