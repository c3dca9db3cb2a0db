"""Threat models on split networks: the hijacker of training, and who may ask the trained network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.catalog import threat
from whatleaks.errors import WireError
from whatleaks.threat.grants import Auxiliary, Granted, PassiveNetwork
from whatleaks.threat.model import Conduct, Memory, ThreatModel, plain_messages
from whatleaks.threat.views.split import QueryView, SplitView
from whatleaks.wire.message import Message


def _split(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[SplitView]
) -> SplitView:
    del view
    return SplitView(memory.target, memory.unknown, granted[Auxiliary], _embeddings(received))


def _query(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[QueryView]
) -> QueryView:
    del view
    return QueryView(
        memory.target,
        memory.unknown,
        granted[Auxiliary],
        _embeddings(received),
        granted[PassiveNetwork],
    )


def _embeddings(received: Sequence[Message]) -> Floats:
    parts = plain_messages(received, "target-embeddings")
    if not parts:
        raise WireError("the active party received no embeddings of target records")
    # Several passive parties send theirs one after another: side by side, record by record.
    return sealed(np.concatenate(parts, axis=1))


SPLIT_HIJACK = threat(
    ThreatModel(
        name="split-hijack",
        conduct=Conduct.MALICIOUS,
        sees=(
            "the embedding of every training batch and of every target record, answers training "
            "batches with gradients of its own making, and knows the layer sizes of the passive "
            "party's network (Yao et al. III-B)"
        ),
        grants=frozenset({Auxiliary}),
        reads=frozenset({"target-embeddings"}),
        views=(SplitView,),
        project=_split,
    )
)

SPLIT_QUERY = threat(
    ThreatModel(
        name="split-query",
        conduct=Conduct.CURIOUS,
        sees="the embedding of every target record, after an honest training",
        grants=frozenset({Auxiliary, PassiveNetwork}),
        reads=frozenset({"target-embeddings"}),
        views=(QueryView,),
        project=_query,
    )
)
