"""The only way from one party to another: encode, record, decode."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from whatleaks.arrays import Floats, sealed
from whatleaks.codec import decode, encode
from whatleaks.errors import WireError
from whatleaks.wire.message import Cipher, Message, Payload, Plain
from whatleaks.wire.transcript import Transcript

# (sender, kind, values) -> the values that leave instead: where a message defense acts
Alter = Callable[[str, str, Floats], Floats]


class Channel:
    """Carries messages between parties as bytes and records what was delivered."""

    def __init__(self, transcript: Transcript | None = None, alter: Alter | None = None) -> None:
        self.transcript = transcript if transcript is not None else Transcript()
        self._alter = alter
        self.last_size = 0  # bytes of the message sent last

    def send(self, step: int, sender: str, receiver: str, kind: str, payload: Payload) -> Payload:
        """Deliver one message and return what the receiver holds: a copy by bytes."""
        return self.deliver(step, sender, receiver, kind, payload).payload

    def deliver(
        self, step: int, sender: str, receiver: str, kind: str, payload: Payload
    ) -> Message:
        """Deliver one message and return it as the receiver holds it."""
        if self._alter is not None and isinstance(payload, Plain):
            payload = Plain(sealed(self._alter(sender, kind, payload.values)))
        message = Message(step, sender, receiver, kind, payload)
        encoded = encode(message)
        delivered = decode(encoded)
        if not isinstance(delivered, Message):
            raise WireError("a message did not survive its own encoding")
        self.transcript.record(delivered, encoded)
        self.last_size = len(encoded)
        return delivered

    def send_plain(
        self, step: int, sender: str, receiver: str, kind: str, values: npt.ArrayLike
    ) -> Floats:
        """Deliver plain numbers; numbers that are not finite are refused by name."""
        array = sealed(values)
        if not np.isfinite(array).all():
            raise WireError(f"{sender} sent {kind!r} to {receiver} with a value that is not finite")
        payload = self.send(step, sender, receiver, kind, Plain(array))
        assert isinstance(payload, Plain)
        return payload.values

    def send_cipher(
        self, step: int, sender: str, receiver: str, kind: str, cipher: Cipher
    ) -> Cipher:
        """Deliver ciphertexts."""
        payload = self.send(step, sender, receiver, kind, cipher)
        assert isinstance(payload, Cipher)
        return payload
