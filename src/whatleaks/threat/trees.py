"""The named threat models on joint trees: U section III-B for a tree and for a forest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.catalog import threat
from whatleaks.errors import WireError
from whatleaks.threat.grants import ForestModel, Granted, Ranges, Schema, TreeModel, TreesGrant
from whatleaks.threat.model import Conduct, Memory, ThreatModel, plain_messages
from whatleaks.threat.prediction import public
from whatleaks.threat.views.tree import VotesView, WhiteBoxForestView, WhiteBoxTreeView
from whatleaks.wire.message import Message


def released_votes(received: Sequence[Message]) -> Floats:
    """Join the released classes or votes in the order in which they came."""
    parts = plain_messages(received, "votes")
    if not parts:
        raise WireError("the active party received no class: nothing was predicted")
    return sealed(np.concatenate(parts, axis=0))


def _tree(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[WhiteBoxTreeView]
) -> WhiteBoxTreeView:
    tree = granted[TreeModel].model
    votes = released_votes(received)
    return view(memory.target, votes, memory.unknown, tree, **public(granted))


def _forest(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[WhiteBoxForestView]
) -> WhiteBoxForestView:
    forest = granted[ForestModel].model
    votes = released_votes(received)
    return view(memory.target, votes, memory.unknown, forest, **public(granted))


def _votes(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[VotesView]
) -> VotesView:
    return view(memory.target, released_votes(received), memory.unknown, **public(granted))


WHITE_BOX_TREE = threat(
    ThreatModel(
        name="white-box-tree",
        conduct=Conduct.CURIOUS,
        sees="the class that the joint tree gives every record it asks about",
        grants=frozenset({TreesGrant, Ranges, Schema}),
        reads=frozenset({"votes"}),
        views=(WhiteBoxTreeView,),
        project=_tree,
    )
)

WHITE_BOX_FOREST = threat(
    ThreatModel(
        name="white-box-forest",
        conduct=Conduct.CURIOUS,
        sees="the share of the forest's votes for each class, for every record it asks about",
        grants=frozenset({TreesGrant, Ranges, Schema}),
        reads=frozenset({"votes"}),
        views=(WhiteBoxForestView,),
        project=_forest,
    )
)

BLACK_BOX_VOTES = threat(
    ThreatModel(
        name="black-box-votes",
        conduct=Conduct.CURIOUS,
        sees="the class or the votes that the joint trees give every record it asks about",
        grants=frozenset({Ranges, Schema}),
        reads=frozenset({"votes"}),
        views=(VotesView,),
        project=_votes,
    )
)
