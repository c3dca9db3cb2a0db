"""The parties put their rows in one order by private set intersection, before they train.

The active party and each passive party intersect their ids with each other, both ways, so
that both learn their common ids and neither names one: what crosses are points on a curve,
multiplied by secret numbers. Both sort the common ids alike. Where there are several passive
parties the active one then marks which of these records all the others have too.

Each learns how many ids the other has, and which of its own the other has; a passive party
also learns which of its records all parties have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from whatleaks.arrays import Ints, sealed, sealed_ints
from whatleaks.crypto.psi import Answering, Asking
from whatleaks.errors import TableError, WireError
from whatleaks.wire.expected import Expected, Post, Programme, read_plain
from whatleaks.wire.message import Cipher, Payload, Plain
from whatleaks.wire.parties import ACTIVE

SCHEME = "psi-ecdh"


def align_active(
    ids: Sequence[str], counts: Mapping[str, int], step: int, post: Post
) -> Programme[Ints]:
    """Return the own rows that every passive party has too, in the order of their ids.

    ``counts`` says how many ids each passive party has.
    """
    shared = {}
    for passive, count in counts.items():
        shared[passive] = yield from _intersect((ACTIVE, passive), ids, count, step, post)
    common = set.intersection(*(set(rows.tolist()) for rows in shared.values()))
    for passive, rows in shared.items():
        kept = np.isin(rows, list(common))
        post.send(step, ACTIVE, passive, "kept-records", Plain(sealed(kept)))
    return _some(sealed_ints(sorted(common, key=lambda row: ids[row])))


def align_passive(
    name: str, ids: Sequence[str], count: int, step: int, post: Post
) -> Programme[Ints]:
    """Return the own rows that all parties have, in the same order as the active party."""
    rows = yield from _intersect((name, ACTIVE), ids, count, step, post)
    kept = read_plain((yield Expected(step, ACTIVE, "kept-records", rows.shape, True)))
    return _some(sealed_ints(rows[kept > 0.0]))


def tell_helper(helper: str, records: int, predictions: int, post: Post) -> None:
    """Tell the arbiter or coordinator how many records are left to train on and to predict."""
    counts = Plain(sealed([records, predictions]))
    post.send(0, ACTIVE, helper, "aligned-records", counts)


def hear_counts() -> Programme[tuple[int, int]]:
    """Learn, as arbiter or coordinator, how many records there are to train on and to predict."""
    counts = read_plain((yield Expected(0, ACTIVE, "aligned-records", (2,), True)))
    if (counts < 0).any() or (counts != np.floor(counts)).any():
        raise WireError("the active party sent numbers of records that are not whole")
    return int(counts[0]), int(counts[1])


def _intersect(
    way: tuple[str, str], ids: Sequence[str], count: int, step: int, post: Post
) -> Programme[Ints]:
    """Ask and answer at once; return the own rows whose ids the peer has, sorted by id."""
    own, peer = way
    asking, answering = Asking(ids), Answering(ids)

    def send(kind: str, size: int, data: bytes) -> None:
        post.send(step, own, peer, kind, Cipher(SCHEME, (size,), data))

    send("id-request", len(ids), asking.request())
    send("id-setup", len(ids), answering.setup(count))
    request = yield Expected(step, peer, "id-request", (count,), False)
    setup = yield Expected(step, peer, "id-setup", (count,), False)
    send("id-response", count, answering.respond(_points(request), count))
    response = yield Expected(step, peer, "id-response", (len(ids),), False)
    return asking.rows(_points(setup), _points(response), count)


def _points(payload: Payload) -> bytes:
    if not isinstance(payload, Cipher) or payload.scheme != SCHEME:
        raise WireError(f"expected blinded ids under {SCHEME}, got another payload")
    return payload.data


def _some(rows: Ints) -> Ints:
    if not len(rows):
        raise TableError(
            "the parties have no id in common: compare how ids are written, or set plan.strip "
            "and plan.ignore_case"
        )
    return rows
