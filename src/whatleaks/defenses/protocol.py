"""What a defense is. What it acts on is its type: a release, the training, the data."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from whatleaks.arrays import Bools, Floats


class ReleaseDefense(Protocol):
    """Changes scores before they leave the coordinator, so the transcript holds only the changed ones."""

    @property
    def name(self) -> str:
        """The short name under which results are stored."""
        ...

    def release(self, scores: Floats, rng: np.random.Generator) -> Floats:
        """Return the scores that leave the house."""
        ...


class WithholdingDefense(Protocol):
    """Decides record by record whether a score may leave at all; it sees both parties' columns."""

    @property
    def name(self) -> str:
        """The short name under which results are stored."""
        ...

    def allow(self, own: Floats, truth: Floats, scores: Floats) -> Bools:
        """Say for every record whether its score may be released."""
        ...


class TrainingDefense(Protocol):
    """Changes how the joint model is trained; nothing else."""

    @property
    def name(self) -> str:
        """The short name under which results are stored."""
        ...

    @property
    def dropout(self) -> float:
        """The share of hidden values that training leaves out at random."""
        ...


class DataDefense(Protocol):
    """Decides before any collaboration which columns the passive party contributes."""

    @property
    def name(self) -> str:
        """The short name under which results are stored."""
        ...

    def keep(self, active: Floats, passive: Floats) -> Bools:
        """Say for every passive column whether it may be contributed."""
        ...


Defense = ReleaseDefense | WithholdingDefense | TrainingDefense | DataDefense
