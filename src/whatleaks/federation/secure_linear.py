"""Encrypted linear regression of two parties with an arbiter (Li et al., section 2.1, Fig 2).

The passive party A sends [[z_A]] to the active party B, which holds the targets y. B forms
[[d]] = [[z_A]] + z_B - y and sends it back. Each party forms its encrypted gradient
X^T [[d]] + alpha W and sends it to the arbiter, who holds the secret key, decrypts, and
returns to each its own gradient. After training B may ask for predictions: A answers with
plain z (section 4.1).

The loss is L = (||d||^2 + alpha ||W_A||^2 + alpha ||W_B||^2) / 2, a sum over the batch as
in the paper. There is no bias: a party that wants one holds a constant column.

Error of the fixed point: with eps = half a step (1.8e-15 by default) one encrypted gradient
differs from the plain one by at most sum_i(2 eps |x_i| + eps |d_i| + 2 eps^2) + eps per
column, besides the rounding of doubles; ``gradient_error`` computes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.crypto.additive import Encrypted, PublicKey, SecretKey
from whatleaks.crypto.fixed_point import FixedPoint
from whatleaks.crypto.keys import BACKENDS, KEY_BITS, generate_keys
from whatleaks.errors import SpecError, TableError, WireError, nearest
from whatleaks.models.regression_history import RegressionHistory
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Cipher
from whatleaks.wire.transcript import Transcript

ACTIVE, PASSIVE, ARBITER = "active", "passive", "arbiter"


@dataclass(frozen=True)
class SecureLinearSettings:
    """How to train. ``batch_size`` None takes all records as one batch.

    Batches are consecutive rows, the same in every epoch. ``fake_columns`` random columns
    are added by the active party to its own (section 4.1), uniform in +-``fake_spread``.
    ``queries`` opens the prediction phase, in which the active party asks about as many
    made-up records as the passive party has columns.
    """

    epochs: int = 20
    batch_size: int | None = None
    learning_rate: float = 0.01
    alpha: float = 0.01
    initial_spread: float = 0.1
    fake_columns: int = 0
    fake_spread: float = 0.1
    queries: bool = True
    backend: str = "heu-paillier"
    key_bits: int = 2048
    insecure_test_key: bool = False

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        if self.epochs < 1:
            raise SpecError(f"epochs is {self.epochs}: train for at least 1")
        if self.batch_size is not None and self.batch_size < 1:
            raise SpecError(f"batch_size is {self.batch_size}: use at least 1, or None for all")
        if not self.learning_rate > 0.0:
            raise SpecError(f"learning_rate is {self.learning_rate}: use a positive number")
        if self.alpha < 0.0 or self.initial_spread < 0.0 or self.fake_spread < 0.0:
            raise SpecError("alpha, initial_spread and fake_spread must not be negative")
        if self.fake_columns < 0:
            raise SpecError(f"fake_columns is {self.fake_columns}: use 0 or more")
        if self.backend not in BACKENDS:
            raise SpecError(
                f"unknown backend {self.backend!r}: use one of {', '.join(BACKENDS)}."
                f"{nearest(self.backend, BACKENDS)}"
            )
        if self.key_bits not in KEY_BITS and not self.insecure_test_key:
            raise SpecError(
                f"key_bits is {self.key_bits}: use 2048 or 3072 (tests may say insecure_test_key)"
            )

    def batches(self, records: int) -> tuple[Ints, ...]:
        """Return the rows of every batch of an epoch."""
        size = records if self.batch_size is None else self.batch_size
        return tuple(
            sealed_ints(np.arange(first, min(first + size, records)))
            for first in range(0, records, size)
        )


def draw_weights(columns: int, settings: SecureLinearSettings, rng: np.random.Generator) -> Floats:
    """Draw a party's first weights from its own stream."""
    return sealed(rng.normal(0.0, settings.initial_spread, columns))


def with_fakes(x: Floats, settings: SecureLinearSettings, rng: np.random.Generator) -> Floats:
    """Append the fake columns: small random values that mean nothing (section 4.1)."""
    spread = settings.fake_spread
    fakes = rng.uniform(-spread, spread, (len(x), settings.fake_columns))
    return sealed(np.concatenate([x, fakes], axis=1))


