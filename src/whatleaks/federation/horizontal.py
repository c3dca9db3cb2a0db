"""Horizontal linear regression: clients hold other records of the same columns (Li et al., Fig 3).

Every round each client trains on its own records from the common weights, and the weights
are averaged without the arbiter seeing a single client's:

``encrypted``: clients share a key pair and upload [[W]]; the arbiter, who has no secret
key, adds the ciphertexts and sends the sum back; clients decrypt and divide.

``shared``: every client splits W into additive shares modulo 2**64, one for each client;
each adds up the shares it got and sends the sum to the arbiter, who adds these and returns
the average. A share by itself is uniform; the arbiter learns the average and nothing more.

The gradient is X^T (X W - y) + alpha W, a sum over the client's records (Eq 6). With one
local step and two clients, W_{k+1} = W_k - eta (g_A + g_B) / 2, which is Eq 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.keys import check_key_settings, generate_keys
from whatleaks.crypto.sharing import combine, from_halves, share, to_halves
from whatleaks.errors import SpecError, TableError, nearest
from whatleaks.federation.regression_parties import (
    read_cipher,
    read_plain,
    send_encrypted,
    send_new,
)
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Expected, Post, Programme
from whatleaks.wire.message import Plain
from whatleaks.wire.transcript import Transcript

ARBITER = "arbiter"
AVERAGING = ("encrypted", "shared")
RoundEnd = Callable[[int, Floats], None]  # rounds finished, common weights


def client_names(count: int) -> tuple[str, ...]:
    """Return client-1, client-2, ..."""
    return tuple(f"client-{i + 1}" for i in range(count))


@dataclass(frozen=True)
class HorizontalSettings:
    """How to train: ``local_steps`` steps over all own records between two averages."""

    rounds: int = 20
    local_steps: int = 1
    learning_rate: float = 0.01
    alpha: float = 0.0
    initial_spread: float = 0.1
    averaging: str = "encrypted"
    backend: str = "heu-paillier"
    key_bits: int = 2048
    insecure_test_key: bool = False

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        if self.rounds < 1 or self.local_steps < 1:
            raise SpecError("rounds and local_steps must be at least 1")
        if not self.learning_rate > 0.0:
            raise SpecError(f"learning_rate is {self.learning_rate}: use a positive number")
        if self.alpha < 0.0 or self.initial_spread < 0.0:
            raise SpecError("alpha and initial_spread must not be negative")
        if self.averaging not in AVERAGING:
            raise SpecError(
                f"unknown averaging {self.averaging!r}: use one of {', '.join(AVERAGING)}."
                f"{nearest(self.averaging, AVERAGING)}"
            )
        check_key_settings(self.backend, self.key_bits, self.insecure_test_key)


def train_locally(x: Floats, y: Floats, weights: Floats, settings: HorizontalSettings) -> Floats:
    """Take a client's steps of one round."""
    w = np.array(weights)
    for _ in range(settings.local_steps):
        w -= settings.learning_rate * (x.T @ (x @ w - y) + settings.alpha * w)  # Eq 6
    return sealed(w)


class Client:
    """Holds records with targets; knows the other clients by name."""

    def __init__(
        self,
        name: str,
        x: Floats,
        y: Floats,
        settings: HorizontalSettings,
        clients: Sequence[str],
        keys: tuple[PublicKey, SecretKey] | None,
        post: Post,
    ) -> None:
        self._name = name
        self._x, self._y = sealed(x), sealed(y)
        self._settings = settings
        self._clients = tuple(clients)
        self._keys = keys
        self._post = post
        self.uploads: list[Floats] = []  # the own weights of every round

    def train(
        self,
        first_round: int = 0,
        saved: Floats | None = None,
        round_end: RoundEnd | None = None,
    ) -> Programme[Floats]:
        """Pull the first weights, then train and average, round after round.

        With ``saved``, the average after ``first_round`` rounds, it goes on from there.
        """
        count = self._x.shape[1]
        payload = yield Expected(0, ARBITER, "first-weights", (count,), True)
        weights = read_plain(payload) if saved is None else saved
        for step in range(first_round + 1, self._settings.rounds + 1):
            self.uploads.append(train_locally(self._x, self._y, weights, self._settings))
            average = self._encrypted if self._keys is not None else self._shared
            weights = yield from average(step, self.uploads[-1])
            if round_end is not None:
                round_end(step, weights)
        return weights

    def _encrypted(self, step: int, weights: Floats) -> Programme[Floats]:
        assert self._keys is not None
        public, secret = self._keys
        way = (self._name, ARBITER)
        send_new(self._post, public, step, way, "encrypted-weights", weights)
        payload = yield Expected(step, ARBITER, "encrypted-weight-sum", weights.shape, False)
        return sealed(secret.decrypt(read_cipher(public, payload)) / len(self._clients))

    def _shared(self, step: int, weights: Floats) -> Programme[Floats]:
        shares = share(weights, len(self._clients))
        for client, one in zip(self._clients, shares, strict=True):
            if client != self._name:
                self._post.send(step, self._name, client, "share", Plain(to_halves(one)))
        total = np.array(shares[self._clients.index(self._name)])
        for client in self._clients:
            if client != self._name:
                payload = yield Expected(step, client, "share", (len(weights), 2), True)
                total += from_halves(read_plain(payload))  # modulo 2**64
        self._post.send(step, self._name, ARBITER, "share-sum", Plain(to_halves(total)))
        return read_plain((yield Expected(step, ARBITER, "average-weights", weights.shape, True)))


