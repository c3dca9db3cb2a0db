"""SecureBoost: boosted trees over vertical parties (Li et al., section 2.3, Fig 4).

The active party holds the labels and both keys. For every tree it encrypts the derivatives
g and h of its records, both in one ciphertext, and sends them to the passive parties. Level
by level it says which record is in which node. A passive party sums the ciphertexts on the
left of each of its candidate splits, shuffles the candidates of every node anew, and sends
the encrypted sums. The active party decrypts, finds the best split over all parties, and
tells its owner, who answers which records go left. So the active party learns how records
are divided, but neither by which column nor where; a passive party learns the same
divisions, and no derivative.

Two choices of ours. Candidates that divide the records of a node alike have equal gains;
the active party marks all of them and the owner takes its first, so that the tree does not
depend on the shuffle. And the sums of a node are packed, many to a ciphertext, before they
are sent (``pack``). A node's sums are the parent's less its sibling's where that is cheaper than
adding them up (``subtract_above``).

Everything is exact: the trees are those of ``models.boosted_trees.train_joined``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed, sealed_bools, sealed_ints
from whatleaks.crypto.additive import Encrypted, PublicKey, SecretKey
from whatleaks.crypto.keys import BACKENDS, KEY_BITS, generate_keys
from whatleaks.crypto.packing import paired, unpacked, unpaired
from whatleaks.errors import SpecError, TableError, WireError, nearest
from whatleaks.models.additive import link
from whatleaks.models.boosted_trees import (
    FRACTION,
    BoostedTrees,
    BoostSettings,
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
from whatleaks.models.candidate_splits import Candidates, candidates, fit_bins
from whatleaks.models.shared_trees import OwnedSplits, SharedTree, joined
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Cipher
from whatleaks.wire.transcript import Transcript

ACTIVE = "active"


def passive_name(number: int) -> str:
    """Name the passive party of this number, from 1."""
    return f"passive-{number}"


@dataclass(frozen=True)
class SecureBoostSettings:
    """How to boost and how to encrypt.

    ``subtract_above``: a node's sums are taken as parent less sibling if the node holds more
    records than so many per bucket. Subtracting a ciphertext costs as much as adding about
    130, with either cryptosystem. ``pack`` puts many sums into a ciphertext before they are
    sent: with Paillier this saves most decryptions, with Okamoto-Uchiyama only bytes.
    """

    boost: BoostSettings = field(default_factory=BoostSettings)
    backend: str = "heu-paillier"
    key_bits: int = 2048
    insecure_test_key: bool = False
    subtract_above: int = 128
    pack: bool = True

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        if self.backend not in BACKENDS:
            raise SpecError(
                f"unknown backend {self.backend!r}: use one of {', '.join(BACKENDS)}."
                f"{nearest(self.backend, BACKENDS)}"
            )
        if self.key_bits not in KEY_BITS and not self.insecure_test_key:
            raise SpecError(
                f"key_bits is {self.key_bits}: use 2048 or 3072 (tests may say insecure_test_key)"
            )
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
        table = np.array(self._owned, dtype=np.int64).reshape(-1, 3)
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
        channel: Channel,
    ) -> None:
        self._name = name
        self._records = len(x)
        self._settings = settings
        self._shuffle = shuffle_rng
        self._key = key
        self._channel = channel
        self._format = PairFormat.of(len(x), settings.boost.max_depth)
        self.columns = Columns(x, settings.boost, column_rng)
        self._trees = 0

    def candidates(self, step: int) -> Floats:
        """Draw the columns of a tree and say how many candidate splits they give."""
        if self._trees:
            self.columns.begin_tree()
        self._trees += 1
        count = [len(self.columns.given.cell)]
        return self._channel.send_plain(step, self._name, ACTIVE, "candidates", count)

    def begin_tree(self, rows: Floats, gradients: Cipher) -> None:
        """Take the encrypted derivatives of the records in ``rows``."""
        self._rows = _whole(rows, self._records - 1, "rows", least=0)
        self._gradients = _read(self._key, gradients)
        if self._gradients.count != len(self._rows):
            raise WireError(
                f"expected the derivatives of {len(self._rows)} records, "
                f"got {self._gradients.count}"
            )
        self._above: list[Encrypted] = []
        self._order: list[Ints] = []
        self._slot = np.zeros(self._records, dtype=np.int64)

    def send_sums(self, step: int, slots: Floats) -> Cipher | None:
        """Send the encrypted sums of the level's nodes, one after another, candidates shuffled.

        Without candidates, as announced for this tree, there is nothing to send.
        """
        if slots.shape != (self._records,):
            raise WireError(f"expected the nodes of {self._records} records, got {slots.shape}")
        before, self._slot = self._slot, _whole(slots, self._records - 1, "nodes")
        given = self.columns.given
        if not len(given.cell):
            return None
        self._above = self._level_sums(given, before)
        self._order = [self._shuffle.permutation(len(given.cell)) for _ in self._above]
        nodes = [
            self._packed(self._key.take(node, order))
            for node, order in zip(self._above, self._order, strict=True)
        ]
        data = b"".join(self._key.outgoing(node) for node in nodes)
        cipher = Cipher(self._key.scheme, (len(nodes), nodes[0].count), data)
        return self._channel.send_cipher(step, self._name, ACTIVE, "sums", cipher)

    def _level_sums(self, given: Candidates, before: Ints) -> list[Encrypted]:
        """Add up the ciphertexts of every node, or subtract where that is cheaper.

        Of two siblings the one with more records is the parent less the other. ``before``
        says in which node of the level above each record was.
        """
        here = self._slot[self._rows]
        count = int(self._slot.max()) + 1
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

    def split(self, step: int, chosen: Floats) -> Floats:
        """Own the splits marked for this party and answer which records go left.

        ``chosen`` marks the equally good candidates of every node in the shuffled order; the
        first of them in the own order is taken.
        """
        cells = len(self.columns.given.cell)
        if chosen.shape != (int(self._slot.max()) + 1, cells):
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
        return self._channel.send_plain(step, self._name, ACTIVE, "left", left)

    def _packed(self, sums: Encrypted) -> Encrypted:
        return self._key.pack(sums, self._format.width) if self._settings.pack else sums


class ActiveParty:
    """Columns, labels and the secret key. It grows the trees and keeps their shape."""

    def __init__(
        self,
        x: Floats,
        labels: Ints,
        settings: SecureBoostSettings,
        streams: Streams,
        keys: tuple[PublicKey, SecretKey],
        channel: Channel,
        passives: Sequence[str],
    ) -> None:
        self._labels = labels
        self._settings = settings.boost
        self._pack = settings.pack
        self._rows_rng = streams.rng("rows")
        self._public, self._secret = keys
        self._channel = channel
        self._passives = tuple(passives)
        self._format = PairFormat.of(len(x), settings.boost.max_depth)
        self.outputs = outputs_of(check_labels(labels, len(x)))
        self.columns = Columns(x, settings.boost, streams.rng("columns/0"))
        self.margins = np.zeros((len(x), self.outputs))
        self.trees: list[SharedTree] = []
        self._splits = [0] * (1 + len(self._passives))

    def begin_round(self) -> None:
        """Compute the derivatives of every output at the present margins."""
        self._g_all, self._h_all = derivatives(self.margins, self._labels)

    def begin_tree(self, step: int, output: int) -> list[tuple[Floats, Cipher]]:
        """Draw the records, encrypt their derivatives once, and send them to every party."""
        if self.trees:
            self.columns.begin_tree()
        rows = drawn(len(self._labels), self._settings.subsample, self._rows_rng)
        self._rows, self._output = rows, output
        self._g, self._h = self._g_all[rows, output], self._h_all[rows, output]
        self.growth = Growth(len(self._labels))
        self._owner: list[Ints] = []
        self._split: list[Ints] = []
        pairs = paired(self._g, self._h, self._format.shift)
        data = self._public.outgoing_new(pairs, self._format.bits)
        cipher = Cipher(self._public.scheme, (len(rows),), data)
        send = self._channel
        return [
            (
                send.send_plain(step, ACTIVE, name, "rows", rows),
                send.send_cipher(step, ACTIVE, name, "gradients", cipher),
            )
            for name in self._passives
        ]

    def send_nodes(self, step: int) -> list[Floats]:
        """Tell every party which record is in which node of the level."""
        slot = self.growth.waiting()
        return [
            self._channel.send_plain(step, ACTIVE, name, "nodes", slot) for name in self._passives
        ]

    def choose(
        self, step: int, sums: Sequence[Cipher | None], counts: Sequence[int]
    ) -> list[Floats]:
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
        return [
            self._channel.send_plain(step, ACTIVE, name, "choice", mark)
            for name, mark in zip(self._passives, tied[1:], strict=True)
        ]

    def _opened(self, sums: Cipher | None, count: int, slots: int) -> tuple[Ints, Ints]:
        """Decrypt one party's sums: a row for every node."""
        if not count or sums is None:
            return np.zeros((slots, 0), dtype=np.int64), np.zeros((slots, 0), dtype=np.int64)
        width = self._format.width
        each = self._public.packs(count, width) if self._pack else count
        if sums.shape != (slots, each) or len(sums.data) % slots:
            raise WireError(
                f"expected {each} ciphertexts for each of {slots} nodes, got {sums.shape}"
            )
        size = len(sums.data) // slots
        pairs = []
        for first in range(0, len(sums.data), size):
            node = Cipher(sums.scheme, (each,), sums.data[first : first + size])
            opened = self._secret.decrypt_integers(_read(self._public, node))
            pairs.append(unpacked(opened, count, width) if self._pack else opened)
        return unpaired(np.stack(pairs), self._format.shift)

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
        party = np.maximum(owner[slot], 0)
        self.growth.descend(owner >= 0, left[party, np.arange(len(slot))])

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


