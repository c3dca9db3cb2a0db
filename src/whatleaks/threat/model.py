"""Threat models: who the adversary is, how it behaves, what it is granted, what it sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Generic, TypeVar

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.errors import WireError
from whatleaks.threat.grants import Grant, Granted, KnownPeople
from whatleaks.wire.message import Message, Plain
from whatleaks.wire.parties import ACTIVE

COLUMNS, LABEL = "columns", "label"  # what an adversary is after

V = TypeVar("V")
K = TypeVar("K")


class Conduct(Enum):
    """Whether the adversary follows the protocol."""

    CURIOUS = "follows the protocol and is curious"
    MALICIOUS = "breaks the protocol"


@dataclass(frozen=True)
class Memory:
    """What the adversary holds without any message: its columns, its labels, the partner's schema.

    ``target`` are its own columns of the records under attack, ``training`` those of the
    records that trained, ``places`` where each target stands among these (-1: it did not train).
    ``kept`` are records of what its parties remember of the training.
    """

    target: Floats
    training: Floats
    labels: Ints
    unknown: int
    kept: tuple[object, ...] = ()
    places: Ints = field(default_factory=lambda: sealed_ints([]))

    def recall(self, kind: type[K]) -> K | None:
        """Return what is remembered of this kind, or None."""
        return next((record for record in self.kept if isinstance(record, kind)), None)


# (messages received, what is remembered, what is granted, the view to make) -> the view
Project = Callable[[Sequence[Message], Memory, Granted, type[V]], V]


@dataclass(frozen=True, repr=False)
class ThreatModel(Generic[V]):
    """A named threat model; ``repr`` is the sentence that reports print.

    ``reads`` are the kinds of message that the view is made from, ``views`` the views that it
    may show, the most special first. Which one it is depends on what a federation can grant.
    ``adversary`` are the parties that pool what they have; a scenario may add more. ``wants``
    is what they are after: the other parties' columns, or the label of the active party.
    """

    name: str
    conduct: Conduct
    sees: str
    grants: frozenset[type[Grant]]
    reads: frozenset[str]
    views: tuple[type[V], ...]
    project: Project[V]
    adversary: tuple[str, ...] = (ACTIVE,)
    wants: str = COLUMNS

    @property
    def malicious(self) -> bool:
        """Whether the adversary breaks the protocol."""
        return self.conduct is Conduct.MALICIOUS

    @property
    def knows_people(self) -> bool:
        """Whether the adversary has complete records of some people."""
        return KnownPeople in self.grants

    def view_for(self, shows: frozenset[str], offers: frozenset[type[Grant]]) -> type[V] | None:
        """Return the view on a federation that shows and offers this, or None if it has none."""
        if not self.reads <= shows:
            return None
        allowed = tuple(self.grants)
        given = [kind for kind in offers if issubclass(kind, allowed)]
        for view in self.views:
            needs: tuple[type[Grant], ...] = getattr(view, "needs", ())
            if all(any(issubclass(kind, need) for kind in given) for need in needs):
                return view
        return None

    def covers(self, other: ThreatModel[Any]) -> bool:
        """Say whether this adversary holds all that another one holds, or more."""
        return bool(
            other.grants <= self.grants
            and other.reads <= self.reads
            and set(other.adversary) <= set(self.adversary)
            and (self.malicious or not other.malicious)
            and self.wants == other.wants
        )

    def sentence(self, coalition: Sequence[str] = ()) -> str:
        """Say in one sentence who attacks, how it behaves and what it knows."""
        ordered = sorted(self.grants, key=lambda kind: kind.__name__)
        given = "; ".join(kind.sentence for kind in ordered)
        granted = f" It is also given {given}." if given else " It is given nothing more."
        more = [party for party in coalition if party not in self.adversary]
        who = " and ".join([f"{self.adversary[0]} party", *self.adversary[1:], *more])
        return (
            f"The {who} {self.conduct.value}; it holds its own columns and sees "
            f"{self.sees}.{granted}"
        )

    def __repr__(self) -> str:
        """Return the sentence."""
        return self.sentence()


def plain_messages(received: Sequence[Message], *kinds: str) -> list[Floats]:
    """Return the plain values of some kinds of message, in the order in which they came."""
    return [
        message.payload.values
        for message in received
        if message.kind in kinds and isinstance(message.payload, Plain)
    ]


def averaged(rounds: Sequence[Sequence[Message]], kinds: frozenset[str]) -> list[Message]:
    """Return the messages of one request, with the mean of the answers to the same one repeated.

    Only plain messages of ``kinds`` are averaged: what a threat reads. Of the others the first
    round stands for all.
    """
    first, *more = rounds
    found = []
    for message, *again in zip(first, *more, strict=True):
        payloads = [m.payload for m in (message, *again)]
        values = [p.values for p in payloads if isinstance(p, Plain)]
        if again and message.kind in kinds and len(values) == len(payloads):
            message = replace(message, payload=Plain(sealed(np.mean(values, axis=0))))
        found.append(message)
    return found


def must_remember(memory: Memory, kind: type[K], what: str) -> K:
    """Return what is remembered of this kind, or say what is missing."""
    found: Any = memory.recall(kind)
    if found is None:
        raise WireError(f"the adversary kept no {what}")
    return found  # type: ignore[no-any-return]
