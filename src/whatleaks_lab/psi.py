"""Private set intersection by ids, through openmined-psi (Diffie-Hellman on a curve).

One party asks and learns which of its ids the other has too; the other learns how many ids
were asked about. The asking party then names the common ids, which both have, so that both
put the same records in the same order. Ids outside the intersection stay hidden: they cross
only as points multiplied by a secret number.

Between the parties go bytes alone: a setup and a response from the answering party, a
request and the common ids from the asking one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whatleaks.arrays import Ints, sealed_ints
from whatleaks.codec import decode, encode
from whatleaks.errors import CryptoError, TableError

_FALSE_POSITIVES = 1e-12  # unused by the raw structure, which has none; the library asks for it


def _library() -> Any:
    try:
        import private_set_intersection.python as library
    except ModuleNotFoundError:
        raise CryptoError(
            "private set intersection needs openmined-psi: pip install 'whatleaks[psi]'"
        ) from None
    return library


def normal_form(ids: Sequence[str], strip: bool = False, ignore_case: bool = False) -> list[str]:
    """Return the ids as they are compared: trimmed, spaces collapsed, case folded, if asked."""
    formed = [" ".join(value.split()) for value in ids] if strip else list(ids)
    return [value.casefold() for value in formed] if ignore_case else formed


def check_ids(ids: Sequence[str], who: str) -> None:
    """Refuse empty and repeated ids; rows are named, ids are not printed."""
    first: dict[str, int] = {}
    for row, value in enumerate(ids, 1):
        if not value.strip():
            raise TableError(f"{who}: the id in row {row} is empty: drop the row")
        if value in first:
            raise TableError(
                f"{who}: rows {first[value]} and {row} have the same id: ids must be unique"
            )
        first[value] = row


class Answering:
    """The party that answers; it learns the number of ids asked about."""

    def __init__(self, ids: Sequence[str]) -> None:
        library = _library()
        self._library = library
        self._ids = list(ids)
        self._server = library.server.CreateWithNewKey(True)

    def setup(self, asked: int) -> bytes:
        """Return the own ids as blinded points."""
        raw = self._library.DataStructure.RAW
        message = self._server.CreateSetupMessage(_FALSE_POSITIVES, asked, self._ids, raw)
        return bytes(message.SerializeToString())

    def respond(self, request: bytes, asked: int) -> bytes:
        """Blind the asked points once more: exactly as many as were announced."""
        message = _parsed(self._library.Request(), request)
        _count(message, asked, "asks about")
        try:
            return bytes(self._server.ProcessRequest(message).SerializeToString())
        except (RuntimeError, ValueError):
            raise CryptoError("a request for an intersection is damaged") from None

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
        library = _library()
        self._library = library
        self._ids = list(ids)
        self._client = library.client.CreateWithNewKey(True)

    def request(self) -> bytes:
        """Return the own ids as blinded points."""
        return bytes(self._client.CreateRequest(self._ids).SerializeToString())

    def rows(self, setup: bytes, response: bytes, held: int) -> Ints:
        """Return the own rows whose ids the other party has, in the order of the ids.

        ``held`` is how many ids the other party announced.
        """
        theirs = _parsed(self._library.ServerSetup(), setup)
        answer = _parsed(self._library.Response(), response)
        _count(theirs.raw, held, "holds")
        _count(answer, len(self._ids), "answers about")
        try:
            found = self._client.GetIntersection(theirs, answer)
        except (RuntimeError, ValueError):
            raise CryptoError("an answer about an intersection is damaged") from None
        return sealed_ints(sorted(found, key=lambda row: self._ids[row]))

    def common(self, rows: Ints) -> bytes:
        """Name the common ids for the other party, which has them already."""
        return encode(tuple(self._ids[row] for row in rows))


def _parsed(message: Any, data: bytes) -> Any:
    from google.protobuf.message import DecodeError

    try:
        message.ParseFromString(data)
    except DecodeError:
        raise CryptoError("a message of an intersection is damaged") from None
    return message


def _count(message: Any, announced: int, what: str) -> None:
    """Refuse a message of more or fewer points than were announced."""
    points = len(message.encrypted_elements)
    if points != announced:
        raise CryptoError(
            f"the other party {what} {points} ids and announced {announced}: it is refused"
        )


@dataclass(frozen=True)
class Alignment:
    """The common records: rows of each party in one order, and their ids as compared.

    ``untidy`` counts each party's ids without a match that would read otherwise after
    trimming and folding case: near-misses to look at.
    """

    first: Ints
    second: Ints
    ids: tuple[str, ...]
    untidy: tuple[int, int]


def align(
    first: Sequence[str],
    second: Sequence[str],
    strip: bool = False,
    ignore_case: bool = False,
    names: tuple[str, str] = ("first table", "second table"),
) -> Alignment:
    """Run both parties of the protocol in this process; the first one asks."""
    formed = [normal_form(ids, strip, ignore_case) for ids in (first, second)]
    for values, who in zip(formed, names, strict=True):
        check_ids(values, who)
    asking, answering = Asking(formed[0]), Answering(formed[1])
    request = asking.request()
    setup = answering.setup(len(formed[0]))
    own = asking.rows(setup, answering.respond(request, len(formed[0])), len(formed[1]))
    other = answering.rows(asking.common(own))
    ids = tuple(formed[0][row] for row in own)
    near = (untidy(formed[0], set(ids)), untidy(formed[1], set(ids)))
    return Alignment(own, other, ids, near)


def untidy(ids: Sequence[str], matched: set[str]) -> int:
    """Count the ids without a match that trimming or folding case would change: near-misses."""
    tidy = normal_form(ids, strip=True, ignore_case=True)
    return sum(a != b and a not in matched for a, b in zip(ids, tidy, strict=True))
