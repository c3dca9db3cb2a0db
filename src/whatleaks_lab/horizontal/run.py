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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.keys import generate_keys
from whatleaks.errors import TableError
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Programme
from whatleaks.wire.parties import ARBITER
from whatleaks.wire.transcript import Transcript
from whatleaks_lab.horizontal.parties import AveragingArbiter, Client
from whatleaks_lab.horizontal.settings import (
    HorizontalSettings,
    client_names,
    first_weights,
    train_locally,
)


@dataclass(frozen=True)
class HorizontalRun:
    """A finished training, for the experimenter: ``uploads`` has every client's weights by round.

    ``averages``: the common weights as a client reads them, before every round and after the last.
    """

    weights: Floats
    uploads: dict[str, tuple[Floats, ...]]
    averages: dict[str, Floats]
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
    averages = {name: sealed(np.stack(client.averages)) for name, client in clients.items()}
    return HorizontalRun(results[names[0]], uploads, averages, first, channel.transcript)


def plain_horizontal(
    tables: Sequence[tuple[Floats, Floats]], settings: HorizontalSettings, streams: Streams
) -> Floats:
    """Train with the same maths in doubles: the reference."""
    weights = first_weights(_check(tables), settings, streams)
    for _ in range(settings.rounds):
        local = [train_locally(x, y, weights, settings) for x, y in tables]
        weights = sealed(np.mean(local, axis=0))
    return weights
