"""Shuffled batches: no two steps of an encrypted regression are on the same records."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from whatleaks.catalog import defense
from whatleaks.defenses.protocol import TrainingDefense


@defense(
    "shuffled-batches",
    title="Batches in another order in every epoch",
    paper="whatleaks",
    needs="an encrypted regression with an arbiter",
)
@dataclass(frozen=True)
class ShuffledBatches(TrainingDefense):
    """The order follows from a seed that all data parties know: it hides nothing by itself."""

    @property
    def name(self) -> str:
        """The defense."""
        return "shuffled-batches"

    def adapt(self, settings: Any) -> Any | None:
        """Shuffle where a federation can."""
        if "shuffle" not in {f.name for f in fields(settings)}:
            return None
        return replace(settings, shuffle=True)
