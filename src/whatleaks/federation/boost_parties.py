"""The parties of SecureBoost, each as a programme of its own.

``secure_boost`` says what they do and who learns what. A programme yields what it waits for
and hands its messages to a post, so the same parties run in one process and in several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed, sealed_bools, sealed_ints
from whatleaks.codec import travels
from whatleaks.crypto.additive import Encrypted, PublicKey, SecretKey
from whatleaks.crypto.fixed_point import BigInts
from whatleaks.crypto.keys import check_key_settings
from whatleaks.crypto.packing import paired, unpacked, unpaired
from whatleaks.errors import SpecError, UsageError, WireError
from whatleaks.federation.regression_parties import read_cipher, read_plain
from whatleaks.models.boosted_trees import (
    FRACTION,
    BoostSettings,
    Growth,
    check_labels,
    derivatives,
    drawn,
    drawn_count,
    gains,
    leaf_weights,
    left_sums,
    node_sums,
    outputs_of,
)
from whatleaks.models.candidate_splits import Candidates, candidates, fit_bins
from whatleaks.models.shared_trees import OwnedSplits, SharedTree
from whatleaks.seeds import Streams
from whatleaks.wire.expected import ANY, Expected, Post, Programme
from whatleaks.wire.message import Cipher, Payload, Plain

ACTIVE = "active"
LARGEST = 2**30  # bytes of one message: Paillier ciphertexts of two million records
MOST_CANDIDATES = 1 << 24  # of one party in one tree: more is no table but an attempt on memory

# Called when a tree is finished: how many there are now, and what the party must keep of them.
TreeEnd = Callable[[int, Any], None]


def passive_name(number: int) -> str:
    """Name the passive party of this number, from 1."""
    return f"passive-{number}"


@dataclass(frozen=True)
class SecureBoostSettings:
    """How to boost and how to encrypt.

    ``subtract_above``: a node's sums are taken as parent less sibling if the node holds more
    records than so many per bucket. Subtracting a ciphertext costs as much as adding ten to
    twenty: inverses are taken many at a time. ``pack`` puts many sums into a ciphertext before they are
    sent: with Paillier this saves most decryptions, with Okamoto-Uchiyama only bytes.
    """

    boost: BoostSettings = field(default_factory=BoostSettings)
    backend: str = "heu-paillier"
    key_bits: int = 2048
    insecure_test_key: bool = False
    subtract_above: int = 16
    pack: bool = True

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        check_key_settings(self.backend, self.key_bits, self.insecure_test_key)
        if self.subtract_above < 0:
            raise SpecError(f"subtract_above is {self.subtract_above}: use 0 or more")


@dataclass(frozen=True)
class PairFormat:
    """How derivatives share a ciphertext: g above, h below, with room for all records' sums."""

    shift: int
    bits: int
    width: int

    @staticmethod
    def of(records: int, max_depth: int) -> PairFormat:
        """Derive the format from public numbers alone: |g| <= 1 and 0 < h <= 1."""
        room = records.bit_length()
        shift = FRACTION + 1 + room
        bits = shift + FRACTION + 1
        # A subtraction may add one bit at every level.
        return PairFormat(shift, bits, bits + room + max_depth)


class Columns:
    """One party's columns, cut into bins, and the splits that it has come to own."""

    def __init__(self, x: Floats, settings: BoostSettings, rng: np.random.Generator) -> None:
        self._settings = settings
        self._rng = rng
        self.bins = fit_bins(x, settings.max_bin)
        self._codes = self.bins.codes(x)
        self._owned: list[tuple[int, int, bool]] = []
        self.begin_tree()

    def begin_tree(self) -> None:
        """Draw the columns of the next tree."""
        columns = drawn(len(self.bins.cuts), self._settings.colsample_bytree, self._rng)
        self.given = candidates(self.bins, columns)
        self.seen = self.given.seen(self._codes, self.bins)

    def resume(self, trees: int, owned: Ints) -> None:
        """Take back the splits of ``trees`` finished trees, and draw as many times again."""
        table = _whole_table(owned)
        self._owned = [(c, b, bool(m)) for c, b, m in table.tolist()]
        for _ in range(trees - 1):
            drawn(len(self.bins.cuts), self._settings.colsample_bytree, self._rng)

    @property
    def memory(self) -> Ints:
        """Column, bin and side of missing values of every split owned so far, as rows."""
        return sealed_ints(np.array(self._owned, dtype=np.int64).reshape(-1, 3))

    def split(self, slot: Ints, pick: Ints) -> Bools:
        """Own the candidates picked for the level's nodes (-1: not mine); route the records.

        Records of other nodes are reported as not left.
        """
        mine = pick[pick >= 0]
        if not mine.size:
            return np.zeros(len(slot), dtype=np.bool_)
        given = self.given
        self._owned += zip(
            given.column[mine].tolist(),
            given.bin[mine].tolist(),
            given.missing_left[mine].tolist(),
            strict=True,
        )
        at = pick[slot]
        here = (slot >= 0) & (at >= 0)
        return here & given.left(self._codes, self.bins, np.where(here, at, 0))

    def owned(self) -> OwnedSplits:
        """Return the splits owned so far."""
        table = self.memory
        return OwnedSplits(
            sealed_ints(table[:, 0]),
            sealed_ints(table[:, 1]),
            self.bins.thresholds(table[:, 0], table[:, 1]),
            sealed_bools(table[:, 2]),
        )


