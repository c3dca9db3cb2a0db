"""The named threat models on SecureBoost: the label holder and the sides that records take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
    # What was not answered is half a side.
    answers = np.where(answers < 0.0, 0.5, answers)
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


def _watched(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[KnownRoutingView]
) -> KnownRoutingView:
    """Leave only what honest predictions show: the nodes on a record's real path."""
    full = _known(received, memory, granted, view)
    nodes = must_remember(memory, NodesOfOthers, "trees")
    people = full.auxiliary
    own = nodes.on_path(full.own, full.bits)
    known = nodes.on_path(people.own, full.known_bits)
    return replace(
        full,
        bits=sealed(np.where(own, full.bits, 0.5)),
        known_bits=sealed(np.where(known, full.known_bits, 0.5)),
        auxiliary=replace(people, released=sealed(np.zeros((len(people.own), 0)))),
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

BOOST_PATHS = threat(
    ThreatModel(
        name="boost-paths",
        conduct=Conduct.CURIOUS,
        sees="which side a record takes at those of the partner's nodes that it comes to",
        grants=frozenset({Ranges, KnownPeople}),
        reads=frozenset({"left"}),
        views=(KnownRoutingView,),
        project=_watched,
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
