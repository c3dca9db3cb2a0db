"""How far guessed scores are from released ones, and where a model's outputs should move (J Eqs 18, 19).

On plain arrays, with the slopes written out: a step of a search on a few hundred records costs
torch ten times as long in calls as in arithmetic. A test compares every slope with torch's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_expit, log_softmax, xlogy

from whatleaks.arrays import Floats
from whatleaks.models.additive import link
from whatleaks.models.purifier import PurifiedScores, Purifier


@dataclass(frozen=True)
class Missed:
    """Distances of released scores and those of some outputs, record by record.

    ``distance``: mse or kl. What is known of a defense: ``cut``, digits after which scores were
    cut off; ``purifier``, what the scores passed before they were released.
    """

    released: Floats
    distance: str
    cut: int = -1
    purifier: Purifier | None = None

    def distances(self, z: Floats) -> Floats:
        """Return every record's distance between the released scores and those of outputs ``z``."""
        if self.purifier is not None:
            scores = self.purifier.apply(link(z))
            return self._of_scores(scores, np.log(scores))
        logs = log_expit(np.concatenate([-z, z], 1)) if z.shape[1] == 1 else log_softmax(z, axis=1)
        return self._of_scores(np.exp(logs), logs)

    def _of_scores(self, scores: Floats, logs: Floats) -> Floats:
        if self.cut >= 0:
            return np.asarray((self._outside(scores) ** 2).mean(axis=1))
        if self.distance == "mse":
            return np.asarray(((self.released - scores) ** 2).mean(axis=1))  # Eq 18
        # Eq 19 as printed is minus the divergence it names: the logarithm is turned over here.
        own = xlogy(self.released, self.released)
        return np.asarray((own - self.released * logs).sum(axis=1))

    def _outside(self, scores: Floats) -> Floats:
        """Return how far scores lie above (or, negative, below) those that were cut to the released.

        Every score in [released, released + step) was cut to this one: its likelihood is flat
        inside and zero outside, so only what lies outside counts.
        """
        over = scores - self.released
        return np.asarray(np.minimum(over, 0.0) + np.maximum(over - 10.0**-self.cut, 0.0))

    def slopes(self, z: Floats) -> Floats:
        """Return the gradient of the distances by the outputs ``z``."""
        scores, one = link(z), z.shape[1] == 1
        if self.purifier is not None:
            passed = PurifiedScores(self.purifier, scores)
            return _through_link(passed.carry_back(self._by_score(passed.scores)), scores, one)
        if self.cut < 0 and self.distance == "kl":
            # Without the quotient, which loses digits. Scores that a defense changed need not
            # sum to one.
            r = self.released
            if one:
                return np.asarray(r[:, :1] * scores[:, 1:] - r[:, 1:] * scores[:, :1])
            return np.asarray(scores * r.sum(axis=1, keepdims=True) - r)
        return _through_link(self._by_score(scores), scores, one)

    def _by_score(self, scores: Floats) -> Floats:
        """Return the gradient of the distances by the scores that are held against the released."""
        if self.cut >= 0:
            return np.asarray(2.0 / scores.shape[1] * self._outside(scores))
        if self.distance == "mse":
            return np.asarray(2.0 / scores.shape[1] * (scores - self.released))
        return np.asarray(-self.released / scores)


def _through_link(by_score: Floats, scores: Floats, one: bool) -> Floats:
    """Carry a gradient by scores back: through the sigmoid of one output, or the softmax."""
    if one:
        both = scores[:, :1] * scores[:, 1:]
        return np.asarray((by_score[:, 1:] - by_score[:, :1]) * both)
    mean = (by_score * scores).sum(axis=1, keepdims=True)
    return np.asarray(scores * (by_score - mean))
