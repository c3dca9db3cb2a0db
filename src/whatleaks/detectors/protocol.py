"""Detectors live in the passive party: they may probe a batch, and they may halt training.

A detector is a frozen setting; ``start`` gives the watch of one training run. What it is
granted is declared like an attack's grants, for a report must print it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, runtime_checkable

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed_ints


class DetectorGrant(Enum):
    """One power or piece of knowledge of a detector; the value is the sentence a report prints."""

    REPLACE_LABELS = (
        "the power to have the active party train on made-up labels for a batch of its choice "
        "(the passive party holds no labels, so it must ask, and the asking shows which batch)"
    )
    CLASSES = "the number of classes of the label"
    LABELS = (
        "the label of every training record (the passive party of a vertical federation holds "
        "none: somebody must give them away)"
    )
    PUBLIC_RECORDS = (
        "complete public records, with both parties' columns and labels, and how the active "
        "party trains: to rehearse honest training at home"
    )


@dataclass(frozen=True)
class Probe:
    """A batch that the bottom model is not trained on.

    It is to be answered with these ``labels``, if there are any. ``anchor``: the record of the batch
    whose embedding is sent for all of them.
    """

    labels: Ints = field(default_factory=lambda: sealed_ints([]))
    anchor: int | None = None


@dataclass(frozen=True)
class Received:
    """What the passive party holds after one answer.

    ``embedding`` is the gradient it received; ``first_weights`` is the gradient of its own
    first layer's weight matrix that follows from it, flattened. ``labels`` of the batch are
    there only for a detector that declares ``LABELS``.
    """

    embedding: Floats
    first_weights: Floats
    labels: Ints | None = None


@dataclass(frozen=True)
class Continue:
    """Nothing that calls for a halt. ``score`` is None when this batch was not scored."""

    score: float | None = None


@dataclass(frozen=True)
class Halt:
    """Stop updating the bottom model: a result, not an error."""

    score: float
    reason: str


Signal = Continue | Halt  # what a watch tells the training after every answer


class Watch(Protocol):
    """A detector at work during one training run."""

    def choose(self, step: int, size: int, rng: np.random.Generator) -> Probe | None:
        """Decide, before a batch of ``size`` records is answered, whether to probe with it."""
        ...

    def observe(
        self, step: int, received: Received, probe: Probe | None, rng: np.random.Generator
    ) -> Signal:
        """Judge the answer to one batch."""
        ...


class Detector(Protocol):
    """A frozen setting of a detection method.

    One that declares ``PUBLIC_RECORDS`` is a ``Rehearsing`` detector.
    """

    @property
    def name(self) -> str:
        """The short name under which results are stored."""
        ...

    @property
    def grants(self) -> tuple[DetectorGrant, ...]:
        """What the passive party must be given for it."""
        ...

    def start(self) -> Watch:
        """Begin one training run with a clean memory."""
        ...


@runtime_checkable
class Rehearsing(Protocol):
    """A detector that compares with honest trainings that the passive party rehearsed alone."""

    rehearsals: int  # how many
    watched: int  # how many steps of each

    def compare(self, rehearsed: tuple[Floats, ...]) -> Watch:
        """Begin one training run; of every rehearsal come the answers' lengths, step by record."""
        ...


def lengths(answer: Floats) -> Floats:
    """Return the length of every record's gradient, free of the batch's size (losses are means)."""
    found: Floats = np.linalg.norm(answer, axis=1) * len(answer)
    return found
