"""A random forest over the joined columns: the share of its trees that vote for each class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.codec import travels
from whatleaks.errors import UsageError
from whatleaks.models.tree import Tree, tree_from_sklearn


@travels
@dataclass(frozen=True)
class Forest:
    """Independent trees over the same columns and classes.

    ``soft``: a tree gives every class its share in the leaf, instead of one vote to one class.
    """

    trees: tuple[Tree, ...]
    soft: bool = False

    def __post_init__(self) -> None:
        """Refuse trees that cannot vote together."""
        if not self.trees:
            raise UsageError("a forest needs at least 1 tree")
        if len({(tree.classes, tree.active_columns) for tree in self.trees}) > 1:
            raise UsageError("a forest's trees must share their classes and columns")

    @property
    def classes(self) -> int:
        """How many classes the trees know."""
        return self.trees[0].classes

    @property
    def active_columns(self) -> int:
        """How many of the joined columns, the first ones, belong to the active party."""
        return self.trees[0].active_columns

    @property
    def depth(self) -> int:
        """How many tests the longest path of any tree has."""
        return max(tree.depth for tree in self.trees)

    def fractions(self, x: Floats) -> Floats:
        """Return the fraction of trees that vote for each class: records x classes.

        One whole vote per tree (U section II-A). scikit-learn's ``predict_proba`` averages
        the class fractions of the leaves instead, so its numbers are those of a ``soft`` forest.
        """
        if self.soft:
            return np.asarray(sum(tree.shares(x) for tree in self.trees) / len(self.trees))
        return self.share(len(x), (tree.predict(x) for tree in self.trees))

    def share(self, records: int, votes: Iterable[Ints]) -> Floats:
        """Count votes tree by tree: only one tree's answers are held at a time."""
        counts = np.zeros((records, self.classes))
        rows = np.arange(records)
        for vote in votes:
            counts[rows, vote] += 1.0
        return counts / len(self.trees)

    def predict(self, x: Floats) -> Ints:
        """Return the class with most votes, the first in a tie."""
        return np.asarray(self.fractions(x).argmax(axis=1), dtype=np.int64)


def forest_from_sklearn(fitted: Any, active_columns: int, classes: int) -> Forest:
    """Copy a fitted scikit-learn forest; its trees number the forest's own classes."""
    names = np.asarray(fitted.classes_, dtype=np.int64)
    return Forest(
        tuple(
            tree_from_sklearn(tree, active_columns, classes, names) for tree in fitted.estimators_
        )
    )