class Party:
    """What both data parties do: hold columns and weights, form a gradient, take a step."""

    def __init__(
        self,
        name: str,
        x: Floats,
        settings: SecureLinearSettings,
        rng: np.random.Generator,
        key: PublicKey,
        channel: Channel,
    ) -> None:
        self._name = name
        self._x = sealed(x)
        self._settings = settings
        self._key = key
        self._channel = channel
        self.weights = draw_weights(x.shape[1], settings, rng)

    def send_gradient(self, step: int, rows: Ints, d: Encrypted) -> Cipher:
        """Send [[g]] = X^T [[d]] + alpha W to the arbiter."""
        product = self._key.matmul_plain(self._x[rows].T, d)
        gradient = self._key.add_plain(product, self._settings.alpha * self.weights)
        return self._send(step, ARBITER, "encrypted-gradient", gradient)

    def take_step(self, gradient: Floats) -> None:
        """Descend along the decrypted gradient."""
        self.weights = sealed(self.weights - self._settings.learning_rate * gradient)

    def receive(self, cipher: Cipher) -> Encrypted:
        """Read a ciphertext that was sent to this party."""
        return read_cipher(self._key, cipher)

    def _send(self, step: int, receiver: str, kind: str, encrypted: Encrypted) -> Cipher:
        data = self._key.outgoing(encrypted)
        cipher = Cipher(self._key.scheme, (encrypted.count,), data)
        return self._channel.send_cipher(step, self._name, receiver, kind, cipher)


class PassiveParty(Party):
    """A: columns only. It answers queries about records that others make up."""

    def send_intermediate(self, step: int, rows: Ints) -> Cipher:
        """Send [[z_A]] of a batch to the active party."""
        z = self._key.encrypt(self._x[rows] @ self.weights)
        return self._send(step, ACTIVE, "intermediate", z)

    def answer(self, step: int, records: Floats) -> Floats:
        """Answer a query with plain z: the prediction phase is not encrypted (section 4.1)."""
        if records.ndim != 2 or records.shape[1] != self._x.shape[1]:
            raise WireError(f"a query must have {self._x.shape[1]} columns, got {records.shape}")
        return self._channel.send_plain(
            step, PASSIVE, ACTIVE, "intermediate", records @ self.weights
        )


class ActiveParty(Party):
    """B: columns (fake ones included) and targets. It remembers its own training."""

    def __init__(
        self,
        x: Floats,
        y: Floats,
        settings: SecureLinearSettings,
        rng: np.random.Generator,
        key: PublicKey,
        channel: Channel,
    ) -> None:
        super().__init__(ACTIVE, x, settings, rng, key, channel)
        self._y = sealed(y)
        self._before: list[Floats] = []

    def send_residuals(self, step: int, rows: Ints, z_passive: Cipher) -> tuple[Cipher, Encrypted]:
        """Form [[d]] = [[z_A]] + z_B - y; return what the passive party holds, and the own copy."""
        mine = self._x[rows] @ self.weights - self._y[rows]
        d = self._key.add_plain(self.receive(z_passive), mine)
        return self._send(step, PASSIVE, "residuals", d), d

    def take_step(self, gradient: Floats) -> None:
        """Remember the weights, then descend."""
        self._before.append(self.weights)
        super().take_step(gradient)

    def ask(self, step: int, columns: int) -> Floats:
        """Make up one record per passive column and send them; they are independent."""
        records = 0.5 * (np.ones((columns, columns)) + np.eye(columns))
        return self._channel.send_plain(step, ACTIVE, PASSIVE, "query", records)

    def history(self, batches: tuple[Ints, ...]) -> RegressionHistory:
        """Return what this party holds after training, without any message."""
        settings = self._settings
        before = sealed(np.stack(self._before))
        return RegressionHistory(
            self._x, self._y, before, batches, settings.learning_rate, settings.alpha
        )


class Arbiter:
    """Holds the secret key; decrypts a gradient and returns it to the party that sent it."""

    def __init__(self, public: PublicKey, secret: SecretKey, channel: Channel) -> None:
        self._public = public
        self._secret = secret
        self._channel = channel

    def return_gradient(self, step: int, party: str, cipher: Cipher) -> Floats:
        """Decrypt one gradient for its owner."""
        gradient = self._secret.decrypt(read_cipher(self._public, cipher))
        return self._channel.send_plain(step, ARBITER, party, "gradient", gradient)


def read_cipher(key: PublicKey, cipher: Cipher) -> Encrypted:
    """Read a ciphertext message under ``key``."""
    if cipher.scheme != key.scheme or len(cipher.shape) != 1:
        raise WireError(f"expected a vector under {key.scheme}, got {cipher.scheme} {cipher.shape}")
    return key.incoming(cipher.data, cipher.shape[0])


@dataclass(frozen=True)
class Run:
    """A finished training, for the experimenter.

    An adversary's view takes ``active`` (the own memory of the active party), ``queries``
    (records it made up, answers it got) and ``transcript.received_by("active")``. The rest,
    the passive weights and the losses at the start of each epoch and at the end, no party
    sees as a whole.
    """

    active: RegressionHistory
    queries: tuple[Floats, Floats] | None
    transcript: Transcript
    active_weights: Floats
    passive_weights: Floats
    losses: tuple[float, ...]


def check_tables(x_active: Floats, x_passive: Floats, y: Floats) -> None:
    """Refuse tables whose records do not match or whose values are not finite."""
    if x_active.ndim != 2 or x_passive.ndim != 2 or y.ndim != 1:
        raise TableError("both parties' columns must be tables and the target one column")
    if not len(x_active) == len(x_passive) == len(y) or not len(y):
        raise TableError(
            f"the parties must hold the same records: {len(x_active)} active, "
            f"{len(x_passive)} passive, {len(y)} targets"
        )
    if not all(np.isfinite(values).all() for values in (x_active, x_passive, y)):
        raise TableError("a column or the target has a value that is not finite: fill or drop it")


