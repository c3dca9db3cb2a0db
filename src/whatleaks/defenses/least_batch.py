"""A least batch: fewer equations than unknowns in every step (Li et al., 4.1: n_B >= m_k is necessary)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from whatleaks.catalog import defense
from whatleaks.defenses.protocol import TrainingDefense


@defense(
    "least-batch-80",
    title="Batches of at least 80 records, and no column beyond those agreed",
    paper="whatleaks",
    needs="an encrypted regression with an arbiter",
)
@dataclass(frozen=True)
class LeastBatch(TrainingDefense):
    """Without the second half it stops nobody: columns that are made up give as many equations as wanted."""

    @property
    def name(self) -> str:
        """The defense."""
        return "least-batch-80"

    def adapt(self, settings: Any) -> Any | None:
        """Enlarge batches where a federation can."""
        if "least_batch" not in {f.name for f in fields(settings)}:
            return None
        return replace(settings, least_batch=80)
