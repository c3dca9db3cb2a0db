"""The named threat models on joint trees: U section III-B for a tree and for a forest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.errors import WireError
from whatleaks.threat.grants import Grant, Granted
from whatleaks.threat.model import Conduct, Own, ThreatModel
from whatleaks.threat.views.tree import WhiteBoxForestView, WhiteBoxTreeView
from whatleaks.wire.message import Message, Plain


def _released(received: Sequence[Message]) -> Floats:
    """Join the released classes or votes in the order in which they came."""
    parts = [
        message.payload.values
        for message in received
        if message.kind == "scores" and isinstance(message.payload, Plain)
    ]
    if not parts:
        raise WireError("the active party received no class: nothing was predicted")
    return sealed(np.concatenate(parts, axis=0))


def _tree(received: Sequence[Message], own: Own, granted: Granted) -> WhiteBoxTreeView:
    return WhiteBoxTreeView(own.target, _released(received), own.unknown, granted.tree)


def _forest(received: Sequence[Message], own: Own, granted: Granted) -> WhiteBoxForestView:
    return WhiteBoxForestView(own.target, _released(received), own.unknown, granted.forest)


WHITE_BOX_TREE = ThreatModel(
    name="white-box-tree",
    adversary="active party",
    conduct=Conduct.CURIOUS,
    sees="the class that the joint tree gives every record it asks about",
    grants=frozenset({Grant.TREES, Grant.RANGES}),
    view=WhiteBoxTreeView,
    project=_tree,
)

WHITE_BOX_FOREST = ThreatModel(
    name="white-box-forest",
    adversary="active party",
    conduct=Conduct.CURIOUS,
    sees="the share of the forest's votes for each class, for every record it asks about",
    grants=frozenset({Grant.TREES, Grant.RANGES}),
    view=WhiteBoxForestView,
    project=_forest,
)
