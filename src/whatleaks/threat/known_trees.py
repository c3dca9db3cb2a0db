"""Threat models on joint trees of a partner who already has records of some shared people."""

from __future__ import annotations

from collections.abc import Sequence

from whatleaks.catalog import threat
from whatleaks.threat.grants import (
    ForestModel,
    Granted,
    KnownPeople,
    Ranges,
    Schema,
    TreeModel,
    TreesGrant,
)
from whatleaks.threat.model import Conduct, Memory, ThreatModel
from whatleaks.threat.prediction import public
from whatleaks.threat.trees import (
    BLACK_BOX_VOTES,
    WHITE_BOX_FOREST,
    WHITE_BOX_TREE,
    released_votes,
)
from whatleaks.threat.views.known_trees import KnownForestView, KnownTreeView, KnownVotesView
from whatleaks.wire.message import Message


def _votes(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[KnownVotesView]
) -> KnownVotesView:
    return view(
        own=memory.target,
        released=released_votes(received),
        unknown=memory.unknown,
        auxiliary=granted[KnownPeople],
        **public(granted),
    )


def _tree(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[KnownTreeView]
) -> KnownTreeView:
    return view(
        own=memory.target,
        released=released_votes(received),
        unknown=memory.unknown,
        model=granted[TreeModel].model,
        auxiliary=granted[KnownPeople],
        **public(granted),
    )


def _forest(
    received: Sequence[Message], memory: Memory, granted: Granted, view: type[KnownForestView]
) -> KnownForestView:
    return view(
        own=memory.target,
        released=released_votes(received),
        unknown=memory.unknown,
        model=granted[ForestModel].model,
        auxiliary=granted[KnownPeople],
        **public(granted),
    )


VOTES_KNOWN = threat(
    ThreatModel(
        name="votes-known",
        conduct=Conduct.CURIOUS,
        sees=BLACK_BOX_VOTES.sees,
        grants=frozenset({KnownPeople, Ranges, Schema}),
        reads=frozenset({"votes"}),
        views=(KnownVotesView,),
        project=_votes,
    )
)

WHITE_BOX_TREE_KNOWN = threat(
    ThreatModel(
        name="white-box-tree-known",
        conduct=Conduct.CURIOUS,
        sees=WHITE_BOX_TREE.sees,
        grants=frozenset({KnownPeople, TreesGrant, Ranges, Schema}),
        reads=frozenset({"votes"}),
        views=(KnownTreeView,),
        project=_tree,
    )
)

WHITE_BOX_FOREST_KNOWN = threat(
    ThreatModel(
        name="white-box-forest-known",
        conduct=Conduct.CURIOUS,
        sees=WHITE_BOX_FOREST.sees,
        grants=frozenset({KnownPeople, TreesGrant, Ranges, Schema}),
        reads=frozenset({"votes"}),
        views=(KnownForestView,),
        project=_forest,
    )
)
