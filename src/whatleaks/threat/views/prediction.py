"""Views on released scores: the black box, and the white boxes that also have the model.

Each class is the one above and something more: an attack written for one also runs on every
view below it, for an adversary may always leave knowledge unused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.codec import travels
from whatleaks.models.additive import Additive, log_ratios
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network
from whatleaks.threat.grants import AdditiveModel, Grant, LinearModel, ModelGrant, Ranges, Schema


@travels
@dataclass(frozen=True)
class PredictionView:
    """The adversary's own columns of the target records, the scores it was sent, public ranges.

    ``own_part``: the adversary's own part of the model, where parts are added up: nobody can take
    from it what it computes itself.
    """

    needs: ClassVar[tuple[type[Grant], ...]] = ()

    own: Floats
    scores: Floats
    unknown: int
    ranges: Ranges | None = field(default=None, kw_only=True)
    schema: Schema | None = field(default=None, kw_only=True)
    own_part: Linear | Network | None = field(default=None, kw_only=True)

    def exchanged(self, order: Ints) -> Self:
        """Return the view with every record's scores taken from another; own columns stay."""
        return replace(self, scores=sealed(self.scores[order]))

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.scores, log_ratios(self.scores)], axis=1)


@travels
@dataclass(frozen=True)
class WhiteBoxPredictionView(PredictionView):
    """The same, and the whole trained model (U Eq 2, J Eq 10)."""

    needs: ClassVar[tuple[type[Grant], ...]] = (ModelGrant,)

    model: Additive | JointNetwork


@travels
@dataclass(frozen=True)
class WhiteBoxAdditiveView(WhiteBoxPredictionView):
    """The model is a sum of the parties' parts."""

    needs: ClassVar[tuple[type[Grant], ...]] = (AdditiveModel,)

    model: Additive


@travels
@dataclass(frozen=True)
class WhiteBoxLinearView(WhiteBoxAdditiveView):
    """The parts are linear: the scores are equations in the unknown columns."""

    needs: ClassVar[tuple[type[Grant], ...]] = (LinearModel,)
