"""A message between two parties: plain numbers or ciphertexts, never live objects."""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.arrays import Floats
from whatleaks.codec import travels


@travels
@dataclass(frozen=True)
class Plain:
    """Numbers that the receiver can read."""

    values: Floats

    @property
    def readable(self) -> bool:
        """Plain numbers are readable by whoever receives them."""
        return True


@travels
@dataclass(frozen=True)
class Cipher:
    """Ciphertexts: ``scheme`` names the cryptosystem, ``shape`` the plain shape, ``data`` the bytes."""

    scheme: str
    shape: tuple[int, ...]
    data: bytes

    @property
    def readable(self) -> bool:
        """Ciphertexts are readable only with the secret key, which never travels."""
        return False


Payload = Plain | Cipher


@travels
@dataclass(frozen=True)
class Message:
    """One message: when, from whom, to whom, what it is, what it holds."""

    step: int
    sender: str
    receiver: str
    kind: str
    payload: Payload
