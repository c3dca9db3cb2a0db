"""Which records every batch holds: agreed by all parties before they train."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed_ints
from whatleaks.errors import UsageError, WireError


class TrainingSettings(Protocol):
    """What a party needs to know to train its part."""

    @property
    def steps(self) -> int:
        """Batches to train on."""
        ...

    @property
    def batch(self) -> int:
        """Records in a batch."""
        ...

    @property
    def learning_rate(self) -> float:
        """Adam's rate at the start."""
        ...


def refuse_untrainable(settings: TrainingSettings) -> None:
    """Refuse settings that cannot train."""
    for name in ("steps", "batch"):
        if getattr(settings, name) < 1:
            raise UsageError(f"{name} must be at least 1, got {getattr(settings, name)}")
    if settings.learning_rate <= 0:
        raise UsageError(f"learning_rate must be positive, got {settings.learning_rate}")


def agreed_batches(
    records: int, settings: TrainingSettings, rng: np.random.Generator
) -> tuple[Ints, ...]:
    """Return the rows of every batch: whole passes in random order, what is left over dropped."""
    if records < 1:
        raise UsageError("there is no record to train on")
    size = min(settings.batch, records)
    chosen: list[Ints] = []
    while len(chosen) < settings.steps:
        order = rng.permutation(records)
        for start in range(0, records - size + 1, size):
            chosen.append(sealed_ints(order[start : start + size]))
    return tuple(chosen[: settings.steps])


def whole_rows(asked: Floats, records: int) -> Ints:
    """Read the numbers of records that another party asks for; others than there are are refused."""
    rows = asked.astype(np.int64)
    if (rows != asked).any() or (rows < 0).any() or (rows >= records).any():
        raise WireError(f"records must be whole numbers from 0 to {records - 1}")
    return rows
