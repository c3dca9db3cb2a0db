"""What a defense is: it fits one of six sockets, and each socket is applied in one place.

| socket | where it acts | applied by |
|---|---|---|
| data | which columns are contributed | ``trial.preparing`` |
| training | the settings that the parties train with | ``trial.trial`` |
| message | numbers before the channel encodes them | ``wire.channel`` |
| release | scores before they leave the coordinator | ``Guard`` |
| gate | whether a score leaves at all | ``Guard`` |
| parameters | what is disclosed of the passive party's model | ``trial.stage`` |

A defense derives from one of these classes; which one says where it goes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from whatleaks.arrays import Bools, Floats

# own columns, scores -> the values that the attack of this name would guess
Simulate = Callable[[str, Floats, Floats], Floats]


class Defense(ABC):
    """Anything that fits a socket. ``socket`` is the word that listings and reports use."""

    socket: ClassVar[str]
    compared: ClassVar[tuple[str, ...]] = ()  # other settings to try where defenses are compared

    @property
    @abstractmethod
    def name(self) -> str:
        """The short name under which results are stored."""


class DataDefense(Defense):
    """Decides before any collaboration which columns the passive party contributes."""

    socket = "data"

    @abstractmethod
    def keep(self, active: Floats, passive: Floats) -> Bools:
        """Say for every passive column whether it may be contributed."""


class TrainingDefense(Defense):
    """Changes how the parties train, and nothing else."""

    socket = "training"

    @abstractmethod
    def adapt(self, settings: Any) -> Any | None:
        """Return a federation's settings with the defense in place, or None if it does not fit."""


class MessageDefense(Defense):
    """Changes numbers before the channel encodes them, so no transcript ever holds the others.

    ``kinds`` of message that it acts on; empty: whatever is sent.
    """

    socket = "message"
    kinds: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def alter(self, sender: str, kind: str, values: Floats, rng: np.random.Generator) -> Floats:
        """Return what ``sender`` sends instead of ``values``; the shape stays."""


class ReleaseDefense(Defense):
    """Changes scores before they leave the coordinator."""

    socket = "release"
    learns: ClassVar[bool] = False  # does it want to see the training records' scores first?

    @abstractmethod
    def release(self, scores: Floats, rng: np.random.Generator) -> Floats:
        """Return the scores that leave the house."""

    def follows(self, other: ReleaseDefense) -> bool:
        """Say whether whoever holds ``other``'s release can make this one from it.

        Then ``other`` cannot be safer: its adversary may throw away what this one does.
        """
        del other
        return False

    def learnt(self, scores: Floats) -> ReleaseDefense:
        """Return the defense after it has seen the training records' scores; most learn nothing."""
        del scores
        return self

    @property
    def asked(self) -> int:
        """How often its adversary asks about every record: more than once if answers differ."""
        return 1

    @property
    def answers_once(self) -> bool:
        """Whether whoever asks about a record again is sent the first answer."""
        return False

    def told(self) -> Mapping[str, Any]:
        """Return what an adversary who knows the defense sets on attacks that can use it."""
        return {}


class WithholdingDefense(Defense):
    """Decides record by record whether a score may leave at all; it sees both parties' columns."""

    socket = "gate"

    @abstractmethod
    def allow(self, own: Floats, truth: Floats, scores: Floats, simulate: Simulate) -> Bools:
        """Say for every record whether its score may be released."""


class ParameterDefense(Defense):
    """Blurs what the passive party discloses of its model; the federation keeps the true one."""

    socket = "parameters"

    def fits(self, kind: type[Any]) -> bool:
        """Say whether it blurs models of this kind of grant; others are disclosed as they are."""
        del kind
        return True

    def told(self) -> Mapping[str, Any]:
        """Return what an adversary who knows the defense sets on attacks that can use it."""
        return {}

    @abstractmethod
    def disclose(self, grant: Any, columns: Floats, rng: np.random.Generator) -> Any:
        """Return the grant that is handed out instead of the true one.

        ``columns`` are the passive side's own training records: it knows what it protects.
        """


def _no_simulation(attack: str, own: Floats, scores: Floats) -> Floats:
    raise AssertionError("no gate is in place: nothing simulates an attack")


def _nothing() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(0))


@dataclass(frozen=True)
class Guard:
    """What stands at the door when scores leave: release defenses in turn, then a gate."""

    release: Sequence[ReleaseDefense] = ()
    gate: WithholdingDefense | None = None
    rng: np.random.Generator = field(default_factory=_nothing)
    simulate: Simulate = _no_simulation
    # What a message defense does to numbers on their way, for predictions on channels of their own.
    alter: Callable[[str, str, Floats], Floats] | None = None

    def apply(self, scores: Floats, before: Floats | None = None) -> Floats:
        """Let every release defense act on the scores; ``before``: what left of these records earlier."""
        if before is not None and any(defense.answers_once for defense in self.release):
            return before
        for defense in self.release:
            scores = defense.release(scores, self.rng)
        return scores


OPEN = Guard()
