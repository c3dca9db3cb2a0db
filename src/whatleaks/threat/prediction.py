"""The named threat models on prediction: scores with the model, scores alone, the model alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.errors import WireError
from whatleaks.threat.grants import Grant, Granted
from whatleaks.threat.model import Conduct, Own, ThreatModel
from whatleaks.threat.views.agnostic import AgnosticView
from whatleaks.threat.views.prediction import PredictionView, WhiteBoxPredictionView
from whatleaks.wire.message import Message, Plain


def _scores(received: Sequence[Message]) -> Floats:
    """Join the score messages in the order in which they came."""
    parts = [
        message.payload.values
        for message in received
        if message.kind == "scores" and isinstance(message.payload, Plain)
    ]
    if not parts:
        raise WireError("the active party received no scores: nothing was predicted")
    return sealed(np.concatenate(parts, axis=0))


def _white_box(received: Sequence[Message], own: Own, granted: Granted) -> WhiteBoxPredictionView:
    return WhiteBoxPredictionView(own.target, _scores(received), own.unknown, granted.model)


def _black_box(received: Sequence[Message], own: Own, granted: Granted) -> PredictionView:
    return PredictionView(own.target, _scores(received), own.unknown)


def _agnostic(received: Sequence[Message], own: Own, granted: Granted) -> AgnosticView:
    return AgnosticView(own.training, own.labels, own.target, own.unknown, granted.model)


WHITE_BOX = ThreatModel(
    name="white-box",
    adversary="active party",
    conduct=Conduct.CURIOUS,
    sees="the score of every record it asks about",
    grants=frozenset({Grant.MODEL, Grant.RANGES}),
    view=WhiteBoxPredictionView,
    project=_white_box,
)

BLACK_BOX = ThreatModel(
    name="black-box",
    adversary="active party",
    conduct=Conduct.CURIOUS,
    sees="the score of every record it asks about",
    grants=frozenset({Grant.RANGES}),
    view=PredictionView,
    project=_black_box,
)

AGNOSTIC = ThreatModel(
    name="agnostic",
    adversary="active party",
    conduct=Conduct.CURIOUS,
    sees="no score of the record it attacks",
    grants=frozenset({Grant.MODEL, Grant.RANGES}),
    view=AgnosticView,
    project=_agnostic,
)
