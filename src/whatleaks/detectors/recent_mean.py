"""A halt when the mean of the last scores is under a threshold, as soon as there are enough."""

from __future__ import annotations

from collections import deque

import numpy as np

from whatleaks.detectors.protocol import Continue, Halt, Signal


class RecentMean:
    """The last ``window`` scores of one training."""

    def __init__(self, window: int, threshold: float) -> None:
        self._threshold = threshold
        self._last: deque[float] = deque(maxlen=window)

    def judge(self, score: float) -> Signal:
        """Take one score in and say whether the training may go on."""
        self._last.append(score)
        mean, window = float(np.mean(self._last)), self._last.maxlen
        if len(self._last) == window and mean < self._threshold:
            return Halt(
                score,
                f"the mean of the last {window} scores is {mean:.3f}, under {self._threshold}",
            )
        return Continue(score)
