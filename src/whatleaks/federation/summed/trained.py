"""A trained federation of summed outputs, all its parties in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, seal, sealed, sealed_ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import Guard
from whatleaks.federation.protocol import Fact, Progress, likeliest
from whatleaks.federation.schedule import agreed_batches
from whatleaks.federation.summed.parties import Coordinator, Holder, SummedSettings
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Grant, Ranges
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Programme
from whatleaks.wire.mailbox import UNBOUNDED
from whatleaks.wire.parties import ACTIVE, COORDINATOR
from whatleaks.wire.transcript import Transcript


class SummedTrained:
    """The parties after training. Subclasses say what they could grant."""

    stop: str | None = None
    reading: Any = None

    def __init__(
        self, holdings: Holdings, holders: Mapping[str, Holder], coordinator: Coordinator
    ) -> None:
        self.holdings = holdings
        self.holders = dict(holders)
        self.coordinator = coordinator

    def train(
        self,
        rows: Rows,
        settings: SummedSettings,
        streams: Streams,
        channel: Channel,
        progress: Progress | None = None,
    ) -> None:
        """Train on ``rows.training`` over ``channel``, in batches from the stream ``batches``."""
        exchange = Exchange(channel, UNBOUNDED)
        schedule = self.schedule(len(rows.training), settings, streams)
        labels = sealed_ints(self.holdings.labels[rows.training])
        programmes: dict[str, Programme[Any]] = {
            name: holder.train(schedule, exchange, labels if name == ACTIVE else None)
            for name, holder in self.holders.items()
        }
        programmes[COORDINATOR] = self.coordinator.train(schedule, len(labels), exchange, progress)
        exchange.drive(programmes)

    def schedule(self, records: int, settings: Any, streams: Streams) -> tuple[Ints, ...]:
        """Return the rows of every batch."""
        return agreed_batches(records, settings, streams.rng("batches"))

    def release(self, rows: Ints, channel: Channel, guard: Guard) -> Floats:
        """Send the active party the scores of ``rows``; with a gate, of the released ones."""
        return self._released(rows, channel, guard)[0]

    def classes(self, rows: Ints, guard: Guard) -> Ints:
        """Return the likeliest class of every record, -1 where the gate withholds it."""
        scores, released = self._released(rows, Channel(Transcript([]), guard.alter), guard)
        found = np.full(len(rows), -1, dtype=np.int64)
        found[released] = likeliest(scores)
        return found

    def offer(self, coalition: tuple[str, ...]) -> tuple[Grant, ...]:
        """Return all that could be granted to a coalition."""
        raise NotImplementedError

    def memory(self, party: str) -> tuple[object, ...]:
        """Nobody keeps anything of the training but the own part of the model."""
        del party
        return ()

    def facts(self) -> dict[str, Fact]:
        """There is nothing to tell."""
        return {}

    def notes(self) -> tuple[str, ...]:
        """There is nothing to tell."""
        return ()

    def outputs(self) -> Floats | None:
        """There is nothing in between that the evaluator would judge."""
        return None

    def _released(self, rows: Ints, channel: Channel, guard: Guard) -> tuple[Floats, Bools]:
        exchange = Exchange(channel, UNBOUNDED)
        tables = {name: seal(self.holdings.columns[name][rows]) for name in self.holders}
        gated = guard.gate is not None
        programmes: dict[str, Programme[Any]] = {
            name: holder.take_scores(tables[name], 0, self.holdings.classes, exchange, gated)
            if name == ACTIVE
            else holder.release(tables[name], 0, exchange, gated)
            for name, holder in self.holders.items()
        }
        columns = [table.shape[1] for table in tables.values()]
        programmes[COORDINATOR] = self.coordinator.release(len(rows), columns, 0, exchange, guard)
        found: tuple[Floats, Bools] = exchange.drive(programmes)[ACTIVE]
        return found


def public_ranges(columns: int) -> Ranges:
    """Return the public range of every unknown column: values are scaled to 0..1."""
    return Ranges(sealed(np.zeros(columns)), sealed(np.ones(columns)))
