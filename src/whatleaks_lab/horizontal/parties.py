"""The clients and the arbiter of a horizontal regression, each as a programme of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.federation.ciphers import read_output, read_sum, send_encrypted, send_new
from whatleaks.wire.expected import Expected, Post, Programme, read_plain
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import ARBITER
from whatleaks_lab.horizontal.settings import HorizontalSettings, train_locally
from whatleaks_lab.horizontal.sharing import combine, from_halves, share, to_halves


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
        self.averages: list[Floats] = []  # the common ones before every round and after the last

    def train(self) -> Programme[Floats]:
        """Pull the first weights, then train and average, round after round."""
        count = self._x.shape[1]
        weights = read_plain((yield Expected(0, ARBITER, "first-weights", (count,), True)))
        self.averages.append(weights)
        for step in range(1, self._settings.rounds + 1):
            own = train_locally(self._x, self._y, weights, self._settings)
            self.uploads.append(own)
            average = self._encrypted if self._keys is not None else self._shared
            weights = yield from average(step, own)
            self.averages.append(weights)
        return weights

    def _encrypted(self, step: int, weights: Floats) -> Programme[Floats]:
        assert self._keys is not None
        public, secret = self._keys
        way = (self._name, ARBITER)
        send_new(self._post, public, step, way, "encrypted-weights", weights)
        payload = yield Expected(step, ARBITER, "encrypted-weight-sum", weights.shape, False)
        return sealed(secret.decrypt(read_sum(public, payload)) / len(self._clients))

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

    def serve(self) -> Programme[None]:
        """Hand out the first weights, then average every round."""
        for client in self._clients:
            self._post.send(0, ARBITER, client, "first-weights", Plain(self._first))
        for step in range(1, self._settings.rounds + 1):
            if self._public is not None:
                yield from self._add_ciphertexts(step, self._public)
            else:
                yield from self._add_shares(step)

    def _add_ciphertexts(self, step: int, public: PublicKey) -> Programme[None]:
        shape = self._first.shape
        payload = yield Expected(step, self._clients[0], "encrypted-weights", shape, False)
        total = read_output(public, payload)
        for client in self._clients[1:]:
            payload = yield Expected(step, client, "encrypted-weights", shape, False)
            total = public.add(total, read_output(public, payload))
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
