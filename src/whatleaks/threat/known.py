"""Threat models of a partner who already has complete records of some of the shared people.

Partners often do: former customers of both, employees, records that were bought or published.
The people are drawn from those that nobody attacks, so the training is that of the threat
without them, and what they add can be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.catalog import threat
from whatleaks.threat.grants import Granted, KnownPeople, ModelGrant, Ranges, Schema
from whatleaks.threat.model import Conduct, Memory, ThreatModel
from whatleaks.threat.prediction import SCORES, beside_scores, scored_records
from whatleaks.threat.views.known import (
    KnownAdditiveView,
    KnownLinearView,
    KnownView,
    KnownWhiteBoxView,
)
from whatleaks.wire.message import Message


def _black_box(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[KnownView]
) -> KnownView:
    own, scores = scored_records(received, memory)
    return view(
        own=own,
        scores=scores,
        unknown=memory.unknown,
        auxiliary=granted[KnownPeople],
        **beside_scores(memory, granted),
    )


def _white_box(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[KnownWhiteBoxView]
) -> KnownWhiteBoxView:
    own, scores = scored_records(received, memory)
    return view(
        own=own,
        scores=scores,
        unknown=memory.unknown,
        model=granted[ModelGrant].model,
        auxiliary=granted[KnownPeople],
        **beside_scores(memory, granted),
    )


BLACK_BOX_KNOWN = threat(
    ThreatModel(
        name="black-box-known",
        conduct=Conduct.CURIOUS,
        sees=SCORES,
        grants=frozenset({KnownPeople, Ranges, Schema}),
        reads=frozenset({"scores"}),
        views=(KnownView,),
        project=_black_box,
    )
)

WHITE_BOX_KNOWN = threat(
    ThreatModel(
        name="white-box-known",
        conduct=Conduct.CURIOUS,
        sees=SCORES,
        grants=frozenset({KnownPeople, ModelGrant, Ranges, Schema}),
        reads=frozenset({"scores"}),
        views=(KnownLinearView, KnownAdditiveView, KnownWhiteBoxView),
        project=_white_box,
    )
)