class AveragingArbiter:
    """Averages what it cannot read; it has no secret key."""

    def __init__(
        self,
        first_weights: Floats,
        settings: HorizontalSettings,
        clients: Sequence[str],
        public: PublicKey | None,
        post: Post,
    ) -> None:
        self._first = sealed(first_weights)
        self._settings = settings
        self._clients = tuple(clients)
        self._public = public
        self._post = post

    def serve(self, first_round: int = 0) -> Programme[None]:
        """Hand out the first weights, then average every round after ``first_round``."""
        for client in self._clients:
            self._post.send(0, ARBITER, client, "first-weights", Plain(self._first))
        for step in range(first_round + 1, self._settings.rounds + 1):
            if self._public is not None:
                yield from self._add_ciphertexts(step, self._public)
            else:
                yield from self._add_shares(step)

    def _add_ciphertexts(self, step: int, public: PublicKey) -> Programme[None]:
        shape = self._first.shape
        payload = yield Expected(step, self._clients[0], "encrypted-weights", shape, False)
        total = read_cipher(public, payload)
        for client in self._clients[1:]:
            payload = yield Expected(step, client, "encrypted-weights", shape, False)
            total = public.add(total, read_cipher(public, payload))
        for client in self._clients:
            way = (ARBITER, client)
            send_encrypted(self._post, public, step, way, "encrypted-weight-sum", total)

    def _add_shares(self, step: int) -> Programme[None]:
        parts = []
        for client in self._clients:
            payload = yield Expected(step, client, "share-sum", (len(self._first), 2), True)
            parts.append(from_halves(read_plain(payload)))
        count = len(self._clients)
        average = sealed(combine(np.stack(parts), count) / count)
        for client in self._clients:
            self._post.send(step, ARBITER, client, "average-weights", Plain(average))


@dataclass(frozen=True)
class HorizontalRun:
    """A finished training, for the experimenter: ``uploads`` has every client's weights by round."""

    weights: Floats
    uploads: dict[str, tuple[Floats, ...]]
    first_weights: Floats
    transcript: Transcript


def _check(tables: Sequence[tuple[Floats, Floats]]) -> int:
    """Refuse tables that do not fit together, and return the number of columns."""
    if len(tables) < 2:
        raise TableError(f"a horizontal federation needs at least 2 clients, got {len(tables)}")
    for i, (x, y) in enumerate(tables, 1):
        if x.ndim != 2 or y.shape != (len(x),) or not len(x):
            raise TableError(f"client-{i} needs a table and one target for each of its records")
        if x.shape[1] != tables[0][0].shape[1]:
            raise TableError(f"client-{i} has {x.shape[1]} columns: all need the same")
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise TableError(f"client-{i} has a value that is not finite: fill or drop it")
    return int(tables[0][0].shape[1])


def run_horizontal(
    tables: Sequence[tuple[Floats, Floats]],
    settings: HorizontalSettings,
    streams: Streams,
    channel: Channel,
    keys: tuple[PublicKey, SecretKey] | None = None,
) -> HorizontalRun:
    """Train over ``channel`` with one (columns, targets) pair per client."""
    columns = _check(tables)
    if settings.averaging == "shared":
        keys = None
    elif keys is None:
        keys = generate_keys(
            settings.backend, settings.key_bits, insecure_test_key=settings.insecure_test_key
        )
    names = client_names(len(tables))
    exchange = Exchange(channel)
    first = first_weights(columns, settings, streams)
    clients = {
        name: Client(name, x, y, settings, names, keys, exchange)
        for name, (x, y) in zip(names, tables, strict=True)
    }
    public = None if keys is None else keys[0]
    programmes: dict[str, Programme[Any]] = {
        ARBITER: AveragingArbiter(first, settings, names, public, exchange).serve(),
        **{name: client.train() for name, client in clients.items()},
    }
    results = exchange.drive(programmes)
    uploads = {name: tuple(client.uploads) for name, client in clients.items()}
    return HorizontalRun(results[names[0]], uploads, first, channel.transcript)


def plain_horizontal(
    tables: Sequence[tuple[Floats, Floats]], settings: HorizontalSettings, streams: Streams
) -> Floats:
    """Train with the same maths in doubles: the reference."""
    weights = first_weights(_check(tables), settings, streams)
    for _ in range(settings.rounds):
        local = [train_locally(x, y, weights, settings) for x, y in tables]
        weights = sealed(np.mean(local, axis=0))
    return weights


def first_weights(columns: int, settings: HorizontalSettings, streams: Streams) -> Floats:
    """Draw the weights that everybody starts from."""
    rng = streams.rng("arbiter/weights")
    return sealed(rng.normal(0.0, settings.initial_spread, columns))
