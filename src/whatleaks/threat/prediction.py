"""The named threat models on prediction: scores with the model, scores alone, the model alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.errors import GrantError, WireError
from whatleaks.models.additive import Additive
from whatleaks.threat.grants import Grant, Granted
from whatleaks.threat.model import Conduct, Own, ThreatModel
from whatleaks.threat.views.agnostic import AgnosticView
from whatleaks.threat.views.prediction import PredictionView, WhiteBoxPredictionView
from whatleaks.wire.message import Message, Plain


def _plain(received: Sequence[Message], kind: str) -> Floats | None:
    """Join the messages of one kind in the order in which they came; None if there are none."""
    parts = [
        message.payload.values
        for message in received
        if message.kind == kind and isinstance(message.payload, Plain)
    ]
    return sealed(np.concatenate(parts, axis=0)) if parts else None


def _scored_records(received: Sequence[Message], own: Own) -> tuple[Floats, Floats]:
    """Return the own columns and the scores of the records whose scores were released.

    A release gate says which records it released; the others have no score and are no part
    of the view.
    """
    scores = _plain(received, "scores")
    if scores is None:
        raise WireError("the active party received no scores: nothing was predicted")
    released = _plain(received, "released")
    target = own.target if released is None else sealed(own.target[released > 0.5])
    return target, scores


def _white_box(received: Sequence[Message], own: Own, granted: Granted) -> WhiteBoxPredictionView:
    return WhiteBoxPredictionView(*_scored_records(received, own), own.unknown, granted.model)


def _black_box(received: Sequence[Message], own: Own, granted: Granted) -> PredictionView:
    return PredictionView(*_scored_records(received, own), own.unknown)


def _agnostic(received: Sequence[Message], own: Own, granted: Granted) -> AgnosticView:
    if not isinstance(granted.model, Additive):
        raise GrantError("the agnostic threat is on additive models: use --model lr")
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