class PassiveParty:
    """Columns only. It sums what it cannot read, and divides records when told to."""

    def __init__(
        self,
        name: str,
        x: Floats,
        settings: SecureBoostSettings,
        column_rng: np.random.Generator,
        shuffle_rng: np.random.Generator,
        key: PublicKey,
        post: Post,
    ) -> None:
        self._name = name
        self._records = len(x)
        self._settings = settings
        self._shuffle = shuffle_rng
        self._key = key
        self._post = post
        self._format = PairFormat.of(len(x), settings.boost.max_depth)
        self.columns = Columns(x, settings.boost, column_rng)
        self._drawn = drawn_count(len(x), settings.boost.subsample)
        self._trees = 0

    def train(
        self, outputs: int, first_tree: int = 0, tree_end: TreeEnd | None = None
    ) -> Programme[None]:
        """Take part in growing every tree: ``outputs`` of them in a round, one step a level."""
        boost = self._settings.boost
        for tree in range(first_tree, boost.rounds * outputs):
            step = tree * boost.max_depth
            self.send_candidates(step)
            rows = yield Expected(step, ACTIVE, "rows", (self._drawn,), True)
            gradients = yield Expected(step, ACTIVE, "gradients", (self._drawn,), False)
            self.begin_tree(read_plain(rows), gradients)
            for level in range(step, step + boost.max_depth):
                nodes = yield Expected(level, ACTIVE, "nodes", (self._records,), True)
                self.send_sums(level, read_plain(nodes))
                if not self._slots:  # no record waits: the tree is finished before its last level
                    break
                shape = (self._slots, len(self.columns.given.cell))
                choice = yield Expected(level, ACTIVE, "choice", shape, True)
                self.split(level, read_plain(choice))
            if tree_end is not None:
                tree_end(tree + 1, self.columns.memory)

    def resume(self, trees: int, owned: Ints) -> None:
        """Go on after ``trees`` finished trees with the splits owned then."""
        self.columns.resume(trees, owned)
        self._trees = trees

    def send_candidates(self, step: int) -> None:
        """Draw the columns of a tree and say how many candidate splits they give."""
        if self._trees:
            self.columns.begin_tree()
        self._trees += 1
        count = [len(self.columns.given.cell)]
        self._post.send(step, self._name, ACTIVE, "candidates", Plain(sealed(count)))

    def begin_tree(self, rows: Floats, gradients: Payload) -> None:
        """Take the encrypted derivatives of the records in ``rows``."""
        self._rows = _whole(rows, self._records - 1, "rows", least=0)
        if len(np.unique(self._rows)) != len(self._rows):
            raise WireError("rows names a record more than once")
        self._gradients = read_cipher(self._key, gradients)
        if self._gradients.count != len(self._rows):
            raise WireError(
                f"expected the derivatives of {len(self._rows)} records, "
                f"got {self._gradients.count}"
            )
        self._above: list[Encrypted] = []
        self._order: list[Ints] = []
        self._slot = np.zeros(self._records, dtype=np.int64)

    @property
    def _slots(self) -> int:
        """How many nodes of the level wait to be split."""
        return int(self._slot.max()) + 1

    def send_sums(self, step: int, slots: Floats) -> None:
        """Send the encrypted sums of the level's nodes, one after another, candidates shuffled.

        Without candidates, as announced for this tree, or without nodes there is nothing to
        send.
        """
        if slots.shape != (self._records,):
            raise WireError(f"expected the nodes of {self._records} records, got {slots.shape}")
        before, self._slot = self._slot, _whole(slots, self._records - 1, "nodes")
        given, count = self.columns.given, self._slots
        if count:
            _check_nodes(before, self._slot, count, step % self._settings.boost.max_depth)
        if not len(given.cell) or not count:
            return
        self._above = self._level_sums(given, before)
        self._order = [self._shuffle.permutation(len(given.cell)) for _ in self._above]
        nodes = [
            self._packed(self._key.take(node, order))
            for node, order in zip(self._above, self._order, strict=True)
        ]
        data = b"".join(self._key.outgoing(node) for node in nodes)
        cipher = Cipher(self._key.scheme, (len(nodes), nodes[0].count), data)
        self._post.send(step, self._name, ACTIVE, "sums", cipher)

    def _level_sums(self, given: Candidates, before: Ints) -> list[Encrypted]:
        """Add up the ciphertexts of every node, or subtract where that is cheaper.

        Of two siblings the one with more records is the parent less the other. ``before``
        says in which node of the level above each record was.
        """
        here = self._slot[self._rows]
        count = self._slots
        sizes = np.bincount(here[here >= 0], minlength=count)
        sibling = np.arange(count) ^ 1
        by_subtraction = np.zeros(count, dtype=np.bool_)
        if self._above:
            # Ties in size go to the left one, so that exactly one of two is added up.
            larger = (sizes > sizes[sibling]) | (
                (sizes == sizes[sibling]) & (np.arange(count) % 2 == 1)
            )
            by_subtraction = larger & (sizes > self._settings.subtract_above * given.buckets)
        added = self._key.bucket_sums(
            self._gradients,
            self.columns.seen[self._rows],
            given.buckets,
            [here == node for node in np.flatnonzero(~by_subtraction).tolist()],
        )
        kept = [self._key.take(node, given.cell) for node in added]
        sums = dict(zip(np.flatnonzero(~by_subtraction).tolist(), kept, strict=True))
        for node in np.flatnonzero(by_subtraction).tolist():
            parent = self._above[int(before[np.argmax(self._slot == node)])]
            sums[node] = self._key.subtract(parent, sums[int(sibling[node])])
        return [sums[node] for node in range(count)]

    def split(self, step: int, chosen: Floats) -> None:
        """Own the splits marked for this party and answer which records go left.

        ``chosen`` marks the equally good candidates of every node in the shuffled order; the
        first of them in the own order is taken.
        """
        cells = len(self.columns.given.cell)
        if chosen.shape != (self._slots, cells):
            raise WireError(f"a choice of shape {chosen.shape} does not fit this level's nodes")
        pick = np.array(
            [
                order[row > 0.0].min() if (row > 0.0).any() else -1
                for order, row in zip(self._order, chosen, strict=True)
            ]
            if cells
            else np.full(len(chosen), -1),
            dtype=np.int64,
        )
        left = self.columns.split(self._slot, pick)
        self._post.send(step, self._name, ACTIVE, "left", Plain(sealed(left)))

    def _packed(self, sums: Encrypted) -> Encrypted:
        return self._key.pack(sums, self._format.width) if self._settings.pack else sums


