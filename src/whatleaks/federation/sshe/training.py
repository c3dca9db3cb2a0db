"""Linear and logistic regression of two parties without an arbiter, both in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whatleaks.arrays import Floats
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.keys import generate_keys
from whatleaks.federation.regression.settings import (
    LOGISTIC,
    check_labels,
    check_tables,
    with_fakes,
)
from whatleaks.federation.sshe.parties import SharingParty
from whatleaks.federation.sshe.settings import SharedSettings
from whatleaks.models.shared_history import SharedHistory
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Programme
from whatleaks.wire.parties import ACTIVE, PASSIVE
from whatleaks.wire.transcript import Transcript

Keys = tuple[PublicKey, SecretKey]


@dataclass(frozen=True)
class SharedRun:
    """A finished training, for the experimenter: each party knows its own weights alone.

    ``active`` is what the active party remembers.
    """

    active: SharedHistory
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
    own = with_fakes(x_active, settings.regression, streams.rng("active/fakes"))
    tables = {ACTIVE: own, PASSIVE: x_passive}
    held = dict(zip(tables, pairs, strict=True))
    parties = {
        name: SharingParty(
            (name, other),
            tables[name],
            tables[other].shape[1],
            settings,
            streams.rng(f"{name}/weights"),
            held[name],
            held[other][0],
            exchange,
            y if name == ACTIVE else None,
        )
        for name, other in ((ACTIVE, PASSIVE), (PASSIVE, ACTIVE))
    }
    programmes: dict[str, Programme[Any]] = {name: one.train() for name, one in parties.items()}
    found = exchange.drive(programmes)
    history = parties[ACTIVE].history(found[ACTIVE])
    return SharedRun(history, found[ACTIVE], found[PASSIVE], channel.transcript)
