"""The threat model of an active party that asks about people again with own parts of its choice."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.catalog import threat
from whatleaks.models.asked_otherwise import OtherAnswers
from whatleaks.threat.grants import ChosenParts, Granted, LinearModel, ModelGrant, Ranges, Schema
from whatleaks.threat.model import Conduct, Memory, ThreatModel, must_remember
from whatleaks.threat.prediction import SCORES, beside_scores, scored_records
from whatleaks.threat.views.asked import AskedLinearView
from whatleaks.wire.message import Message


def _asked(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[AskedLinearView]
) -> AskedLinearView:
    own, scores = scored_records(received, memory)
    return view(
        own=own,
        scores=scores,
        unknown=memory.unknown,
        model=granted[LinearModel].model,
        asked=must_remember(memory, OtherAnswers, "answers to other questions"),
        **beside_scores(memory, granted),
    )


WHITE_BOX_ASKING = threat(
    ThreatModel(
        name="white-box-asking",
        conduct=Conduct.MALICIOUS,
        sees=SCORES,
        grants=frozenset({ChosenParts, ModelGrant, Ranges, Schema}),
        reads=frozenset({"scores"}),
        views=(AskedLinearView,),
        project=_asked,
    )
)
