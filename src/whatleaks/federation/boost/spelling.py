"""A training with one round of chosen numbers in it: what its active party reads of the others.

The round costs it nothing: it claims every split as its own, and all other rounds are honest. It
knows of a spot check, which is agreed on, and of where it ends: with a second round it waits for
that; with one alone it chooses only what the check lets pass. Whether a greedy one, which does
neither, would have been noticed is tried beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from whatleaks.arrays import Floats, Ints
from whatleaks.crypto.keys import generate_keys
from whatleaks.errors import WireError
from whatleaks.federation.boost.chosen import ChosenGradients, Spelled
from whatleaks.federation.boost.passive import PassiveParty
from whatleaks.federation.boost.settings import LARGEST, SecureBoostSettings
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Programme
from whatleaks.wire.parties import ACTIVE, passive_names
from whatleaks.wire.transcript import Transcript


@dataclass(frozen=True)
class Spelling:
    """What the trees spelled; ``noticed``: a spot check stopped the greedy one (None: no check)."""

    nodes: tuple[Spelled, ...]
    noticed: bool | None


def spelling(
    x_active: Floats,
    x_passives: Sequence[Floats],
    labels: Ints,
    settings: SecureBoostSettings,
    streams: Streams,
) -> Spelling:
    """Grow the trees over the live protocol, past the spot checks if there are any."""
    keys = generate_keys(
        settings.backend, settings.key_bits, insecure_test_key=settings.insecure_test_key
    )
    names = passive_names(len(x_passives))

    def grown(unnoticed: bool, waits: bool) -> tuple[Spelled, ...]:
        exchange = Exchange(Channel(Transcript([])), LARGEST)
        honest = replace(settings, boost=replace(settings.boost, rounds=1))
        agreed = replace(settings, boost=replace(settings.boost, rounds=2 if waits else 1))
        cheat = ChosenGradients(x_active, labels, honest, streams, keys, exchange, names)
        programmes: dict[str, Programme[Any]] = {ACTIVE: cheat.spell(unnoticed, waits)}
        for number, (name, x) in enumerate(zip(names, x_passives, strict=True), start=1):
            rng = streams.rng(f"spelling/{number}")
            party = PassiveParty(name, x, agreed, rng, keys[0], exchange)
            programmes[name] = party.train(cheat.outputs)
        return tuple(exchange.drive(programmes)[ACTIVE])

    if not settings.spot_checks:
        return Spelling(grown(unnoticed=False, waits=False), None)
    try:
        grown(unnoticed=False, waits=False)
        noticed = False
    except WireError:
        noticed = True
    waits = settings.boost.rounds > 1
    return Spelling(grown(unnoticed=not waits, waits=waits), noticed)
