"""How far the scores of made-up records are from the released ones: what counts as reproducing them.

Outputs of a model are logits, which the link turns into scores, or the scores themselves (votes).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_softmax

from whatleaks.arrays import Floats, Ints
from whatleaks.models.additive import link

SMALLEST = 1e-300  # a score at or below it is read as "at most that": its logarithm tells no more
SLACK = 1e-9  # of a defense's own arithmetic


@dataclass(frozen=True)
class Reproduced:
    """``linked``: the outputs are logits. Told by a defense: ``cut`` digits, or ``noise``'s deviation."""

    released: Floats
    linked: bool
    cut: int = -1
    noise: float = 0.0

    @property
    def equations(self) -> int:
        """How many numbers are told of every record."""
        return int(self.released.shape[1]) - 1

    @cached_property
    def classes_only(self) -> bool:
        """Say whether every record has a score of one for a class and zero for the others."""
        top = self.released.max(axis=1, initial=0.0)
        return bool((top == 1.0).all() and (self.released.sum(axis=1) == 1.0).all())

    def apart(self, rows: Ints, outputs: Floats) -> Floats:
        """Return records x candidates: the distances of outputs (a third dimension) from the released."""
        told = self.released[rows][:, None, :]
        if self.noise > 0.0:
            return np.asarray(
                np.sqrt(((self._scores(outputs) - told) ** 2).sum(axis=2)) / self.noise
            )
        if self.cut >= 0:  # every score inside the released step was cut to it
            over = self._scores(outputs) - told
            outside = np.maximum(-over, over - 10.0**-self.cut) - SLACK
            return np.asarray(np.maximum(outside, 0.0).max(axis=2))
        if self.classes_only:  # how much the released class falls short of the largest
            if outputs.shape[2] == 1:
                return np.asarray(
                    np.maximum(outputs * np.where(told[..., 1:] > 0.5, -1.0, 1.0), 0.0)[..., 0]
                )
            mine = np.take_along_axis(outputs, told.argmax(axis=2)[..., None], axis=2)[..., 0]
            return np.asarray(outputs.max(axis=2) - mine)
        if not self.linked:
            return np.asarray(np.abs(outputs - told).max(axis=2))
        logs = np.log(np.maximum(self.released[rows], SMALLEST))
        least = float(np.log(SMALLEST))
        if outputs.shape[2] == 1:  # one output: the log-odds themselves
            ratio = (logs[:, 1] - logs[:, 0])[:, None]
            return np.asarray(np.abs(np.clip(outputs[..., 0], least, -least) - ratio))
        own = np.maximum(log_softmax(outputs, axis=2), least)
        return np.asarray(np.abs(own - logs[:, None, :]).max(axis=2))

    def _scores(self, outputs: Floats) -> Floats:
        if not self.linked:
            return outputs
        return link(outputs.reshape(-1, outputs.shape[2])).reshape(*outputs.shape[:2], -1)


def nearest(apart: Floats, count: int) -> Floats:
    """Return every record's distance to its ``count``-th nearest candidate, as a column."""
    place = min(count, apart.shape[1]) - 1
    return np.asarray(np.partition(apart, place, axis=1)[:, place : place + 1])
