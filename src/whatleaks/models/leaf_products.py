"""Votes of trees for many candidates of every record: a product of two tables of leaves.

A leaf is reached where the own columns pass the own tests on its path and the candidate passes the
others. So the votes of all records with all candidates are one matrix product over the leaves
of all trees, without a walk for every pair.
"""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints
from whatleaks.models.forest import Forest
from whatleaks.models.tree import Tree

AT_ONCE = 4_000_000  # entries of one table of leaves


class ScoredByTrees:
    """The trees of a model, node after node in one table; outputs are shares of the votes."""

    redrawn = False

    def __init__(self, model: Forest | Tree, own: Floats, *, soft: bool) -> None:
        trees = model.trees if isinstance(model, Forest) else (model,)
        first = np.cumsum([0, *(tree.nodes for tree in trees)])
        self._roots: Ints = first[:-1]
        self._feature = np.concatenate([tree.feature for tree in trees])
        self._threshold = np.concatenate([tree.threshold for tree in trees])
        pairs = zip(trees, self._roots, strict=True)
        both = [(tree.left + at, tree.right + at) for tree, at in pairs]
        self._left, self._right = (np.concatenate(sides) for sides in zip(*both, strict=True))
        self._active = model.active_columns
        self._leaves: Ints = np.flatnonzero(self._feature < 0)
        votes = [_shares(tree) if soft else np.eye(tree.classes)[tree.labels] for tree in trees]
        # Whole votes are counted exactly in single precision.
        self._votes = np.concatenate(votes)[self._leaves].astype(np.float64 if soft else np.float32)
        self._trees = len(trees)
        self._own = self._reached(own, mine=True)

    @property
    def cost(self) -> float:
        """One product for every leaf and class."""
        return float(len(self._votes) * (self._votes.shape[1] - 1))

    @property
    def wide(self) -> int:
        """Numbers held for one candidate of one record."""
        return int(self._votes.shape[1])

    def borders(self) -> Floats:
        """Return the thresholds of the partner's columns, in order, each once."""
        return np.unique(self._threshold[self._feature >= self._active])

    def shared(self, rows: Ints, values: Floats) -> Floats:
        """Return the votes of some records with all candidates."""
        own = self._own[:, rows]
        found = np.empty((own.shape[1], len(values), self._votes.shape[1]))
        step = max(1, AT_ONCE // len(self._feature))
        for i in range(0, len(values), step):
            part = slice(i, i + step)
            theirs = self._reached(values[part], mine=False).astype(self._votes.dtype)
            for k, vote in enumerate(self._votes.T[1:], 1):
                found[:, part, k] = (own * vote[:, None]).T @ theirs
        # Every tree gives one vote, so the first class has the rest.
        found[..., 0] = self._trees - found[..., 1:].sum(axis=2)
        return found / self._trees

    def each(self, rows: Ints, values: Floats) -> Floats:
        """Refuse: a walk for every pair is what this is here to avoid."""
        raise NotImplementedError("trees are searched with the same candidates for all records")

    def _reached(self, columns: Floats, *, mine: bool) -> Bools:
        """Return leaves x records: whether these columns leave the way to a leaf open.

        A test of the other side's columns is passed both ways.
        """
        before = 0 if mine else self._active
        beta = np.zeros((len(self._feature), len(columns)), dtype=np.bool_)
        beta[self._roots] = True
        level = self._roots[self._feature[self._roots] >= 0]
        turned = np.ascontiguousarray(columns.T)
        while level.size:
            feature = self._feature[level]
            asked = (feature < self._active) == mine
            column = np.where(asked, feature - before, 0)
            left = turned[column] <= self._threshold[level][:, None] if len(turned) else None
            if left is None:
                left = np.ones((len(level), len(columns)), dtype=np.bool_)
            beta[self._left[level]] = beta[level] & (left | ~asked[:, None])
            beta[self._right[level]] = beta[level] & ~(left & asked[:, None])
            below = np.concatenate([self._left[level], self._right[level]])
            level = below[self._feature[below] >= 0]
        return np.asarray(beta[self._leaves])


def _shares(tree: Tree) -> Floats:
    total = tree.value.sum(axis=1, keepdims=True)
    return np.asarray(tree.value / np.where(total > 0.0, total, 1.0))
