"""Views on released scores: the black box, and the white box that also has the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.codec import travels
from whatleaks.models.additive import Additive, log_ratios
from whatleaks.models.joint_network import JointNetwork


@travels
@dataclass(frozen=True)
class PredictionView:
    """The active party's own columns of the target records and the scores it was sent."""

    own: Floats
    scores: Floats
    unknown: int

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.scores, log_ratios(self.scores)], axis=1)


@travels
@dataclass(frozen=True)
class WhiteBoxPredictionView:
    """The same, and the whole trained model (U Eq 2, J Eq 10)."""

    own: Floats
    scores: Floats
    unknown: int
    model: Additive | JointNetwork

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.scores, log_ratios(self.scores)], axis=1)