@travels
@dataclass(frozen=True)
class ActiveMemory:
    """What the active party keeps of its finished trees: enough to grow the next one.

    ``round_margins`` are those at the start of the round, from which every output's
    derivatives follow.
    """

    trees: tuple[SharedTree, ...]
    owned: Ints
    margins: Floats
    round_margins: Floats


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

    def train(self, first_tree: int = 0, tree_end: TreeEnd | None = None) -> Programme[None]:
        """Grow tree after tree; a step is a level, and every tree has room for all of its own."""
        records, depth = len(self._labels), self._settings.max_depth
        for tree in range(first_tree, self._settings.rounds * self.outputs):
            step = tree * depth
            counts = []
            for name in self._passives:
                told = read_plain((yield Expected(step, name, "candidates", (1,), True)))
                counts.append(int(_whole(told, MOST_CANDIDATES, "candidates", least=0)[0]))
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
            if tree_end is not None:
                tree_end(tree + 1, self.memory())

    def memory(self) -> ActiveMemory:
        """Return what is needed to go on after the trees grown so far."""
        return ActiveMemory(
            tuple(self.trees),
            self.columns.memory,
            sealed(self.margins),
            sealed(self._round_margins),
        )

    def resume(self, memory: ActiveMemory) -> None:
        """Go on after the trees in ``memory``, with the draws that they used up."""
        if memory.margins.shape != self.margins.shape:
            raise UsageError(
                f"the checkpoint is about {len(memory.margins)} records and there are "
                f"{len(self.margins)}: leave --resume out, or use another own.state"
            )
        self.trees = list(memory.trees)
        self.margins = np.array(memory.margins)
        self._round_margins = np.array(memory.round_margins)
        self.columns.resume(len(self.trees), memory.owned)
        for _ in self.trees:
            drawn(len(self._labels), self._settings.subsample, self._rows_rng)
        owners = np.concatenate([tree.owner for tree in self.trees])
        self._splits = np.bincount(owners[owners >= 0], minlength=len(self._splits)).tolist()

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
        pairs = []
        for first in range(0, len(sums.data), size):
            node = Cipher(sums.scheme, (each,), sums.data[first : first + size])
            opened = self._secret.decrypt_integers(read_cipher(self._public, node))
            pairs.append(unpacked(opened, count, width) if self._pack else opened)
        here = self.growth.waiting()[self._rows]
        return _possible(np.stack(pairs), here, slots, self._format.shift)

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


