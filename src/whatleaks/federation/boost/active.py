"""The active party of SecureBoost as a programme: it holds labels and keys, and grows the trees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.packing import paired, surfaced, unpacked
from whatleaks.errors import WireError
from whatleaks.federation.boost.checks import possible, whole
from whatleaks.federation.boost.columns import Columns
from whatleaks.federation.boost.settings import MOST_CANDIDATES, PairFormat, SecureBoostSettings
from whatleaks.federation.ciphers import read_cipher
from whatleaks.models.boosted_trees import (
    Growth,
    check_labels,
    derivatives,
    drawn,
    gains,
    leaf_weights,
    left_sums,
    node_sums,
    outputs_of,
)
from whatleaks.models.shared_trees import SharedTree
from whatleaks.seeds import Streams
from whatleaks.wire.expected import Expected, Post, Programme, read_plain
from whatleaks.wire.message import Cipher, Payload, Plain
from whatleaks.wire.parties import ACTIVE


class ActiveParty:
    """Columns, labels and the secret key. It grows the trees and keeps their shape."""

    def __init__(
        self,
        x: Floats,
        labels: Ints,
        settings: SecureBoostSettings,
        streams: Streams,
        keys: tuple[PublicKey, SecretKey],
        post: Post,
        passives: Sequence[str],
    ) -> None:
        self._labels = labels
        self._settings = settings.boost
        self._pack = settings.pack
        self._rows_rng = streams.rng("rows")
        self._public, self._secret = keys
        self._post = post
        self._passives = tuple(passives)
        self._format = PairFormat.of(len(x), settings.boost.max_depth)
        self.outputs = outputs_of(check_labels(labels, len(x)))
        self.columns = Columns(x, settings.boost, streams.rng("columns/0"))
        self.margins = np.zeros((len(x), self.outputs))
        self.trees: list[SharedTree] = []
        self._splits = [0] * (1 + len(self._passives))

    def train(self) -> Programme[None]:
        """Grow tree after tree; a step is a level, and every tree has room for all of its own."""
        records, depth = len(self._labels), self._settings.max_depth
        for tree in range(self._settings.rounds * self.outputs):
            step = tree * depth
            counts = []
            for name in self._passives:
                told = read_plain((yield Expected(step, name, "candidates", (1,), True)))
                counts.append(int(whole(told, MOST_CANDIDATES, "candidates", least=0)[0]))
            if tree % self.outputs == 0:
                self._round_margins = self.margins.copy()
            self.begin_tree(step, tree % self.outputs)
            for level in range(step, step + depth):
                self.send_nodes(level)
                if not self.growth.slots:  # told to all: no record waits any more
                    break
                sums: list[Payload | None] = []
                for name, count in zip(self._passives, counts, strict=True):
                    shape = (self.growth.slots, self._each(count))
                    sums.append(
                        (yield Expected(level, name, "sums", shape, False)) if count else None
                    )
                self.choose(level, sums, counts)
                answers = []
                for name in self._passives:
                    answers.append(
                        read_plain((yield Expected(level, name, "left", (records,), True)))
                    )
                self.divide(answers)
            self.end_tree()

    def begin_tree(self, step: int, output: int) -> None:
        """Draw the records, encrypt their derivatives once, and send them to every party."""
        if self.trees:
            self.columns.begin_tree()
        rows = drawn(len(self._labels), self._settings.subsample, self._rows_rng)
        self._rows, self._output = rows, output
        g, h = derivatives(self._round_margins, self._labels)
        self._g, self._h = g[rows, output], h[rows, output]
        self.growth = Growth(len(self._labels))
        self._owner: list[Ints] = []
        self._split: list[Ints] = []
        pairs = paired(self._g, self._h, self._format.shift)
        data = self._public.outgoing_new(pairs, self._format.bits)
        cipher = Cipher(self._public.scheme, (len(rows),), data)
        for name in self._passives:
            self._post.send(step, ACTIVE, name, "rows", Plain(sealed(rows)))
            self._post.send(step, ACTIVE, name, "gradients", cipher)

    def send_nodes(self, step: int) -> None:
        """Tell every party which record is in which node of the level."""
        slot = Plain(sealed(self.growth.waiting()))
        for name in self._passives:
            self._post.send(step, ACTIVE, name, "nodes", slot)

    def choose(self, step: int, sums: Sequence[Payload | None], counts: Sequence[int]) -> None:
        """Decrypt the sums, find each node's best split, and tell every party its share.

        The first party among equals wins, the active party before the others.
        """
        here, slots = self.growth.waiting()[self._rows], self.growth.slots
        total_g, total_h = (node_sums(v, here, slots) for v in (self._g, self._h))
        seen, given = self.columns.seen[self._rows], self.columns.given
        sides = [tuple(left_sums(v, seen, here, slots, given) for v in (self._g, self._h))]
        sides += [self._opened(s, n, slots) for s, n in zip(sums, counts, strict=True)]
        gain = [gains(g, h, total_g, total_h, self._settings) for g, h in sides]
        best = np.stack([part.max(axis=1, initial=-np.inf) for part in gain])
        owner = np.where(best.max(axis=0) > -np.inf, best.argmax(axis=0), -1)
        tied = [
            (part == best.max(axis=0)[:, None]) & (owner == party)[:, None]
            for party, part in enumerate(gain)
        ]
        own = tied[0].argmax(axis=1) if len(given.cell) else owner
        self._chosen = np.where(owner == 0, own, -1)
        self._owner.append(owner)
        self._split.append(self._numbered(owner))
        for name, mark in zip(self._passives, tied[1:], strict=True):
            self._post.send(step, ACTIVE, name, "choice", Plain(sealed(mark)))

    def _each(self, count: int) -> int:
        """Say how many ciphertexts hold the sums of ``count`` candidates of a node."""
        if not self._pack or not count:
            return count
        return self._public.packs(count, self._format.width)

    def _opened(self, sums: Payload | None, count: int, slots: int) -> tuple[Ints, Ints]:
        """Decrypt one party's sums: a row for every node."""
        if not count or not isinstance(sums, Cipher):
            return np.zeros((slots, 0), dtype=np.int64), np.zeros((slots, 0), dtype=np.int64)
        width, each = self._format.width, self._each(count)
        if sums.shape != (slots, each) or len(sums.data) % slots:
            raise WireError(
                f"expected {each} ciphertexts for each of {slots} nodes, got {sums.shape}"
            )
        size = len(sums.data) // slots
        used, most = self._format.used(self._public, count, self._pack), self._public.largest_bits
        pairs = []
        for first in range(0, len(sums.data), size):
            node = Cipher(sums.scheme, (each,), sums.data[first : first + size])
            read = read_cipher(self._public, node, 0, most)
            opened = surfaced(self._secret.decrypt_integers(read), used)
            pairs.append(unpacked(opened, count, width) if self._pack else opened)
        here = self.growth.waiting()[self._rows]
        return possible(np.stack(pairs), here, slots, self._format.shift)

    def _numbered(self, owner: Ints) -> Ints:
        """Count the splits of every owner: the number under which it keeps each."""
        number = np.full(len(owner), -1)
        for party in range(len(self._splits)):
            at = np.flatnonzero(owner == party)
            number[at] = self._splits[party] + np.arange(len(at))
            self._splits[party] += len(at)
        return number

    def divide(self, answers: Sequence[Floats]) -> None:
        """Send the records down: each split's owner says which go left."""
        slot, owner = self.growth.waiting(), self._owner[-1]
        if any(answer.shape != slot.shape for answer in answers):
            raise WireError(f"an answer must say left or right for each of {len(slot)} records")
        mine = self.columns.split(slot, self._chosen)
        left = np.stack([mine, *(answer > 0.0 for answer in answers)])
        goes = left[np.maximum(owner[slot], 0), np.arange(len(slot))]
        split = np.flatnonzero(owner >= 0)
        for side in (goes, ~goes):
            empty = split[np.bincount(slot[(slot >= 0) & side], minlength=len(owner))[split] == 0]
            if empty.size:
                names = (ACTIVE, *self._passives)
                raise WireError(
                    f"{names[owner[empty[0]]]} sends all records of a node to one side: no split "
                    "that was offered does that"
                )
        self.growth.descend(owner >= 0, goes)

    def end_tree(self) -> None:
        """Weigh the leaves, move the margins, keep the shape."""
        node, nodes = self.growth.node[self._rows], self.growth.nodes
        g, h = (node_sums(values, node, nodes) for values in (self._g, self._h))
        unsplit = np.full(self.growth.slots, -1)
        owner = np.concatenate([*self._owner, unsplit])
        split = np.concatenate([*self._split, unsplit])
        weight = np.where(owner >= 0, 0.0, leaf_weights(g, h, self._settings))
        self.margins[:, self._output] += weight[self.growth.node]
        self.trees.append(
            SharedTree(self.growth.children, sealed_ints(owner), sealed_ints(split), sealed(weight))
        )