@dataclass(frozen=True)
class Run:
    """A finished training, for the experimenter.

    The active party holds ``trees`` and ``owned[0]``, passive party p holds ``owned[p]``, and
    each what ``transcript`` says it received. ``model`` is what no party holds: all of it.
    """

    trees: tuple[SharedTree, ...]
    owned: tuple[OwnedSplits, ...]
    outputs: int
    margins: Floats
    model: BoostedTrees
    transcript: Transcript


def run(
    x_active: Floats,
    x_passives: Sequence[Floats],
    labels: Ints,
    settings: SecureBoostSettings,
    streams: Streams,
    channel: Channel,
    keys: tuple[PublicKey, SecretKey] | None = None,
) -> Run:
    """Train over ``channel``. ``keys`` reuses a pair (tests, timings); else one is made.

    A missing value is NaN. Labels are 0, 1, ...; more than two classes give a softmax model.
    """
    check_tables(x_active, x_passives)
    keys = keys or generate_keys(
        settings.backend, settings.key_bits, insecure_test_key=settings.insecure_test_key
    )
    names = [passive_name(number) for number in range(1, len(x_passives) + 1)]
    active = ActiveParty(x_active, labels, settings, streams, keys, channel, names)
    passives = [
        PassiveParty(
            name,
            x,
            settings,
            streams.rng(f"columns/{number}"),
            streams.rng(f"{name}/shuffle"),
            keys[0],
            channel,
        )
        for number, (name, x) in enumerate(zip(names, x_passives, strict=True), start=1)
    ]
    step = 0
    for _ in range(settings.boost.rounds):
        active.begin_round()
        for output in range(active.outputs):
            step = _grow(step, output, active, passives, settings.boost.max_depth)
    owned = (active.columns.owned(), *(party.columns.owned() for party in passives))
    widths = [x_active.shape[1], *(x.shape[1] for x in x_passives)]
    trees = tuple(active.trees)
    model = joined(trees, owned, widths, active.outputs)
    return Run(trees, owned, active.outputs, sealed(active.margins), model, channel.transcript)


