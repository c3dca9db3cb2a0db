"""Private set intersection by ids: Diffie-Hellman on Curve25519.

One party asks and learns which of its ids the other has too; the other learns how many ids
were asked about. The asking party then names the common ids, which both have, so that both
put the same records in the same order. Ids outside the intersection stay hidden: an id x crosses
only as a point a P(x), where P hashes onto the curve and a is a secret number, drawn anew. The other
party makes b a P(x) of it, which equals a b P(x), made of its own b P(x).

Every list of points is sorted before it goes out, so that its order tells nothing of a table's.
Both parties are taken to follow the protocol; one that asks about ids that it does not hold learns
whether the other has them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from whatleaks.arrays import Ints, sealed_ints
from whatleaks.codec import decode, encode
from whatleaks.errors import CryptoError
from whatleaks.extras import absent, lacking

_SIZE = 32  # bytes of a point
_FIELD = 2**255 - 19


class Secret:
    """A secret number, and the points that it is multiplied by."""

    def __init__(self) -> None:
        if absent("psi"):
            raise lacking("private set intersection", "psi")
        from cryptography.hazmat.primitives.asymmetric import x25519

        self._read: Any = x25519.X25519PublicKey.from_public_bytes
        self._key = x25519.X25519PrivateKey.generate()

    def times(self, points: Iterable[bytes]) -> list[bytes]:
        """Multiply every point by the secret number; one of small order would not hide it."""
        try:
            return [self._key.exchange(self._read(point)) for point in points]
        except ValueError:
            raise CryptoError("a message of an intersection holds a point of small order") from None


def point(value: str) -> bytes:
    """Hash an id to a point: the first of its hashes that is on the curve, not on its twist."""
    start = hashlib.sha256(b"whatleaks intersection" + value.encode())
    for count in range(256):
        hashed = start.copy()
        hashed.update(bytes([count]))
        u = int.from_bytes(hashed.digest(), "little") % 2**255
        if pow(u**3 + 486662 * u**2 + u, (_FIELD - 1) // 2, _FIELD) == 1:
            return u.to_bytes(_SIZE, "little")
    raise CryptoError("an id has no point on the curve")  # one in 2 ** 256


def points_of(message: bytes, announced: int, what: str) -> list[bytes]:
    """Cut a message into as many points as were announced."""
    if len(message) != announced * _SIZE:
        raise CryptoError(
            f"the other party {what} {len(message) / _SIZE:g} ids and announced {announced}: "
            "it is refused"
        )
    return [message[at : at + _SIZE] for at in range(0, len(message), _SIZE)]


class Answering:
    """The party that answers; it learns the number of ids asked about."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = list(ids)
        self._secret = Secret()

    def setup(self) -> bytes:
        """Return the own ids as points times the own secret."""
        return b"".join(sorted(self._secret.times(map(point, self._ids))))

    def respond(self, request: bytes, asked: int) -> bytes:
        """Multiply the asked points, exactly as many as were announced, in their order."""
        return b"".join(self._secret.times(points_of(request, asked, "asks about")))

    def rows(self, common: bytes) -> Ints:
        """Return the own rows of the named ids, in their order; others' ids are refused."""
        named = decode(common)
        where = {value: row for row, value in enumerate(self._ids)}
        known = isinstance(named, tuple) and all(isinstance(v, str) for v in named)
        if not known or len(set(named)) < len(named) or any(v not in where for v in named):
            raise CryptoError("the other party named common ids that are not ours, or one twice")
        return sealed_ints([where[value] for value in named])


class Asking:
    """The party that asks; it learns the intersection."""

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = list(ids)
        self._secret = Secret()
        points = self._secret.times(map(point, self._ids))
        self._asked = sorted(zip(points, range(len(points)), strict=True))

    def request(self) -> bytes:
        """Return the own ids as points times the own secret."""
        return b"".join(point for point, _ in self._asked)

    def rows(self, setup: bytes, response: bytes, held: int) -> Ints:
        """Return the own rows whose ids the other party has, in the order of the ids.

        ``held`` is how many ids the other party announced.
        """
        theirs = set(self._secret.times(points_of(setup, held, "holds")))
        answers = points_of(response, len(self._asked), "answers about")
        both = zip(answers, self._asked, strict=True)
        found = [row for answer, (_, row) in both if answer in theirs]
        return sealed_ints(sorted(found, key=lambda row: self._ids[row]))

    def common(self, rows: Ints) -> bytes:
        """Name the common ids for the other party, which has them already."""
        return encode(tuple(self._ids[row] for row in rows))