def run(
    x_active: Floats,
    x_passive: Floats,
    y: Floats,
    settings: SecureLinearSettings,
    streams: Streams,
    channel: Channel,
    keys: tuple[PublicKey, SecretKey] | None = None,
) -> Run:
    """Train over ``channel``. ``keys`` reuses a pair (tests, timings); else one is made."""
    check_tables(x_active, x_passive, y)
    public, secret = keys or generate_keys(
        settings.backend, settings.key_bits, insecure_test_key=settings.insecure_test_key
    )
    own = with_fakes(x_active, settings, streams.rng("active/fakes"))
    active = ActiveParty(own, y, settings, streams.rng("active/weights"), public, channel)
    passive = PassiveParty(
        PASSIVE, x_passive, settings, streams.rng("passive/weights"), public, channel
    )
    arbiter = Arbiter(public, secret, channel)
    batches = settings.batches(len(y))
    losses = []
    step = 0
    for _ in range(settings.epochs):
        losses.append(_loss(own, active.weights, x_passive, passive.weights, y, settings.alpha))
        for rows in batches:
            z = passive.send_intermediate(step, rows)
            d_passive, d_active = active.send_residuals(step, rows, z)
            mine = active.send_gradient(step, rows, d_active)
            theirs = passive.send_gradient(step, rows, passive.receive(d_passive))
            active.take_step(arbiter.return_gradient(step, ACTIVE, mine))
            passive.take_step(arbiter.return_gradient(step, PASSIVE, theirs))
            step += 1
    losses.append(_loss(own, active.weights, x_passive, passive.weights, y, settings.alpha))
    queries = None
    if settings.queries:
        records = active.ask(step, x_passive.shape[1])
        queries = (records, passive.answer(step, records))
    return Run(
        active.history(batches),
        queries,
        channel.transcript,
        active.weights,
        passive.weights,
        tuple(losses),
    )


@dataclass(frozen=True)
class PlainRun:
    """The same training without parties or ciphertexts: the reference for tests and utility."""

    active_weights: Floats
    passive_weights: Floats
    outputs: tuple[Floats, ...]
    residuals: tuple[Floats, ...]
    losses: tuple[float, ...]


def plain_linear(
    x_active: Floats, x_passive: Floats, y: Floats, settings: SecureLinearSettings, streams: Streams
) -> PlainRun:
    """Train with the same maths, first weights and fake columns, in doubles.

    ``outputs`` and ``residuals`` are z_A and d of every step, for the experimenter only.
    """
    check_tables(x_active, x_passive, y)
    own = with_fakes(x_active, settings, streams.rng("active/fakes"))
    w_active = draw_weights(own.shape[1], settings, streams.rng("active/weights"))
    w_passive = draw_weights(x_passive.shape[1], settings, streams.rng("passive/weights"))
    eta, alpha = settings.learning_rate, settings.alpha
    losses, outputs, residuals = [], [], []
    for _ in range(settings.epochs):
        losses.append(_loss(own, w_active, x_passive, w_passive, y, alpha))
        for rows in settings.batches(len(y)):
            z = x_passive[rows] @ w_passive
            d = z + own[rows] @ w_active - y[rows]
            w_active = sealed(w_active - eta * (own[rows].T @ d + alpha * w_active))
            w_passive = sealed(w_passive - eta * (x_passive[rows].T @ d + alpha * w_passive))
            outputs.append(sealed(z))
            residuals.append(sealed(d))
    losses.append(_loss(own, w_active, x_passive, w_passive, y, alpha))
    return PlainRun(w_active, w_passive, tuple(outputs), tuple(residuals), tuple(losses))


def gradient_error(x: Floats, d: Floats, numbers: FixedPoint) -> Floats:
    """Bound how far an encrypted gradient lies from the plain one, for every column of ``x``.

    z_A and z_B - y are rounded once each, so d errs by 2 eps; a column's value errs by eps;
    alpha W errs by at most eps, as it is encoded at the finer scale of the product.
    """
    eps = numbers.error
    bound: Floats = (
        2 * eps * np.abs(x).sum(axis=0) + eps * np.abs(d).sum() + 2 * eps**2 * len(d) + eps
    )
    return bound


def _loss(
    x_active: Floats,
    w_active: Floats,
    x_passive: Floats,
    w_passive: Floats,
    y: Floats,
    alpha: float,
) -> float:
    """Return the loss of section 2.1 over all records; the experimenter's, no party's."""
    d = x_active @ w_active + x_passive @ w_passive - y
    return 0.5 * float(d @ d + alpha * (w_active @ w_active + w_passive @ w_passive))