class SplitOwner:
    """A passive party after training: it routes records of its table at the nodes it owns."""

    def __init__(self, name: str, x: Floats, owned: OwnedSplits, post: Post) -> None:
        self._name = name
        self._x = sealed(x)
        self._owned = owned
        self._post = post

    def serve(self, steps: range) -> Programme[None]:
        """Answer once a step: one for each level of the deepest tree."""
        for step in steps:
            payload = yield Expected(step, ACTIVE, "ask", (ANY, 2), True)
            self.answer(step, read_plain(payload))

    def answer(self, step: int, asked: Floats) -> None:
        """Answer pairs (record, split) with 1 for left and 0 for right."""
        if asked.ndim != 2 or asked.shape[1] != 2:
            raise WireError(f"expected pairs of record and split, got shape {asked.shape}")
        record = _whole(asked[:, 0], len(self._x) - 1, "records", least=0)
        split = _whole(asked[:, 1], len(self._owned.column) - 1, "splits", least=0)
        left = self._owned.left(self._x, record, split)
        self._post.send(step, self._name, ACTIVE, "left", Plain(sealed(left)))


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


def _possible(table: BigInts, here: Ints, slots: int, shift: int) -> tuple[Ints, Ints]:
    """Take sums apart; refuse what the node's records cannot add up to: |g| and h are at most 1."""
    most = np.bincount(here[here >= 0], minlength=slots)[:, None] << FRACTION
    refused = WireError("a party sent a sum that these records cannot have: it is refused")
    if (abs(table) > (int(most.max()) + 1) << shift).any():
        raise refused
    g, h = unpaired(table, shift)
    if (abs(g) > most).any() or (h > most).any():
        raise refused
    return g, h


def _check_nodes(before: Ints, slot: Ints, count: int, level: int) -> None:
    """Refuse nodes that do not come from splitting the level above.

    They are numbered without gaps; below the root two neighbours have exactly the records of
    one node of the level above. ``before`` and ``slot``: every record's node there and here.
    """
    here = slot >= 0
    if count > 2**level or not np.array_equal(np.unique(slot[here]), np.arange(count)):
        raise WireError(f"the nodes of a level must be 0, 1, ..., at most {2**level} here")
    if not level:
        return
    pairs = np.unique(np.stack([slot[here] // 2, before[here]]), axis=1)
    split = np.isin(before, pairs[1]) & (before >= 0)
    if count % 2 or pairs.shape[1] != count // 2 or not np.array_equal(split, here):
        raise WireError("two nodes of a level must share out the records of one node above")


def _whole(values: Floats, most: int, what: str, least: int = -1) -> Ints:
    """Read whole numbers from ``least`` to ``most``; anything else is refused by name."""
    numbers: Ints = values.astype(np.int64)
    if values.ndim != 1 or (numbers != values).any():
        raise WireError(f"{what} must be a list of whole numbers")
    if numbers.size and (int(numbers.min()) < least or int(numbers.max()) > most):
        raise WireError(f"{what} must lie in {least}..{most}")
    return numbers


def _whole_table(values: Ints) -> Ints:
    """Read a checkpoint's rows of three whole numbers."""
    if values.ndim != 2 or values.shape[1] != 3 or values.dtype != np.int64:
        raise WireError("a checkpoint holds no table of splits: delete it")
    return values
