"""What a detector is told before a training: nothing, or honest trainings rehearsed at home.

A rehearsal is a whole split training on public records in which the passive party plays both
sides. It is as good as what it imitates: here the active party's networks and rates are known.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, sealed, sealed_ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.detectors.protocol import (
    Continue,
    Detector,
    Probe,
    Received,
    Rehearsing,
    Signal,
    Watch,
    lengths,
)
from whatleaks.errors import UsageError
from whatleaks.federation.roles import ActiveSeat
from whatleaks.federation.schedule import agreed_batches
from whatleaks.federation.split.parties import HonestActive, PassiveParty
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.models.split_top import TopSettings
from whatleaks.models.structures import outputs_of
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Programme
from whatleaks.wire.mailbox import UNBOUNDED
from whatleaks.wire.parties import ACTIVE
from whatleaks.wire.transcript import Transcript

FEWEST_PUBLIC = 20
KEPT = 4  # rehearsals of so many trainings are remembered: one detector watches several of them
_rehearsed_before: OrderedDict[str, tuple[Floats, ...]] = OrderedDict()


@dataclass
class _Recorder(Watch):
    """Writes down how long every answer was."""

    kept: list[Floats] = field(default_factory=list)

    def choose(self, step: int, size: int, rng: np.random.Generator) -> Probe | None:
        """Probe nothing."""
        return None

    def observe(
        self, step: int, received: Received, probe: Probe | None, rng: np.random.Generator
    ) -> Signal:
        """Keep the lengths."""
        self.kept.append(lengths(received.embedding))
        return Continue()


def watch_of(
    detector: Detector,
    holdings: Holdings,
    rows: Rows,
    settings: SplitSettings,
    honest: TopSettings,
    streams: Streams,
) -> Watch:
    """Start a detector; one that compares first gets its rehearsals on public records.

    Public are the records that neither train nor are attacked nor granted to the adversary.
    """
    if not isinstance(detector, Rehearsing):
        return detector.start()
    public = rows.others
    if len(public) < FEWEST_PUBLIC:
        raise UsageError(
            f"{detector.name} rehearses with at least {FEWEST_PUBLIC} public records, and "
            f"{len(public)} are left: attack fewer targets"
        )
    brief = replace(settings, steps=min(settings.steps, detector.watched))
    columns = holdings.joined(tuple(holdings.columns), public)
    labels = sealed_ints(holdings.labels[public])
    told = repr((brief, honest, streams, detector.rehearsals, holdings.names)).encode()
    key = hashlib.sha256(columns.tobytes() + labels.tobytes() + told).hexdigest()
    if key not in _rehearsed_before:
        _rehearsed_before[key] = tuple(
            _rehearsed(holdings, public, brief, honest, streams.under(f"rehearsal/{index}"))
            for index in range(detector.rehearsals)
        )
        while len(_rehearsed_before) > KEPT:
            _rehearsed_before.popitem(last=False)
    return detector.compare(_rehearsed_before[key])


def _rehearsed(
    holdings: Holdings, public: Any, settings: SplitSettings, honest: TopSettings, streams: Streams
) -> Floats:
    """Train honestly on a draw of public records; return the answers' lengths, step by record."""
    drawn = streams.rng("public").permutation(public)
    schedule = agreed_batches(len(drawn), settings, streams.rng("batches"))
    # Whoever rehearses plays the first passive party; what the others hold is on the other side.
    name = holdings.passives[0]
    rest = tuple(party for party in holdings.columns if party != name)
    columns = holdings.joined((name,), drawn)
    seat = ActiveSeat(
        holdings.joined(rest, drawn),
        holdings.labels[drawn],
        holdings.classes,
        (name,),
        (outputs_of(settings.structure, columns.shape[1]),),
        (settings.structure,),
        (columns.shape[1],),
        schedule,
        True,
        (),
        settings.scaling,
        settings.precision,
    )
    recorder, exchange = _Recorder(), Exchange(Channel(Transcript([])), UNBOUNDED)
    passive = PassiveParty(name, columns, settings, streams.rng("bottom"))
    active = HonestActive(seat, honest, streams.rng("honest"))
    programmes: dict[str, Programme[Any]] = {
        name: passive.train(schedule, exchange, recorder, streams.rng("watch")),
        ACTIVE: active.train(exchange),
    }
    exchange.drive(programmes)
    return sealed(np.stack(recorder.kept))
