"""The named threat models on prediction: scores with the model, scores alone, the model alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.catalog import threat
from whatleaks.errors import WireError
from whatleaks.models.joined_parts import OwnPart, joined_part
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network
from whatleaks.threat.grants import (
    EarlierScores,
    Granted,
    LinearModel,
    ModelGrant,
    Ranges,
    Schema,
)
from whatleaks.threat.model import Conduct, Memory, ThreatModel, plain_messages
from whatleaks.threat.views.agnostic import AgnosticView, EarlierView
from whatleaks.threat.views.prediction import (
    PredictionView,
    WhiteBoxAdditiveView,
    WhiteBoxLinearView,
    WhiteBoxPredictionView,
)
from whatleaks.wire.message import Message

A = TypeVar("A", bound=AgnosticView)

SCORES = (
    "the score of every record it asks about, beside its own part of a model that adds parts up"
)


def public(granted: Granted) -> dict[str, Any]:
    """Return what partners know of each other's columns: their ranges and their schema."""
    return {"ranges": granted.get(Ranges), "schema": granted.get(Schema)}


def beside_scores(memory: Memory, granted: Granted) -> dict[str, Any]:
    """Return what goes with released scores: what is public, and the own part of a model of parts."""
    return public(granted) | {"own_part": own_part(memory)}


def own_part(memory: Memory) -> Linear | Network | None:
    """Return what the coalition's parties keep of the model, as one part over their columns."""
    kept = [one.part for one in memory.kept if isinstance(one, OwnPart)]
    return joined_part(kept) if kept else None


def scored_records(received: Sequence[Message], memory: Memory) -> tuple[Floats, Floats]:
    """Return the own columns and the scores of the records whose scores were released.

    A release gate says which records it released; the others have no score and are no part
    of the view.
    """
    scores = plain_messages(received, "scores")
    if not scores:
        raise WireError("the active party received no scores: nothing was predicted")
    released = plain_messages(received, "released")
    target = memory.target
    if released:
        target = sealed(target[np.concatenate(released) > 0.5])
    return target, sealed(np.concatenate(scores, axis=0))


def _white_box(
    received: Sequence[Message],
    memory: Memory,
    granted: Granted,
    view: type[WhiteBoxPredictionView],
) -> WhiteBoxPredictionView:
    own, scores = scored_records(received, memory)
    # The view's type was chosen by the class of the granted model.
    model = granted[ModelGrant].model
    return view(own, scores, memory.unknown, model, **beside_scores(memory, granted))


def _black_box(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[PredictionView]
) -> PredictionView:
    own, scores = scored_records(received, memory)
    return view(own, scores, memory.unknown, **beside_scores(memory, granted))


def _agnostic(received: Sequence[Message], memory: Memory, granted: Granted, view: type[A]) -> A:
    more: dict[str, Any] = public(granted)
    if issubclass(view, EarlierView):
        more["earlier"] = granted[EarlierScores]
    return view(
        memory.training,
        memory.labels,
        memory.target,
        memory.unknown,
        granted[LinearModel].model,
        **more,
    )


WHITE_BOX = threat(
    ThreatModel(
        name="white-box",
        conduct=Conduct.CURIOUS,
        sees=SCORES,
        grants=frozenset({ModelGrant, Ranges, Schema}),
        reads=frozenset({"scores"}),
        views=(WhiteBoxLinearView, WhiteBoxAdditiveView, WhiteBoxPredictionView),
        project=_white_box,
    )
)

BLACK_BOX = threat(
    ThreatModel(
        name="black-box",
        conduct=Conduct.CURIOUS,
        sees=SCORES,
        grants=frozenset({Ranges, Schema}),
        reads=frozenset({"scores"}),
        views=(PredictionView,),
        project=_black_box,
    )
)

AGNOSTIC = threat(
    ThreatModel(
        name="agnostic",
        conduct=Conduct.CURIOUS,
        sees="no score of the record it attacks",
        grants=frozenset({ModelGrant, Ranges, Schema}),
        reads=frozenset(),
        views=(AgnosticView,),
        project=_agnostic,
    )
)

AGNOSTIC_EARLIER = threat(
    ThreatModel(
        name="agnostic-earlier",
        conduct=Conduct.CURIOUS,
        sees="no score of the record it attacks",
        grants=frozenset({EarlierScores, ModelGrant, Ranges, Schema}),
        reads=frozenset(),
        views=(EarlierView,),
        project=_agnostic,
    )
)
