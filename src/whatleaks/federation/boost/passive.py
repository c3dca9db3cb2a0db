"""The passive party of SecureBoost as a programme: it sums what it cannot read."""

from __future__ import annotations

import secrets

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.crypto.additive import Encrypted, PublicKey
from whatleaks.errors import WireError
from whatleaks.federation.boost.checks import check_nodes, whole
from whatleaks.federation.boost.columns import Columns
from whatleaks.federation.boost.settings import PairFormat, SecureBoostSettings
from whatleaks.federation.ciphers import read_cipher
from whatleaks.models.boosted_trees import drawn_count
from whatleaks.models.candidate_splits import Candidates
from whatleaks.wire.expected import Expected, Post, Programme, read_plain
from whatleaks.wire.message import Cipher, Payload, Plain
from whatleaks.wire.parties import ACTIVE


def _shuffled(count: int) -> Ints:
    """Return an order from the system's randomness: never the same twice, whatever the seed.

    Sorted by 64 random bits each; two that are equal would only keep their own order.
    """
    keys = np.frombuffer(secrets.token_bytes(8 * count), dtype=np.uint64)
    order: Ints = np.argsort(keys, kind="stable")
    return order


class PassiveParty:
    """Columns only. It sums what it cannot read, and divides records when told to."""

    def __init__(
        self,
        name: str,
        x: Floats,
        settings: SecureBoostSettings,
        column_rng: np.random.Generator,
        key: PublicKey,
        post: Post,
    ) -> None:
        self._name = name
        self._records = len(x)
        self._settings = settings
        self._key = key
        self._post = post
        self._format = PairFormat.of(len(x), settings.boost.max_depth)
        self.columns = Columns(x, settings.boost, column_rng)
        self._drawn = drawn_count(len(x), settings.boost.subsample)
        self._trees = 0

    def train(self, outputs: int) -> Programme[None]:
        """Take part in growing every tree: ``outputs`` of them in a round, one step a level."""
        boost = self._settings.boost
        for tree in range(boost.rounds * outputs):
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

    def send_candidates(self, step: int) -> None:
        """Draw the columns of a tree and say how many candidate splits they give."""
        if self._trees:
            self.columns.begin_tree()
        self._trees += 1
        count = [len(self.columns.given.cell)]
        self._post.send(step, self._name, ACTIVE, "candidates", Plain(sealed(count)))

    def begin_tree(self, rows: Floats, gradients: Payload) -> None:
        """Take the encrypted derivatives of the records in ``rows``."""
        self._rows = whole(rows, self._records - 1, "rows", least=0)
        if len(np.unique(self._rows)) != len(self._rows):
            raise WireError("rows names a record more than once")
        self._gradients = read_cipher(self._key, gradients, 0, self._format.bits)
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
        before, self._slot = self._slot, whole(slots, self._records - 1, "nodes")
        given, count = self.columns.given, self._slots
        if count:
            check_nodes(before, self._slot, count, step % self._settings.boost.max_depth)
        if not len(given.cell) or not count:
            return
        self._above = self._level_sums(given, before)
        self._order = [_shuffled(len(given.cell)) for _ in self._above]
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
        """Pack the sums; random numbers cover whatever lies above their agreed size.

        The active party may have encrypted derivatives that no loss has, to tell records apart
        in their sums. They cannot be seen here, but what they add above the size is drowned.
        """
        packed = self._key.pack(sums, self._format.width) if self._settings.pack else sums
        used = self._format.used(self._key, sums.count, self._settings.pack)
        return self._key.drown(packed, used)
