"""The threat model on split networks: the hijacker of training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.errors import WireError
from whatleaks.threat.grants import Grant, Granted
from whatleaks.threat.model import Conduct, Own, ThreatModel
from whatleaks.threat.views.split import SplitView
from whatleaks.wire.message import Message, Plain


def _split(received: Sequence[Message], own: Own, granted: Granted) -> SplitView:
    parts = [
        message.payload.values
        for message in received
        if message.kind == "target-embeddings" and isinstance(message.payload, Plain)
    ]
    if not parts:
        raise WireError("the active party received no embeddings of target records")
    embeddings = sealed(np.concatenate(parts, axis=0))
    return SplitView(own.target, embeddings, own.unknown, granted.auxiliary)


SPLIT_HIJACK = ThreatModel(
    name="split-hijack",
    adversary="active party",
    conduct=Conduct.MALICIOUS,
    sees=(
        "the embedding of every training batch and of every target record, answers training "
        "batches with gradients of its own making, and knows the layer sizes of the passive "
        "party's network (Yao et al. III-B)"
    ),
    grants=frozenset({Grant.AUXILIARY}),
    view=SplitView,
    project=_split,
)
