"""Views on released scores of an adversary who knows some of the people that both parties share.

Each is a view on scores, with or without the model, and a view with auxiliary records: every
attack on either of these runs here too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from whatleaks.codec import travels
from whatleaks.threat.grants import AdditiveModel, Grant, KnownPeople, LinearModel, ModelGrant
from whatleaks.threat.views.prediction import (
    PredictionView,
    WhiteBoxAdditiveView,
    WhiteBoxLinearView,
    WhiteBoxPredictionView,
)
from whatleaks.threat.views.split import AuxiliaryView


@travels
@dataclass(frozen=True)
class KnownView(PredictionView, AuxiliaryView):
    """Own columns, scores, and complete records of some people with their scores (J Eq 11)."""

    needs: ClassVar[tuple[type[Grant], ...]] = ()

    auxiliary: KnownPeople = field(kw_only=True)


@travels
@dataclass(frozen=True)
class KnownWhiteBoxView(WhiteBoxPredictionView, KnownView):
    """The same, and the whole trained model."""

    needs: ClassVar[tuple[type[Grant], ...]] = (ModelGrant,)


@travels
@dataclass(frozen=True)
class KnownAdditiveView(WhiteBoxAdditiveView, KnownWhiteBoxView):
    """The model is a sum of the parties' parts."""

    needs: ClassVar[tuple[type[Grant], ...]] = (AdditiveModel,)


@travels
@dataclass(frozen=True)
class KnownLinearView(WhiteBoxLinearView, KnownAdditiveView):
    """The parts are linear: the scores are equations in the unknown columns."""

    needs: ClassVar[tuple[type[Grant], ...]] = (LinearModel,)
