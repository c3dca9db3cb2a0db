"""Chosen gradients: an active party that has histograms spell out who is in which bin.

Weng et al. (arXiv 2011.09290) call it reverse sum. Instead of derivatives the active party
encrypts a power of two for every record, each its own. The sum on the left of a candidate split,
decrypted, then names the records there, bit by bit. A sum has room for a fixed number of bits, so
records are told apart by as many. Not in that paper: the active party also says which record is in
which node, and nobody can check a split that it calls its own. At the last level of a tree of depth
d it has 2**(d-1) nodes of its choice, each with sums of its own, so as many times the records are
read from one tree. Its own splits are all that it claims, so the tree looks like one of its own.

Against the spot check (``spot_check``) it chooses derivatives that the check lets pass: those of
the loss plus multiples of the modulus. Few of these fit below the size that sums are cut to. Or it
waits for a round that nobody checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whatleaks.arrays import Bools, Ints, sealed
from whatleaks.crypto.fixed_point import BigInts
from whatleaks.crypto.packing import surfaced, unpacked
from whatleaks.errors import UsageError
from whatleaks.federation.boost.active import ActiveParty
from whatleaks.federation.boost.checks import whole
from whatleaks.federation.boost.settings import MOST_CANDIDATES, PairFormat
from whatleaks.federation.boost.spot_check import modulus_bits
from whatleaks.federation.ciphers import read_cipher
from whatleaks.models.boosted_trees import FRACTION
from whatleaks.wire.expected import Expected, Programme, read_plain
from whatleaks.wire.message import Cipher, Plain
from whatleaks.wire.parties import ACTIVE


@dataclass(frozen=True)
class Spelled:
    """What one party's candidates of one node say: which of ``records`` lie left (rows: candidates)."""

    party: str
    records: Ints
    left: Bools


@dataclass(frozen=True)
class Alphabet:
    """Which numbers records get: ``base`` for all, and one of the powers ``first``..``last`` - 1."""

    base: int
    first: int
    last: int

    @property
    def letters(self) -> int:
        """How many records of a node are told apart."""
        return self.last - self.first

    @staticmethod
    def of(form: PairFormat, records: int, unnoticed: bool) -> Alphabet:
        """Use all bits of a sum; ``unnoticed``: only what a spot check lets pass."""
        if not unnoticed:
            return Alphabet(0, 0, form.width)
        # A record that the loss gives g = 1/2 and h = 1/4; the sum of all must stay below the powers.
        base = (1 << FRACTION - 1 << form.shift) + (1 << FRACTION - 2)
        first = max(modulus_bits(form.shift), (records * base).bit_length())
        return Alphabet(base, first, form.width)


class ChosenGradients(ActiveParty):
    """Plays the active party for one round of trees and reads everybody's bins."""

    def spell(self, unnoticed: bool = False, waits: bool = False) -> Programme[list[Spelled]]:
        """Grow one round of made-up splits; return what the sums of the trees' last levels spell.

        ``waits``: after the honest rounds of its settings, which a spot check has seen by then.
        """
        if waits:
            yield from self.train()
        found: list[Spelled] = []
        letters = Alphabet.of(self._format, len(self._labels), unnoticed)
        if self._nodes > len(self._labels) or letters.letters < 1:
            raise UsageError(
                f"{len(self._labels)} records do not fill {self._nodes} nodes, or no bit is free"
            )
        for tree in range(self.outputs):
            first_step = (len(self.trees) + tree) * self._settings.max_depth
            found += yield from self._tree(first_step, letters, tree * letters.letters, not waits)
        return found

    @property
    def _nodes(self) -> int:
        """How many nodes the last level of a tree has."""
        return 1 << self._settings.max_depth - 1

    def _tree(
        self, step: int, letters: Alphabet, skipped: int, checked: bool
    ) -> Programme[list[Spelled]]:
        """Grow one tree; of every node it spells the records after the first ``skipped``."""
        records, depth, nodes = len(self._labels), self._settings.max_depth, self._nodes
        counts = []
        for name in self._passives:
            told = read_plain((yield Expected(step, name, "candidates", (1,), True)))
            counts.append(int(whole(told, MOST_CANDIDATES, "candidates", least=0)[0]))
        place = np.arange(records) // nodes - skipped  # of a record among those of its node
        numbers = np.full(records, letters.base, dtype=object)
        spelled = (place >= 0) & (place < letters.letters)
        numbers[spelled] += np.array(
            [1 << letters.first + int(k) for k in place[spelled]], dtype=object
        )
        self._send(step, numbers)
        if checked:
            yield from self.answer_checks(step)
        found = []
        for level in range(depth):
            slot = np.arange(records) % nodes >> depth - 1 - level
            for name in self._passives:
                self._post.send(step + level, ACTIVE, name, "nodes", Plain(sealed(slot)))
            for name, count in zip(self._passives, counts, strict=True):
                if count:
                    shape = (1 << level, self._each(count))
                    sums = yield Expected(step + level, name, "sums", shape, False)
                    if level == depth - 1:
                        here = [np.flatnonzero(spelled & (slot == node)) for node in range(nodes)]
                        found += self._read(name, sums, count, here, letters)
            for name, count in zip(self._passives, counts, strict=True):
                nothing = Plain(sealed(np.zeros((1 << level, count))))
                self._post.send(step + level, ACTIVE, name, "choice", nothing)
            for name in self._passives:
                yield Expected(step + level, name, "left", (records,), True)
        return found

    def _send(self, step: int, numbers: BigInts) -> None:
        """Encrypt what no loss gives, announced as if it did."""
        made = self._public.encrypt_integers(numbers, self._public.largest_bits - 2)
        data = self._public.outgoing(replace(made, bits=self._format.bits))
        cipher = Cipher(self._public.scheme, (len(numbers),), data)
        for name in self._passives:
            self._post.send(step, ACTIVE, name, "rows", Plain(sealed(np.arange(len(numbers)))))
            self._post.send(step, ACTIVE, name, "gradients", cipher)

    def _read(
        self, name: str, sums: object, count: int, spelled: Sequence[Ints], letters: Alphabet
    ) -> list[Spelled]:
        assert isinstance(sums, Cipher)
        width, each = self._format.width, self._each(count)
        size = len(sums.data) // len(spelled)
        used = self._format.used(self._public, count, self._pack)
        found = []
        for node, here in enumerate(spelled):
            cipher = Cipher(sums.scheme, (each,), sums.data[node * size : (node + 1) * size])
            read = read_cipher(self._public, cipher, 0, self._public.largest_bits)
            numbers = surfaced(self._secret.decrypt_integers(read), used)
            numbers = unpacked(numbers, count, width) if self._pack else numbers
            bits = [[int(n) >> letters.first + k & 1 for k in range(len(here))] for n in numbers]
            if len(here):
                found.append(Spelled(name, here, np.array(bits, dtype=np.bool_)))
        return found
