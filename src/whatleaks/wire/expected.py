"""What a party waits for: a message is refused by name unless it is exactly the expected one."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import WireError
from whatleaks.wire.message import Cipher, Message, Payload, Plain

T = TypeVar("T")
ANY = -1  # a length that the receiver cannot know before the message comes


@dataclass(frozen=True)
class Expected:
    """The next message from one sender: its step, kind, form and shape follow from the protocol.

    A length in ``shape`` may be ``ANY``.
    """

    step: int
    sender: str
    kind: str
    shape: tuple[int, ...]
    readable: bool

    def __str__(self) -> str:
        """Name the message for people."""
        return f"{self.kind!r} of step {self.step} from {self.sender!r}"

    def check(self, message: Message) -> Payload:
        """Return the payload, or refuse it and say why."""
        named = f"{message.sender!r} sent {message.kind!r} of step {message.step}"
        if message.step < self.step:
            raise WireError(f"{named} too late: {self} is due")
        if (message.step, message.kind) != (self.step, self.kind):
            raise WireError(f"{named} out of order: {self} is due")
        payload = message.payload
        if payload.readable != self.readable:
            form = "plain" if self.readable else "encrypted"
            raise WireError(f"{named}, which is not {form} as it must be")
        shape = payload.shape if isinstance(payload, Cipher) else payload.values.shape
        if len(shape) != len(self.shape) or any(
            due not in (ANY, got) for due, got in zip(self.shape, shape, strict=True)
        ):
            raise WireError(f"{named} with shape {tuple(shape)}: it must be {self.shape}")
        if isinstance(payload, Plain) and not np.isfinite(payload.values).all():
            raise WireError(f"{named} with a value that is not finite")
        return payload


# A party's part of a protocol. It yields what it waits for and is sent the payload; whoever
# drives it only carries messages.
Programme: TypeAlias = Generator[Expected, Payload, T]


def read_plain(payload: Payload) -> Floats:
    """Return the numbers of a plain message."""
    if not isinstance(payload, Plain):
        raise WireError("expected plain numbers, got ciphertexts")
    return payload.values


class Post(Protocol):
    """Where a party hands in its messages; it never sees how they travel."""

    def send(self, step: int, sender: str, receiver: str, kind: str, payload: Payload) -> object:
        """Carry one message to ``receiver``."""
        ...
