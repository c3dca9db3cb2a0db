"""Chosen gradients: an active party that has histograms spell out who is in which bin.

Weng et al. (arXiv 2011.09290) call it reverse sum. Instead of derivatives the active party
encrypts a power of two for every record, each its own. The sum on the left of a candidate split,
decrypted, then names the records there, bit by bit. A sum has room for a fixed number of bits, so
records are told apart by as many. Not in that paper: the active party also says which record is in
which node, and nobody can check a split that it calls its own. At the last level of a tree of depth
d it has 2**(d-1) nodes of its choice, each with sums of its own, so as many times the records are
read from one tree. Its own splits are all that it claims, so the tree looks like one of its own.

Against the spot check (``spot_check``) it chooses derivatives that the check lets pass: those of
the loss plus multiples of the modulus. Few of these fit below the size that sums are cut to.
"""

from __future__ import annotations

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
    """Plays the active party for one tree and reads everybody's bins."""

    def spell(self, unnoticed: bool = False) -> Programme[list[Spelled]]:
        """Grow one tree of made-up splits; return what the sums of its last level spell."""
        records, depth = len(self._labels), self._settings.max_depth
        letters = Alphabet.of(self._format, records, unnoticed)
        nodes = 1 << depth - 1
        if nodes > records or letters.letters < 1:
            raise UsageError(f"{records} records do not fill {nodes} nodes, or no bit is free")
        counts = []
        for name in self._passives:
            told = read_plain((yield Expected(0, name, "candidates", (1,), True)))
            counts.append(int(whole(told, MOST_CANDIDATES, "candidates", least=0)[0]))
        place = np.arange(records) // nodes  # of a record in its node
        numbers = np.full(records, letters.base, dtype=object)
        spelled = place < letters.letters
        numbers[spelled] += np.array(
            [1 << letters.first + int(k) for k in place[spelled]], dtype=object
        )
        self._send(numbers)
        yield from self.answer_checks(0)
        found = []
        for level in range(depth):
            slot = np.arange(records) % nodes >> depth - 1 - level
            for name in self._passives:
                self._post.send(level, ACTIVE, name, "nodes", Plain(sealed(slot)))
            for name, count in zip(self._passives, counts, strict=True):
                if count:
                    shape = (1 << level, self._each(count))
                    sums = yield Expected(level, name, "sums", shape, False)
                    if level == depth - 1:
                        found += self._read(name, sums, count, slot, letters)
            for name, count in zip(self._passives, counts, strict=True):
                nothing = Plain(sealed(np.zeros((1 << level, count))))
                self._post.send(level, ACTIVE, name, "choice", nothing)
            for name in self._passives:
                yield Expected(level, name, "left", (records,), True)
        return found

    def _send(self, numbers: BigInts) -> None:
        """Encrypt what no loss gives, announced as if it did."""
        made = self._public.encrypt_integers(numbers, self._public.largest_bits - 2)
        data = self._public.outgoing(replace(made, bits=self._format.bits))
        cipher = Cipher(self._public.scheme, (len(numbers),), data)
        for name in self._passives:
            self._post.send(0, ACTIVE, name, "rows", Plain(sealed(np.arange(len(numbers)))))
            self._post.send(0, ACTIVE, name, "gradients", cipher)

    def _read(
        self, name: str, sums: object, count: int, slot: Ints, letters: Alphabet
    ) -> list[Spelled]:
        assert isinstance(sums, Cipher)
        width, each, slots = self._format.width, self._each(count), int(slot.max()) + 1
        size = len(sums.data) // slots
        used = self._format.used(self._public, count, self._pack)
        found = []
        for node in range(slots):
            cipher = Cipher(sums.scheme, (each,), sums.data[node * size : (node + 1) * size])
            read = read_cipher(self._public, cipher, 0, self._public.largest_bits)
            numbers = surfaced(self._secret.decrypt_integers(read), used)
            numbers = unpacked(numbers, count, width) if self._pack else numbers
            here = np.flatnonzero(slot == node)[: letters.letters]
            bits = [[int(n) >> letters.first + k & 1 for k in range(len(here))] for n in numbers]
            found.append(Spelled(name, here, np.array(bits, dtype=np.bool_)))
        return found
