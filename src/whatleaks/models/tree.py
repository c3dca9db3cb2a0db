"""A decision tree over the joined columns of two parties: plain arrays, no parties.

Columns are numbered with the active party's first, then the passive party's. A record goes
left where its value is at most the threshold (U section II-A, scikit-learn's convention).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed, sealed_ints
from whatleaks.codec import travels
from whatleaks.errors import UsageError

LEAF = -1


@travels
@dataclass(frozen=True)
class Tree:
    """Nodes in rows; node 0 is the root and a child comes after its parent.

    ``feature`` is the joined column that a node tests, -1 at a leaf; ``left`` and ``right``
    are the children, -1 at a leaf. ``value`` has one column per class: the classes' counts or
    fractions among the training records of the node. The first ``active_columns`` joined
    columns belong to the active party.
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    active_columns: int

    def __post_init__(self) -> None:
        """Refuse arrays that are not a tree: walking them might not end."""
        nodes = len(self.feature)
        if nodes == 0 or any(len(a) != nodes for a in (self.threshold, self.left, self.right)):
            raise UsageError("a tree needs one feature, threshold, left and right for every node")
        if self.value.ndim != 2 or self.value.shape[0] != nodes or self.value.shape[1] < 1:
            raise UsageError(f"a tree of {nodes} nodes needs a table of class values with as many")
        inner = self.feature >= 0
        for child in (self.left, self.right):
            if not np.array_equal(child >= 0, inner) or (child >= nodes).any():
                raise UsageError("a tree's inner nodes need two children and its leaves none")
            if (child[inner] <= np.flatnonzero(inner)).any():
                raise UsageError("a tree's children must come after their parent")
        children = np.concatenate([self.left[inner], self.right[inner]])
        if not np.array_equal(np.sort(children), np.arange(1, nodes)):
            raise UsageError("a tree's nodes need exactly one parent each, the root none")
        if not np.isfinite(self.threshold[inner]).all():
            raise UsageError("a tree's thresholds must be finite")

    @property
    def nodes(self) -> int:
        """How many nodes there are, leaves included."""
        return len(self.feature)

    @property
    def classes(self) -> int:
        """How many classes the tree knows."""
        return int(self.value.shape[1])

    @property
    def inner(self) -> Bools:
        """Say for every node whether it tests a column."""
        return np.asarray(self.feature >= 0)

    @property
    def passive(self) -> Bools:
        """Say for every node whether it tests one of the passive party's columns."""
        return np.asarray(self.feature >= self.active_columns)

    @property
    def active(self) -> Bools:
        """Say for every node whether it tests one of the active party's columns."""
        return self.inner & ~self.passive

    @property
    def leaf_nodes(self) -> Ints:
        """The numbers of the leaves, ascending: one path of the tree each."""
        return np.flatnonzero(~self.inner)

    @property
    def labels(self) -> Ints:
        """The class that every node would predict: its most frequent, the first in a tie."""
        return np.asarray(self.value.argmax(axis=1), dtype=np.int64)

    @property
    def depth(self) -> int:
        """How many tests the longest path has."""
        return int(self.levels().max())

    def levels(self) -> Ints:
        """Return every node's distance from the root."""
        level = np.zeros(self.nodes, dtype=np.int64)
        for i in np.flatnonzero(self.inner):  # parents come first
            level[self.left[i]] = level[self.right[i]] = level[i] + 1
        return level

    def routes(self) -> np.ndarray[Any, np.dtype[np.int8]]:
        """Return leaves x nodes: 1 where the leaf's path goes left, -1 right, 0 off the path.

        A byte each: a tree that was grown without a limit has thousands of nodes.
        """
        above = np.zeros((self.nodes, self.nodes), dtype=np.int8)
        for i in np.flatnonzero(self.inner):
            for child, way in ((self.left[i], 1), (self.right[i], -1)):
                above[child] = above[i]
                above[child, i] = way
        return above[self.leaf_nodes]

    def leaves(self, x: Floats) -> Ints:
        """Return the node number of the leaf that each joined record falls into."""
        return self.walk(
            len(x), lambda rows, node: x[rows, self.feature[node]] <= self.threshold[node]
        )

    def walk(self, records: int, goes_left: Callable[[Ints, Ints], Bools]) -> Ints:
        """Take all records from the root to their leaves, a level at a time.

        ``goes_left(rows, nodes)`` answers the tests of ``nodes`` for ``rows``, pairwise: the
        tree's own columns answer it, or the parties that own them.
        """
        at = np.zeros(records, dtype=np.int64)
        going = np.arange(records) if self.inner[0] else np.zeros(0, dtype=np.int64)
        while going.size:
            node = at[going]
            at[going] = np.where(goes_left(going, node), self.left[node], self.right[node])
            going = going[self.feature[at[going]] >= 0]
        return at

    def shares(self, x: Floats) -> Floats:
        """Return the share of each class in the leaf of every joined record."""
        found = self.value[self.leaves(x)]
        total = found.sum(axis=1, keepdims=True)
        return np.asarray(found / np.where(total > 0.0, total, 1.0))

    def predict(self, x: Floats) -> Ints:
        """Return each joined record's class."""
        return np.asarray(self.labels[self.leaves(x)])


def tree_from_sklearn(fitted: Any, active_columns: int, classes: int, names: Ints) -> Tree:
    """Copy a fitted scikit-learn classification tree out as plain numbers.

    ``names`` are the class numbers behind the columns of its values, among ``classes``: a
    class that was never seen in training keeps the value zero everywhere.
    """
    grown = fitted.tree_
    inner = np.asarray(grown.children_left) >= 0
    value = np.zeros((grown.node_count, classes))
    value[:, names] = grown.value[:, 0, :]
    return Tree(
        feature=sealed_ints(np.where(inner, grown.feature, LEAF)),
        threshold=sealed(np.where(inner, double_borders(np.asarray(grown.threshold)), 0.0)),
        left=sealed_ints(np.where(inner, grown.children_left, LEAF)),
        right=sealed_ints(np.where(inner, grown.children_right, LEAF)),
        value=sealed(value),
        active_columns=active_columns,
    )


def double_borders(thresholds: Floats) -> Floats:
    """Return the borders that split doubles as scikit-learn splits them.

    It rounds records to single precision and only then compares. The border is therefore the
    largest double that rounds to a single at or below the threshold: the middle between the
    two singles around the threshold, which itself rounds to the one with an even last bit.
    """
    below = thresholds.astype(np.float32)
    down, up = np.float32(-np.inf), np.float32(np.inf)
    below = np.where(below > thresholds, np.nextafter(below, down), below)
    above = np.nextafter(below, up)
    middle = 0.5 * (below.astype(np.float64) + above.astype(np.float64))
    return np.where(middle.astype(np.float32) == below, middle, np.nextafter(middle, -np.inf))
