"""The threat model on split networks: the hijacker of training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import threat
from whatleaks.errors import WireError
from whatleaks.threat.grants import Auxiliary, Granted
from whatleaks.threat.model import Conduct, Memory, ThreatModel, plain_messages
from whatleaks.threat.views.split import SplitView
from whatleaks.wire.message import Message


def _split(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[SplitView]
) -> SplitView:
    parts = plain_messages(received, "target-embeddings")
    if not parts:
        raise WireError("the active party received no embeddings of target records")
    # Several passive parties send theirs one after another: side by side, record by record.
    embeddings = sealed(np.concatenate(parts, axis=1))
    return view(memory.target, memory.unknown, granted[Auxiliary], embeddings)


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
