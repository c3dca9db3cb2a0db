"""One party's incoming messages, in one queue per sender."""

from __future__ import annotations

from collections import deque

import numpy as np

from whatleaks.errors import WireError
from whatleaks.wire.expected import Expected
from whatleaks.wire.message import Cipher, Message, Payload, Plain

LARGEST = 64 * 2**20  # bytes of one encoded message
UNBOUNDED = 1 << 62  # in one process nobody floods anybody: a whole table may cross at once
MOST_WAITING = 64  # messages of one sender that nobody has taken yet
MOST_HELD = 4  # largest messages that may wait together, in bytes
LAST_STEP = 1 << 53


class Mailbox:
    """Refuses at the door what no protocol step can want; ``take`` checks the rest."""

    def __init__(self, owner: str, largest: int = LARGEST) -> None:
        self.owner = owner
        self.largest = largest
        self._waiting: dict[str, deque[tuple[Message, int]]] = {}
        self._held: dict[str, int] = {}  # bytes of one sender that wait
        self._newest: dict[tuple[str, str], int] = {}

    def put(self, message: Message, size: int) -> None:
        """Queue a message of ``size`` encoded bytes; steps of one kind only go up."""
        _check_types(message)
        named = f"{message.sender!r} sent {message.kind!r} of step {message.step}"
        if message.receiver != self.owner:
            raise WireError(f"{named} to {self.owner!r}, but it is for {message.receiver!r}")
        if size > self.largest:
            raise WireError(f"{named} with {size} bytes: at most {self.largest} are taken")
        newest = self._newest.get((message.sender, message.kind))
        if newest is not None and message.step <= newest:
            how = "repeated" if message.step == newest else "too late"
            raise WireError(f"{named} {how}: step {newest} has come already")
        queue = self._waiting.setdefault(message.sender, deque())
        held = self._held.get(message.sender, 0) + size
        if len(queue) >= MOST_WAITING or held > MOST_HELD * self.largest:
            raise WireError(f"{named} while {len(queue)} others wait: it does not keep in step")
        self._newest[message.sender, message.kind] = message.step
        self._held[message.sender] = held
        queue.append((message, size))

    def holds(self, sender: str) -> bool:
        """Say whether a message from ``sender`` waits."""
        return bool(self._waiting.get(sender))

    def take(self, expected: Expected) -> Payload:
        """Remove the next message of the expected sender and return its checked payload."""
        message, size = self._waiting[expected.sender].popleft()
        self._held[expected.sender] -= size
        return expected.check(message)


def _check_types(message: Message) -> None:
    """Refuse a record whose fields are of other types: bytes from outside may say anything."""
    texts = (message.sender, message.receiver, message.kind)
    if not all(isinstance(text, str) for text in texts) or type(message.step) is not int:
        raise WireError("a message has no proper step, sender, receiver or kind")
    named = all(text.isprintable() and len(text) <= 64 for text in texts)
    if not named or not 0 <= message.step < LAST_STEP:
        raise WireError("a message has a step, sender, receiver or kind that no protocol has")
    payload = message.payload
    if isinstance(payload, Plain):
        if not isinstance(payload.values, np.ndarray) or payload.values.dtype != np.float64:
            raise WireError(f"{message.sender!r} sent {message.kind!r} without float64 numbers")
    elif isinstance(payload, Cipher):
        whole = isinstance(payload.shape, tuple) and all(type(n) is int for n in payload.shape)
        if not whole or not isinstance(payload.data, bytes) or not isinstance(payload.scheme, str):
            raise WireError(f"{message.sender!r} sent {message.kind!r} as a malformed ciphertext")
    else:
        raise WireError(f"{message.sender!r} sent {message.kind!r} without a payload")
