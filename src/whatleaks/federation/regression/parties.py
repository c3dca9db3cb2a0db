"""The parties of a vertical regression, each as a programme of its own (Li et al., Fig 2).

A programme yields what it waits for and hands its messages to a post. Linear and logistic
regression differ by their ``Link`` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.crypto.additive import Encrypted, PublicKey, SecretKey
from whatleaks.crypto.fixed_point import BigInts
from whatleaks.crypto.masking import HIDING_BITS, digit_count, from_digits, mask, to_digits
from whatleaks.errors import CryptoError, WireError
from whatleaks.federation.ciphers import (
    PARTIES_BITS,
    read_cipher,
    read_output,
    read_sum,
    send_encrypted,
    send_new,
)
from whatleaks.federation.regression.settings import (
    LINEAR,
    Link,
    SecureLinearSettings,
    draw_weights,
)
from whatleaks.models.adam import Adam
from whatleaks.models.regression_history import OwnSteps, RegressionHistory
from whatleaks.wire.expected import Expected, Post, Programme, read_plain
from whatleaks.wire.mailbox import LARGEST
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import ACTIVE, ARBITER, PASSIVE

_RECORDS_BITS = 31  # of a batch, added up in a gradient


def gradient_width(key: PublicKey, masked: bool) -> int:
    """Return the bits that every gradient entry gets in a packed ciphertext.

    A column's value times a residual, and 40 bits for the number of records and parties that
    are added up; a mask takes its own on top. It follows from the plan alone.
    """
    summed = PARTIES_BITS + _RECORDS_BITS + 1  # one for the weights' part
    return 2 * key.numbers.bits + summed + (HIDING_BITS + 2 if masked else 0)


def made_up_records(columns: int) -> Floats:
    """Return as many independent records as there are columns: what the active party asks about."""
    return sealed(0.5 * (np.ones((columns, columns)) + np.eye(columns)))


class Party:
    """What the data parties do: hold columns and weights, form a gradient, take a step."""

    def __init__(
        self,
        name: str,
        x: Floats,
        settings: SecureLinearSettings,
        rng: np.random.Generator,
        key: PublicKey,
        post: Post,
        link: Link = LINEAR,
    ) -> None:
        self._name = name
        self._x = sealed(x)
        self._settings = settings
        self._key = key
        self._post = post
        self._link = link
        self.weights = draw_weights(x.shape[1], settings, rng)
        self.epoch_weights: list[Floats] = []  # at the start of every epoch
        self._before: list[Floats] = []
        self._gradients: list[Floats] = []

    def _steps(self) -> Iterator[tuple[int, Ints]]:
        """Yield the number and rows of every step."""
        records = len(self._x)
        for epoch in range(self._settings.epochs):
            self.epoch_weights.append(self.weights)
            first = epoch * self._settings.batch_count(records)
            yield from enumerate(self._settings.batches(records, epoch), first)

    def _output(self, rows: Ints) -> Floats:
        """Return this party's part of slope z."""
        part: Floats = self._link.slope * (self._x[rows] @ self.weights)
        return part

    def _descend(self, step: int, rows: Ints, d: Encrypted) -> Programme[None]:
        """Send [[g]] = X^T [[d]] + alpha W to the arbiter and step along what comes back."""
        product = self._key.matmul_plain(self._x[rows].T, d)
        gradient = self._key.add_plain(product, self._settings.alpha * self.weights)
        width = gradient_width(self._key, self._settings.mask_gradients)
        if not self._settings.mask_gradients:
            self._send(step, ARBITER, "encrypted-gradient", self._key.pack(gradient, width))
            payload = yield Expected(step, ARBITER, "gradient", (gradient.count,), True)
            self.take_step(read_plain(payload))
            return
        masked, drawn = mask(self._key, gradient)
        self._send(step, ARBITER, "encrypted-gradient", self._key.pack(masked, width))
        shape = (gradient.count, digit_count(width))
        payload = yield Expected(step, ARBITER, "masked-gradient", shape, True)
        integers = from_digits(read_plain(payload)) - drawn
        self.take_step(sealed(self._key.numbers.decode(integers, gradient.fraction)))

    def take_step(self, gradient: Floats) -> None:
        """Descend along the decrypted gradient; the weights before and the gradient are kept."""
        self._before.append(self.weights)
        self._gradients.append(gradient)
        self.weights = sealed(self.weights - self._settings.learning_rate * gradient)

    def own_steps(self) -> OwnSteps:
        """Return what this party holds after training, without any message."""
        settings = self._settings
        return OwnSteps(
            self._x,
            sealed(np.stack(self._before)),
            sealed(np.stack(self._gradients)),
            settings.all_batches(len(self._x)),
            settings.learning_rate,
            settings.alpha,
            self._link.slope,
            self._link.offset,
            settings.optimiser,
        )

    def _send(self, step: int, receiver: str, kind: str, encrypted: Encrypted) -> None:
        way, to_owner = (self._name, receiver), receiver == ARBITER
        send_encrypted(self._post, self._key, step, way, kind, encrypted, to_owner)


