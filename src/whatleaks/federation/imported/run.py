"""A run that was recorded elsewhere, in place of a live federation.

Whoever stages an attack holds a ``Trained``; this one has no parties. It replays what the
coalition's parties received, so a threat projects the same view and an attack cannot tell the
difference. Other engines' runs come this way: as a transcript, with the table that the
evaluator needs for the truth, and with what could be granted of the trained model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.data.holdings import Holdings
from whatleaks.defenses.protocol import Guard
from whatleaks.errors import UsageError
from whatleaks.federation.coalitions import victims
from whatleaks.federation.protocol import Fact, likeliest
from whatleaks.threat.grants import Grant
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Message, Payload, Plain
from whatleaks.wire.parties import ACTIVE
from whatleaks.wire.transcript import Transcript

PREDICTIONS = frozenset({"scores", "votes"})  # one row per record, one column per class
PER_RECORD = PREDICTIONS | {"target-embeddings"}


@dataclass(frozen=True)
class Imported:
    """A recorded run. ``rows`` says which records its predictions are of, in their order.

    Messages of the kinds in ``per_record`` have a row for each of them; all others are replayed
    as they are. ``grants`` and ``memories`` are what the ``coalition`` could be given and what
    its parties remember: a recording cannot be asked for another coalition's.
    """

    transcript: Transcript
    holdings: Holdings
    rows: Ints
    grants: tuple[Grant, ...] = ()
    memories: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    coalition: tuple[str, ...] = (ACTIVE,)
    per_record: frozenset[str] = PER_RECORD
    stop: str | None = None
    reading: Any = None

    def __post_init__(self) -> None:
        """Refuse a recording that does not fit what is said about it."""
        victims(self.holdings, self.coalition)
        if len(np.unique(self.rows)) != len(self.rows):
            raise UsageError("the rows of a recorded run name a record more than once")
        heard = [message for party in self.coalition for message in self._received(party)]
        if not heard:
            raise UsageError(f"the recording holds no message to {' or '.join(self.coalition)}")
        for message in heard:
            self._cut(message, np.arange(len(self.rows)))

    def release(self, rows: Ints, channel: Channel, guard: Guard) -> Floats | None:
        """Send again what the coalition received about ``rows``; return the active party's scores."""
        self._refuse(guard)
        places, held = self._places(rows), None
        for party in self.coalition:
            for message in self._received(party):
                payload = self._cut(message, places)
                sent = channel.send(message.step, message.sender, party, message.kind, payload)
                if party == ACTIVE and message.kind in PREDICTIONS and isinstance(sent, Plain):
                    held = sent.values
        return held

    def offer(self, coalition: tuple[str, ...]) -> tuple[Grant, ...]:
        """Return what was recorded to be granted."""
        if coalition != self.coalition:
            raise UsageError(
                f"this run was recorded for {' and '.join(self.coalition)}, not for "
                f"{' and '.join(coalition)}"
            )
        return self.grants

    def memory(self, party: str) -> tuple[object, ...]:
        """Return what was recorded of a party's memory."""
        return self.memories.get(party, ())

    def classes(self, rows: Ints, guard: Guard) -> Ints | None:
        """Return the likeliest class by the recorded scores; None: none were recorded."""
        scores = self.release(rows, Channel(Transcript([]), guard.alter), guard)
        return None if scores is None else likeliest(scores)

    def facts(self) -> dict[str, Fact]:
        """There is nothing to tell."""
        return {}

    def notes(self) -> tuple[str, ...]:
        """Say where the messages come from."""
        return ("the messages were recorded elsewhere: no federation ran here.",)

    def outputs(self) -> Floats | None:
        """Nothing in between was recorded."""
        return None

    def _received(self, party: str) -> tuple[Message, ...]:
        return self.transcript.received_by(party)

    def _places(self, rows: Ints) -> Ints:
        """Return where the asked records stand in the recording."""
        order = np.argsort(self.rows, kind="stable")
        at = np.searchsorted(self.rows, rows, sorter=order)
        found = order[np.minimum(at, len(order) - 1)] if len(order) else np.zeros(0, dtype=int)
        if (not len(order) and len(rows)) or (self.rows[found] != rows).any():
            raise UsageError("a record is asked for that the recorded run is not about")
        return np.asarray(found, dtype=np.int64)

    def _cut(self, message: Message, places: Ints) -> Payload:
        """Return a message's payload for the records in these places."""
        payload = message.payload
        if message.kind not in self.per_record or not isinstance(payload, Plain):
            return payload
        if len(payload.values) != len(self.rows):
            raise UsageError(
                f"the recorded {message.kind!r} has {len(payload.values)} rows, but is said to be "
                f"about {len(self.rows)} records"
            )
        return Plain(sealed(payload.values[places]))

    def _refuse(self, guard: Guard) -> None:
        if guard.release or guard.gate is not None:
            raise UsageError("what was recorded has left the house: no release defense can act")
