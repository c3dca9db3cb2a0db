"""Boosted trees whose splits lie with several parties: who knows what of them.

The active party knows the shape, who owns each node, and the weights of the leaves
(``SharedTree``). What a node asks, its owner alone knows (``OwnedSplits``), under a number
of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed, sealed_bools, sealed_ints
from whatleaks.codec import travels
from whatleaks.models.boosted_trees import BoostedTree, BoostedTrees, goes_left


@travels
@dataclass(frozen=True)
class SharedTree:
    """What the active party holds: ``owner`` is a party's number (0 itself), -1 for a leaf.

    ``split`` is the number under which the owner keeps what the node asks.
    """

    child: Ints
    owner: Ints
    split: Ints
    weight: Floats


@travels
@dataclass(frozen=True)
class OwnedSplits:
    """What one party's nodes ask, by split number."""

    column: Ints
    bin: Ints
    threshold: Floats
    missing_left: Bools

    def left(self, x: Floats, record: Ints, split: Ints) -> Bools:
        """Route records: does ``record[i]`` of ``x`` go left at ``split[i]``?"""
        values = x[record, self.column[split]]
        return goes_left(values, self.threshold[split], self.missing_left[split])


def depth_of(tree: SharedTree) -> int:
    """Return how many splits lie on the longest path; a node's children come after it."""
    depth = np.zeros(len(tree.child), dtype=np.int64)
    for node in np.flatnonzero(tree.child >= 0).tolist():
        depth[tree.child[node] : tree.child[node] + 2] = depth[node] + 1
    return int(depth.max())


def joined(
    trees: Sequence[SharedTree],
    owned: Sequence[OwnedSplits],
    columns: Sequence[int],
    outputs: int,
) -> BoostedTrees:
    """Put together what no party has: the model on the joined table, for the experimenter.

    ``columns`` says how many columns each party holds.
    """
    offset = np.cumsum([0, *columns])
    return BoostedTrees(tuple(_joined(tree, owned, offset) for tree in trees), outputs)


def _joined(tree: SharedTree, owned: Sequence[OwnedSplits], offset: Ints) -> BoostedTree:
    nodes = len(tree.child)
    column, bin_ = np.full(nodes, -1), np.full(nodes, -1)
    threshold, missing_left = np.full(nodes, np.nan), np.zeros(nodes, dtype=np.bool_)
    for party, splits in enumerate(owned):
        at = tree.owner == party
        number = tree.split[at]
        column[at] = splits.column[number] + offset[party]
        bin_[at] = splits.bin[number]
        threshold[at] = splits.threshold[number]
        missing_left[at] = splits.missing_left[number]
    return BoostedTree(
        tree.child,
        sealed_ints(column),
        sealed_ints(bin_),
        sealed(threshold),
        sealed_bools(missing_left),
        tree.weight,
    )


@travels
@dataclass(frozen=True)
class NodesOfOthers:
    """How many nodes each passive party owns, in order: what the trees' shape tells."""

    counts: tuple[int, ...]
