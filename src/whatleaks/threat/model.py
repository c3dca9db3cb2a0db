"""Threat models: who the adversary is, how it behaves, what it is granted, what it sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from whatleaks.arrays import Floats, Ints
from whatleaks.models.regression_history import RegressionHistory
from whatleaks.threat.grants import Grant, Granted
from whatleaks.wire.message import Message

V = TypeVar("V")


class Conduct(Enum):
    """Whether the adversary follows the protocol."""

    CURIOUS = "follows the protocol and is curious"
    MALICIOUS = "breaks the protocol"


@dataclass(frozen=True)
class Own:
    """What the adversary holds without any message: its columns, its labels, the partner's schema.

    ``regression`` is what it remembers of training a regression, whose targets are real.
    """

    target: Floats
    training: Floats
    labels: Ints
    unknown: int
    regression: RegressionHistory | None = None


Project = Callable[[Sequence[Message], Own, Granted], V]


@dataclass(frozen=True, repr=False)
class ThreatModel(Generic[V]):
    """A named threat model; ``repr`` is the sentence that reports print."""

    name: str
    adversary: str
    conduct: Conduct
    sees: str
    grants: frozenset[Grant]
    view: type[V]
    project: Project[V]

    def __repr__(self) -> str:
        """Say in one sentence who attacks, how it behaves and what it knows."""
        given = "; ".join(grant.value for grant in sorted(self.grants, key=lambda g: g.name))
        granted = f" It is also given {given}." if given else " It is given nothing more."
        return (
            f"The {self.adversary} {self.conduct.value}; it holds its own columns and sees "
            f"{self.sees}.{granted}"
        )
