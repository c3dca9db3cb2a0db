"""The named threat models on SecureBoost: the label holder and the sides that records take."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.catalog import threat
from whatleaks.errors import WireError
from whatleaks.models.shared_trees import NodesOfOthers
from whatleaks.threat.grants import Granted, KnownPeople, Probes, Ranges
from whatleaks.threat.model import Conduct, Memory, ThreatModel, must_remember, plain_messages
from whatleaks.threat.views.routing import KnownRoutingView, ProbedView
from whatleaks.wire.message import Message

SEES = "which side every record it asks about takes at each of the partner's nodes"


def _sides(answers: Floats, records: int, memory: Memory) -> Floats:
    """Put the answers of all passive parties side by side: records x nodes."""
    nodes = must_remember(memory, NodesOfOthers, "trees").counts
    if len(answers) != records * sum(nodes):
        raise WireError(f"{len(answers)} answers came for {records} records and {sum(nodes)} nodes")
    parts = np.split(answers, np.cumsum([records * count for count in nodes])[:-1])
    return sealed(
        np.concatenate(
            [part.reshape(records, count) for part, count in zip(parts, nodes, strict=True)],
            axis=1,
        )
    )


def _received(received: Sequence[Message]) -> Floats:
    parts = plain_messages(received, "left")
    return np.concatenate(parts) if parts else np.zeros(0)


def _probed(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[ProbedView]
) -> ProbedView:
    bits = _sides(_received(received), len(memory.target), memory)
    return view(memory.target, memory.unknown, bits, granted[Ranges], granted[Probes])


def _known(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[KnownRoutingView]
) -> KnownRoutingView:
    known = granted[KnownPeople]
    return view(
        own=memory.target,
        unknown=memory.unknown,
        bits=_sides(_received(received), len(memory.target), memory),
        known_bits=_sides(known.released.ravel(), len(known.own), memory),
        ranges=granted[Ranges],
        auxiliary=known,
    )


BOOST_QUERIES = threat(
    ThreatModel(
        name="boost-queries",
        conduct=Conduct.CURIOUS,
        sees=SEES,
        grants=frozenset({Ranges, Probes}),
        reads=frozenset({"left"}),
        views=(ProbedView,),
        project=_probed,
    )
)

BOOST_KNOWN = threat(
    ThreatModel(
        name="boost-known",
        conduct=Conduct.CURIOUS,
        sees=SEES,
        grants=frozenset({Ranges, KnownPeople}),
        reads=frozenset({"left"}),
        views=(KnownRoutingView,),
        project=_known,
    )
)
