"""A threat and its view: scores, and who trained the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whatleaks.arrays import Floats
from whatleaks.catalog import threat
from whatleaks.codec import travels
from whatleaks.threat.grants import Granted, Ranges
from whatleaks.threat.model import Conduct, Memory, ThreatModel
from whatleaks.threat.prediction import scored_records
from whatleaks.threat.views.prediction import PredictionView
from whatleaks.wire.message import Message


@travels
@dataclass(frozen=True)
class TrainedWithView(PredictionView):
    """Scores, and the own columns of the records that trained the model."""

    training_own: Floats


def _project(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[TrainedWithView]
) -> TrainedWithView:
    own, scores = scored_records(received, memory)
    return view(own, scores, memory.unknown, memory.training, ranges=granted.get(Ranges))


TRAINED_WITH = threat(
    ThreatModel(
        name="example-trained-with",
        conduct=Conduct.CURIOUS,
        sees="the score of every record it asks about, and which records trained the model",
        grants=frozenset({Ranges}),
        reads=frozenset({"scores"}),
        views=(TrainedWithView,),
        project=_project,
    )
)
