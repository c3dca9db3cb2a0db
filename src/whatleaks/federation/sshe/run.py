"""Linear and logistic regression of two parties without an arbiter, both in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whatleaks.arrays import Floats
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.keys import generate_keys
from whatleaks.federation.regression.settings import LOGISTIC, check_labels, check_tables
from whatleaks.federation.sshe.parties import SharingParty
from whatleaks.federation.sshe.settings import SharedSettings
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Programme
from whatleaks.wire.parties import ACTIVE, PASSIVE
from whatleaks.wire.transcript import Transcript

Keys = tuple[PublicKey, SecretKey]


@dataclass(frozen=True)
class SharedRun:
    """A finished training, for the experimenter: each party knows its own weights alone."""

    active_weights: Floats
    passive_weights: Floats
    transcript: Transcript


def run_shared(
    x_active: Floats,
    x_passive: Floats,
    y: Floats,
    settings: SharedSettings,
    streams: Streams,
    channel: Channel,
    keys: tuple[Keys, Keys] | None = None,
) -> SharedRun:
    """Train over ``channel``; ``keys`` reuses the active and the passive party's pair."""
    check_tables(x_active, x_passive, y)
    if settings.formula is LOGISTIC:
        check_labels(y)
    pairs = keys or tuple(
        generate_keys(
            settings.backend, settings.key_bits, insecure_test_key=settings.insecure_test_key
        )
        for _ in range(2)
    )
    exchange = Exchange(channel)
    tables = {ACTIVE: x_active, PASSIVE: x_passive}
    held = dict(zip(tables, pairs, strict=True))
    programmes: dict[str, Programme[Any]] = {}
    for own, other in ((ACTIVE, PASSIVE), (PASSIVE, ACTIVE)):
        party = SharingParty(
            (own, other),
            tables[own],
            tables[other].shape[1],
            settings,
            streams.rng(f"{own}/weights"),
            held[own],
            held[other][0],
            exchange,
            y if own == ACTIVE else None,
        )
        programmes[own] = party.train()
    found = exchange.drive(programmes)
    return SharedRun(found[ACTIVE], found[PASSIVE], channel.transcript)
