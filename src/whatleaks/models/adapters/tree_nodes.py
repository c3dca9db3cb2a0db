"""A ``Tree`` from nodes in any order, as other libraries number them."""

from __future__ import annotations

from typing import Any

import numpy as np

from whatleaks.arrays import Ints, sealed, sealed_ints
from whatleaks.errors import UsageError
from whatleaks.models.tree import LEAF, Tree


def numbered(
    feature: Any,
    threshold: Any,
    left: Any,
    right: Any,
    value: Any,
    active: int,
    always: Ints | None = None,
) -> Tree:
    """Number the nodes that can be reached from node 0 anew, each parent before its children.

    ``feature`` is negative at a leaf. ``always``: 1 where a node always goes left, -1 where it
    always goes right; such a node is left out.
    """

    def reached(node: int) -> int:
        while always is not None and always[node]:
            node = int(left[node] if always[node] > 0 else right[node])
        return node

    nodes = [reached(0)]
    children = []
    for node in nodes:  # grows while it is walked
        if len(nodes) > len(feature):
            raise UsageError("the model's trees are damaged: a node is its own descendant")
        if feature[node] < 0:
            children.append((LEAF, LEAF))
            continue
        children.append((len(nodes), len(nodes) + 1))
        nodes += [reached(int(left[node])), reached(int(right[node]))]
    below = np.array(children, dtype=np.int64)
    return Tree(
        sealed_ints(np.maximum(np.asarray(feature)[nodes], LEAF)),
        sealed(np.where(below[:, 0] < 0, 0.0, np.asarray(threshold)[nodes])),
        sealed_ints(below[:, 0]),
        sealed_ints(below[:, 1]),
        sealed(np.asarray(value)[nodes]),
        active,
    )
