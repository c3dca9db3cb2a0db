"""Prediction with boosted trees: the active party walks them, the owners answer their splits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed
from whatleaks.errors import WireError
from whatleaks.federation.boost.checks import whole
from whatleaks.models.shared_trees import Above, OwnedSplits, SharedTree
from whatleaks.wire.expected import ANY, Expected, Post, Programme, read_plain
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import ACTIVE

UNANSWERED = -1.0  # an owner's answer about a record that never comes to the node


class SplitOwner:
    """A passive party after training: it routes records of its table at the nodes it owns."""

    def __init__(
        self,
        name: str,
        x: Floats,
        owned: OwnedSplits,
        post: Post,
        above: Sequence[Above] | None = None,
    ) -> None:
        """``above``: of every own split the own ones above it; then only real paths are answered."""
        self._name = name
        self._above = above
        self._x = sealed(x)
        self._owned = owned
        self._post = post

    def serve(self, steps: range) -> Programme[None]:
        """Answer once a step: one for each level of the deepest tree."""
        for step in steps:
            payload = yield Expected(step, ACTIVE, "ask", (ANY, 2), True)
            self.answer(step, read_plain(payload))

    def answer(self, step: int, asked: Floats) -> None:
        """Answer pairs (record, split) with 1 for left and 0 for right, or not at all."""
        if asked.ndim != 2 or asked.shape[1] != 2:
            raise WireError(f"expected pairs of record and split, got shape {asked.shape}")
        record = whole(asked[:, 0], len(self._x) - 1, "records", least=0)
        split = whole(asked[:, 1], len(self._owned.column) - 1, "splits", least=0)
        left = self._owned.left(self._x, record, split).astype(np.float64)
        if self._above is not None:
            left[~self._reached(record, split)] = UNANSWERED
        self._post.send(step, self._name, ACTIVE, "left", Plain(sealed(left)))

    def _reached(self, record: Ints, split: Ints) -> Bools:
        """Say whether a record can have come to a split, as far as the own splits above tell."""
        assert self._above is not None
        found = np.ones(len(record), dtype=np.bool_)
        for one in np.unique(split).tolist():
            at = np.flatnonzero(split == one)
            for _, number, side in self._above[one]:
                went = self._owned.left(self._x, record[at], np.full(len(at), number))
                found[at] &= went == side
        return found


def walk(
    trees: Sequence[SharedTree],
    outputs: int,
    own: OwnedSplits,
    x_active: Floats,
    passives: Sequence[str],
    steps: range,
    post: Post,
) -> Programme[Floats]:
    """Return the margins of new records: walk all trees at once, one level a step.

    The active party asks an owner only about records that have reached a node of its; the
    answers tell it each record's path, and nothing about columns or thresholds. Every owner
    is asked at every level, if need be about nothing.
    """
    records = len(x_active)
    node = np.zeros((records, len(trees)), dtype=np.int64)
    for step in steps:
        owner, split, child = (
            np.stack([part[node[:, t]] for t, part in enumerate(parts)], axis=1)
            for parts in (
                [tree.owner for tree in trees],
                [tree.split for tree in trees],
                [tree.child for tree in trees],
            )
        )
        left = np.zeros(node.shape, dtype=np.bool_)
        at = owner == 0
        left[at] = own.left(x_active, np.nonzero(at)[0], split[at])
        for number, name in enumerate(passives, start=1):
            at = owner == number
            asked = np.stack([np.nonzero(at)[0], split[at]], axis=1)
            post.send(step, ACTIVE, name, "ask", Plain(sealed(asked)))
            left[at] = read_plain((yield Expected(step, name, "left", (len(asked),), True))) > 0.0
        node = np.where(owner >= 0, child + ~left, node)
    margins = np.zeros((records, outputs))
    for t, tree in enumerate(trees):
        margins[:, t % outputs] += tree.weight[node[:, t]]
    return margins


def sides(party: str, record: Ints, split: Ints, post: Post) -> Programme[Bools]:
    """Ask an owner about pairs of a record and a split, in one message; True: left."""
    asked = np.stack([record, split], axis=1).astype(np.float64)
    post.send(0, ACTIVE, party, "ask", Plain(sealed(asked)))
    answer = read_plain((yield Expected(0, party, "left", (len(asked),), True)))
    return np.asarray(answer > 0.0, dtype=np.bool_)
