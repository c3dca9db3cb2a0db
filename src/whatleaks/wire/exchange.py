"""All parties in one process: programmes take turns, messages still go through the channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from whatleaks.errors import WireError
from whatleaks.wire.channel import Channel
from whatleaks.wire.expected import Expected, Programme
from whatleaks.wire.mailbox import LARGEST, Mailbox
from whatleaks.wire.message import Payload


class Exchange:
    """Carries messages over a channel into mailboxes, and drives programmes until they end."""

    def __init__(self, channel: Channel, largest: int = LARGEST) -> None:
        self._channel = channel
        self._largest = largest
        self._boxes: dict[str, Mailbox] = {}

    def send(self, step: int, sender: str, receiver: str, kind: str, payload: Payload) -> Payload:
        """Deliver by bytes and put the copy into the receiver's mailbox."""
        message = self._channel.deliver(step, sender, receiver, kind, payload)
        self._box(receiver).put(message, self._channel.last_size)
        return message.payload

    def drive(self, programmes: Mapping[str, Programme[Any]]) -> dict[str, Any]:
        """Run every programme to its end and return what each returned.

        Each goes on for as long as the message it waits for is there; the order is fixed, so
        a transcript is the same every time.
        """
        results: dict[str, Any] = {}
        waits: dict[str, Expected | None] = dict.fromkeys(programmes)
        while len(results) < len(programmes):
            moved = False
            for name, programme in programmes.items():
                if name in results:
                    continue
                box = self._box(name)
                try:
                    expected = waits[name]
                    if expected is None:
                        expected, moved = next(programme), True
                    while box.holds(expected.sender):
                        expected, moved = programme.send(box.take(expected)), True
                    waits[name] = expected
                except StopIteration as end:
                    results[name], moved = end.value, True
            if not moved:
                stuck = "; ".join(f"{n} for {w}" for n, w in waits.items() if n not in results)
                raise WireError(f"every party waits and nobody sends: {stuck}")
        return results

    def _box(self, owner: str) -> Mailbox:
        box = self._boxes.get(owner)
        if box is None:
            box = self._boxes[owner] = Mailbox(owner, self._largest)
        return box