def _grow(
    step: int, output: int, active: ActiveParty, passives: Sequence[PassiveParty], depth: int
) -> int:
    """Grow one tree; return the next step. Each level is one step."""
    counts = [int(party.candidates(step)[0]) for party in passives]
    starts = active.begin_tree(step, output)
    for party, (rows, gradients) in zip(passives, starts, strict=True):
        party.begin_tree(rows, gradients)
    for _ in range(depth):
        nodes = active.send_nodes(step)
        sums = [party.send_sums(step, slot) for party, slot in zip(passives, nodes, strict=True)]
        choices = active.choose(step, sums, counts)
        active.divide(
            [party.split(step, mark) for party, mark in zip(passives, choices, strict=True)]
        )
        step += 1
        if not active.growth.slots:
            break
    active.end_tree()
    return step


class SplitOwner:
    """A passive party after training: it routes records of its table at the nodes it owns."""

    def __init__(self, name: str, x: Floats, owned: OwnedSplits, channel: Channel) -> None:
        self._name = name
        self._x = sealed(x)
        self._owned = owned
        self._channel = channel

    def answer(self, step: int, asked: Floats) -> Floats:
        """Answer pairs (record, split) with 1 for left and 0 for right."""
        if asked.ndim != 2 or asked.shape[1] != 2:
            raise WireError(f"expected pairs of record and split, got shape {asked.shape}")
        record = _whole(asked[:, 0], len(self._x) - 1, "records", least=0)
        split = _whole(asked[:, 1], len(self._owned.column) - 1, "splits", least=0)
        left = self._owned.left(self._x, record, split)
        return self._channel.send_plain(step, self._name, ACTIVE, "left", left)