class PassiveParty(Party):
    """A: columns only. It answers queries about records that others make up."""

    def train(self) -> Programme[None]:
        """Send [[slope z_A]] of every batch, receive [[d]], step along the own gradient."""
        for step, rows in self._steps():
            way = (self._name, ACTIVE)
            send_new(self._post, self._key, step, way, "intermediate", self._output(rows))
            payload = yield Expected(step, ACTIVE, "residuals", (len(rows),), False)
            yield from self._descend(step, rows, read_sum(self._key, payload))

    def answer_queries(self, step: int) -> Programme[Floats]:
        """Wait for as many made-up records as there are columns, and answer."""
        columns = self._x.shape[1]
        payload = yield Expected(step, ACTIVE, "query", (columns, columns), True)
        return self.answer(step, read_plain(payload))

    def answer(self, step: int, records: Floats) -> Floats:
        """Answer a query with plain z: the prediction phase is not encrypted (section 4.1)."""
        if records.ndim != 2 or records.shape[1] != self._x.shape[1]:
            raise WireError(f"a query must have {self._x.shape[1]} columns, got {records.shape}")
        answers = sealed(records @ self.weights)
        self._post.send(step, self._name, ACTIVE, "intermediate", Plain(answers))
        return answers


class ActiveParty(Party):
    """B: columns (fake ones included) and targets. It remembers its own training."""

    def __init__(
        self,
        x: Floats,
        y: Floats,
        settings: SecureLinearSettings,
        rng: np.random.Generator,
        key: PublicKey,
        post: Post,
        link: Link = LINEAR,
        passives: Sequence[str] = (PASSIVE,),
    ) -> None:
        super().__init__(ACTIVE, x, settings, rng, key, post, link)
        self._y = sealed(y)
        self._passives = tuple(passives)

    def train(self) -> Programme[None]:
        """Form [[d]] = slope (sum of [[z_A]] + z_B) + offset - y, send it back, step."""
        for step, rows in self._steps():
            payload = yield Expected(step, self._passives[0], "intermediate", (len(rows),), False)
            total = read_output(self._key, payload)
            for passive in self._passives[1:]:
                payload = yield Expected(step, passive, "intermediate", (len(rows),), False)
                total = self._key.add(total, read_output(self._key, payload))
            mine = self._output(rows) + self._link.offset - self._y[rows]
            d = self._key.add_plain(total, mine)
            for passive in self._passives:
                self._send(step, passive, "residuals", d)
            yield from self._descend(step, rows, d)

    def ask_queries(
        self, step: int, columns: Mapping[str, int]
    ) -> Programme[dict[str, tuple[Floats, Floats]]]:
        """Ask every passive party about one made-up record per column; they are independent."""
        asked = {}
        for passive in self._passives:
            n = columns[passive]
            if 8 * n * n > LARGEST:
                raise WireError(f"{passive!r} announces {n} columns: too many to ask about")
            records = made_up_records(n)
            self._post.send(step, ACTIVE, passive, "query", Plain(records))
            payload = yield Expected(step, passive, "intermediate", (n,), True)
            asked[passive] = (records, read_plain(payload))
        return asked

    def history(self) -> RegressionHistory:
        """Return its own steps with the targets."""
        held = self.own_steps()
        return RegressionHistory(
            **{f.name: getattr(held, f.name) for f in fields(held)}, targets=self._y
        )


class Arbiter:
    """Holds the secret key; decrypts a gradient and returns it to the party that sent it.

    It returns as many numbers as the party has columns, at the scale of a gradient and within
    its range, or nothing. It cannot see which combination of the residuals they are: that a
    party asks about its own gradient is assumed (semi-honest), not enforced.
    """

    def __init__(
        self, public: PublicKey, secret: SecretKey, settings: SecureLinearSettings, post: Post
    ) -> None:
        self._public = public
        self._secret = secret
        self._settings = settings
        self._post = post
        self._adam: dict[str, Adam] = {}

    def serve(self, records: int, columns: Mapping[str, int]) -> Programme[None]:
        """Decrypt every party's gradient of every step; with masks it decrypts only noise."""
        width = gradient_width(self._public, self._settings.mask_gradients)
        fraction = 2 * self._public.numbers.fraction  # of a value times a residual
        for step in range(self._settings.epochs * self._settings.batch_count(records)):
            for party, count in columns.items():
                shape = (self._public.packs(count, width),)
                payload = yield Expected(step, party, "encrypted-gradient", shape, False)
                bits = self._public.packed_bits(count, width)
                packed = read_cipher(self._public, payload, fraction, bits)
                integers = self._secret.decrypt_packed(packed, count, width)
                self._return(step, party, integers, fraction, width)

    def _return(self, step: int, party: str, integers: BigInts, fraction: int, width: int) -> None:
        if self._settings.mask_gradients:
            if (integers < 0).any():
                raise CryptoError(f"{party!r} sent a masked gradient that no mask can give")
            digits = to_digits(integers, digit_count(width))
            self._post.send(step, ARBITER, party, "masked-gradient", Plain(digits))
        else:
            gradient = self._public.numbers.decode(integers, fraction)
            if self._settings.optimiser == "adam":
                state = self._adam.setdefault(party, Adam(np.zeros(len(gradient)), 1.0))
                gradient = state.direction(gradient)
            self._post.send(step, ARBITER, party, "gradient", Plain(sealed(gradient)))
