"""What was said to whom. Attacks get ``received_by`` their own party and nothing more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from whatleaks.codec import decode
from whatleaks.errors import WireError
from whatleaks.wire.message import Message


@dataclass(frozen=True)
class Traffic:
    """How often and how much of one kind of message went from one party to another."""

    sender: str
    receiver: str
    kind: str
    readable: bool
    count: int
    size: int


class Transcript:
    """Records encoded messages; keeps the bytes only for the parties that somebody will ask about.

    ``listeners`` bounds memory: a training run has millions of values that go to the
    coordinator, and no threat model here asks for them. Traffic is counted for everyone.
    """

    def __init__(self, listeners: Iterable[str] | None = None) -> None:
        self._listeners = None if listeners is None else frozenset(listeners)
        self._kept: dict[str, list[bytes]] = {}
        self._count: Counter[tuple[str, str, str, bool]] = Counter()
        self._size: Counter[tuple[str, str, str, bool]] = Counter()

    def record(self, message: Message, encoded: bytes) -> None:
        """Store one delivered message."""
        key = (message.sender, message.receiver, message.kind, message.payload.readable)
        self._count[key] += 1
        self._size[key] += len(encoded)
        if self._listeners is None or message.receiver in self._listeners:
            self._kept.setdefault(message.receiver, []).append(encoded)

    def received_by(self, party: str) -> tuple[Message, ...]:
        """Decode afresh every message that ``party`` received, in order."""
        if self._listeners is not None and party not in self._listeners:
            raise WireError(f"this transcript did not keep the messages received by {party!r}")
        return tuple(decode(encoded) for encoded in self._kept.get(party, []))

    def traffic(self) -> tuple[Traffic, ...]:
        """Summarise who sent what to whom, without any content."""
        return tuple(
            Traffic(*key, count=count, size=self._size[key])
            for key, count in sorted(self._count.items())
        )

    def receivers(self) -> tuple[str, ...]:
        """Name the parties whose received messages were kept."""
        return tuple(sorted(self._kept))
