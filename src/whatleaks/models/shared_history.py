"""What a party remembers of a regression that was trained on shares: its weights, and no step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.codec import travels


@travels
@dataclass(frozen=True)
class SharedHistory:
    """Own columns (fake ones included) and targets, own weights before and after the training.

    ``batches`` holds the rows of every batch of an epoch, the same in each of ``epochs``. The
    residuals are ``slope z + offset - y``.
    """

    columns: Floats
    targets: Floats
    first: Floats
    last: Floats
    batches: tuple[Ints, ...]
    epochs: int
    learning_rate: float
    alpha: float
    slope: float
    offset: float

    def summed_residuals(self) -> tuple[Floats, Floats]:
        """Return the weighted sum of every record's residuals over all epochs, and its weights' sum.

        Steps ``w <- w - eta (X^T d + alpha w)`` add up to
        ``(g^N w_0 - w_N) / eta = sum of x_i s_i`` with ``g = 1 - eta alpha`` and
        ``s_i = sum of g^(N - 1 - k) d_ik`` over the steps k that record i is in. With as many
        independent columns as records s is exact, with fewer the part that is determined.
        """
        shrink = 1.0 - self.learning_rate * self.alpha
        steps = self.epochs * len(self.batches)
        right = (shrink**steps * self.first - self.last) / self.learning_rate
        sums = np.linalg.lstsq(self.columns.T, right, rcond=None)[0]
        weights = np.zeros(len(self.columns))
        for place, rows in enumerate(self.batches):
            at = place + len(self.batches) * np.arange(self.epochs)
            weights[rows] += (shrink ** (steps - 1 - at)).sum()
        return np.asarray(sums, dtype=np.float64), weights

    def mean_outputs(self) -> Floats:
        """Return every record's partner output, averaged over the training: what the sums say.

        The own weights in between are not known to their owner either: they are taken to move
        in a line. With a single step nothing is in between, and the outputs are exact.
        """
        sums, weights = self.summed_residuals()
        residual = sums / weights
        between = (self.epochs - 1) / (2 * self.epochs)
        own = self.columns @ (self.first + between * (self.last - self.first))
        outputs = (residual + self.targets - self.offset) / self.slope - own
        return np.asarray(outputs, dtype=np.float64)
