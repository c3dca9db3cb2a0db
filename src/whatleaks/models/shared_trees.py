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
    """How many nodes each passive party owns, in order; the trees' shape, and the own nodes."""

    counts: tuple[int, ...]
    trees: tuple[SharedTree, ...]
    own: OwnedSplits

    def on_path(self, own: Floats, bits: Floats) -> Bools:
        """Say which of the others' nodes (columns of ``bits``) lie on each record's real path.

        ``own`` are the records' columns at the own nodes, ``bits`` their sides at the others'.
        """
        first = np.cumsum([0, *self.counts])
        everybody = np.arange(len(bits))
        found = np.ones(bits.shape, dtype=np.bool_)
        for party, count in enumerate(self.counts, start=1):
            for split, above in enumerate(splits_above(self.trees, party, count)):
                for owner, number, left in above:
                    if owner == 0:
                        side = self.own.left(own, everybody, np.full(len(own), number))
                    else:
                        side = bits[:, first[owner - 1] + number] == 1.0
                    found[:, first[party - 1] + split] &= side == left
        return found


# Of a split: every split above it as its owner, its number, and whether one goes left there.
Above = tuple[tuple[int, int, bool], ...]


def splits_above(trees: Sequence[SharedTree], party: int, count: int) -> tuple[Above, ...]:
    """Return what lies above each of a party's ``count`` splits, the root first."""
    found: list[Above] = [()] * count
    for tree in trees:
        ways: dict[int, Above] = {0: ()}
        for node, child in enumerate(tree.child.tolist()):  # children come after their parent
            if child < 0:
                continue
            owner, split = int(tree.owner[node]), int(tree.split[node])
            if owner == party:
                found[split] = ways[node]
            for side, below in ((True, child), (False, child + 1)):
                ways[below] = (*ways[node], (owner, split, side))
    return tuple(found)
