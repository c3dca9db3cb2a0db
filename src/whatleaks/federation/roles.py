"""Seats in a federation: what a programme needs to know to play the active party.

The honest active party and a hijacker are two programmes for the same seat. The protocol
has no hook and no flag for malice: it sends embeddings and gets gradients. ``next_batch``
and ``answer`` are what both say on the wire.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.codec import travels
from whatleaks.errors import WireError
from whatleaks.models.structures import Bottoms
from whatleaks.threat.grants import Grant
from whatleaks.wire.expected import ANY, Expected, Post, Programme, read_plain
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import ACTIVE

__all__ = [  # all that a hijacker needs, its types included
    "ActiveSeat",
    "Batch",
    "Hijacker",
    "Post",
    "Programme",
    "answer",
    "next_batch",
    "own_labels",
]


@travels
@dataclass(frozen=True)
class ActiveSeat:
    """What whoever plays the active party of a split federation holds and has agreed on.

    ``own`` and ``labels`` are those of the training records, in the order that batches
    number. ``schedule`` holds the rows of every batch, agreed by all parties. ``granted`` is
    what a threat model hands to a hijacker; an honest party gets nothing. ``probed``: each
    batch of the first passive party is followed by labels to answer for, an empty list where
    the own ones stand. ``scaling`` is what everybody does to its columns, ``precision`` what
    everybody computes in.
    """

    own: Floats
    labels: Ints
    classes: int
    passives: tuple[str, ...]
    widths: tuple[int, ...]  # of each passive party's embedding
    bottoms: tuple[Bottoms, ...]  # the structure of each passive party's network
    columns: tuple[int, ...]  # how many columns each passive party has
    schedule: tuple[Ints, ...]
    probed: bool
    granted: tuple[Grant, ...] = ()
    scaling: str = "none"
    precision: str = "float64"


class Hijacker(Protocol):
    """A frozen setting of a malicious active party; it travels, so that it can be isolated."""

    @property
    def name(self) -> str:
        """The short name under which results are stored."""
        ...

    def programme(self, seat: ActiveSeat, post: Post, rng: np.random.Generator) -> Programme[Any]:
        """Play the active party of a training; return the attack that reads the embeddings."""
        ...


@dataclass(frozen=True)
class Batch:
    """What came for one batch: its records, their embeddings, labels to answer for or None.

    ``embeddings`` are all passive parties', side by side.
    """

    rows: Ints
    embeddings: Floats
    labels: Ints | None


def next_batch(seat: ActiveSeat, step: int, post: Post) -> Programme[Batch | None]:
    """Wait for the embeddings of a step; None: a passive party has halted, so all are told."""
    rows = seat.schedule[step]
    parts: dict[str, Floats] = {}
    labels: Floats | None = None
    for passive, width in zip(seat.passives, seat.widths, strict=True):
        payload = yield Expected(step, passive, "embeddings", (ANY, width), True)
        parts[passive] = _whole(read_plain(payload), len(rows), passive)
        if seat.probed and passive == seat.passives[0] and len(parts[passive]):
            labels = read_plain((yield Expected(step, passive, "labels", (ANY,), True)))
            _whole(labels, len(rows), passive)
    if not all(len(part) for part in parts.values()):
        for passive, part in parts.items():
            if len(part):
                post.send(step, ACTIVE, passive, "gradients", Plain(sealed(part[:0])))
        return None
    held = tuple(parts.values())
    together = held[0] if len(held) == 1 else sealed(np.concatenate(held, axis=1))
    asked = None if labels is None or not len(labels) else sealed_ints(labels)
    return Batch(rows, together, asked)


def answer(seat: ActiveSeat, step: int, gradient: Floats, post: Post) -> None:
    """Return to every passive party the gradient by its own embeddings."""
    first = 0
    for passive, width in zip(seat.passives, seat.widths, strict=True):
        part = gradient if len(seat.passives) == 1 else gradient[:, first : first + width]
        post.send(step, ACTIVE, passive, "gradients", Plain(part))
        first += width


def _whole(values: Floats, records: int, passive: str) -> Floats:
    if len(values) not in (0, records):
        raise WireError(f"{passive!r} sent {len(values)} rows for a batch of {records} records")
    return values


def own_labels(seat: ActiveSeat, batch: Batch) -> Ints:
    """Return the labels to train on: those asked for, or the own ones."""
    return seat.labels[batch.rows] if batch.labels is None else batch.labels