def predict(
    trees: Sequence[SharedTree],
    outputs: int,
    own: OwnedSplits,
    x_active: Floats,
    owners: Sequence[SplitOwner],
    channel: Channel,
) -> Floats:
    """Return the margins of new records: walk all trees at once, one level a step.

    The active party asks an owner only about records that have reached a node of its; the
    answers tell it each record's path, and nothing about columns or thresholds.
    """
    records = len(x_active)
    node = np.zeros((records, len(trees)), dtype=np.int64)
    step = 0
    while True:
        owner, split, child = (
            np.stack([part[node[:, t]] for t, part in enumerate(parts)], axis=1)
            for parts in (
                [tree.owner for tree in trees],
                [tree.split for tree in trees],
                [tree.child for tree in trees],
            )
        )
        if (owner < 0).all():
            break
        left = np.zeros(node.shape, dtype=np.bool_)
        at = owner == 0
        left[at] = own.left(x_active, np.nonzero(at)[0], split[at])
        for number, party in enumerate(owners, start=1):
            at = owner == number
            if at.any():
                asked = np.stack([np.nonzero(at)[0], split[at]], axis=1)
                name = passive_name(number)
                told = channel.send_plain(step, ACTIVE, name, "ask", asked)
                left[at] = party.answer(step, told) > 0.0
        node = np.where(owner >= 0, child + ~left, node)
        step += 1
    margins = np.zeros((records, outputs))
    for t, tree in enumerate(trees):
        margins[:, t % outputs] += tree.weight[node[:, t]]
    return margins


def predict_scores(
    run: Run, x_active: Floats, x_passives: Sequence[Floats], channel: Channel
) -> Floats:
    """Score new records with the parties of a finished run, one column per class."""
    check_tables(x_active, x_passives)
    owners = [
        SplitOwner(passive_name(number), x, owned, channel)
        for number, (x, owned) in enumerate(zip(x_passives, run.owned[1:], strict=True), start=1)
    ]
    return link(predict(run.trees, run.outputs, run.owned[0], x_active, owners, channel))


def check_tables(x_active: Floats, x_passives: Sequence[Floats]) -> None:
    """Refuse tables whose records do not match."""
    if not x_passives:
        raise TableError("SecureBoost needs at least one passive party")
    tables = [x_active, *x_passives]
    if any(x.ndim != 2 for x in tables) or len({len(x) for x in tables}) != 1 or not len(x_active):
        raise TableError(
            "the parties must hold tables of the same records, got shapes "
            + ", ".join(str(x.shape) for x in tables)
        )


def _read(key: PublicKey, cipher: Cipher) -> Encrypted:
    """Read a vector of ciphertexts under ``key``."""
    if cipher.scheme != key.scheme or len(cipher.shape) != 1:
        raise WireError(f"expected a vector under {key.scheme}, got {cipher.scheme} {cipher.shape}")
    return key.incoming(cipher.data, cipher.shape[0])


def _whole(values: Floats, most: int, what: str, least: int = -1) -> Ints:
    """Read whole numbers from ``least`` to ``most``; anything else is refused by name."""
    numbers: Ints = values.astype(np.int64)
    if values.ndim != 1 or (numbers != values).any():
        raise WireError(f"{what} must be a list of whole numbers")
    if numbers.size and (int(numbers.min()) < least or int(numbers.max()) > most):
        raise WireError(f"{what} must lie in {least}..{most}")
    return numbers
