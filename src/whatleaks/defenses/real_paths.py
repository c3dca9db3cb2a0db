"""Answers only along the real path: a defense of SecureBoost's predictions."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from whatleaks.catalog import defense
from whatleaks.defenses.protocol import TrainingDefense


@defense(
    "real-paths",
    title="Nodes answer only about records that come to them",
    paper="whatleaks",
    needs="boosted trees whose owners answer at prediction",
)
@dataclass(frozen=True)
class RealPaths(TrainingDefense):
    """An owner checks its own nodes above; it cannot check what others say about theirs."""

    @property
    def name(self) -> str:
        """The defense."""
        return "real-paths"

    def adapt(self, settings: Any) -> Any | None:
        """Have owners check the path where a federation can."""
        if "real_paths" not in {f.name for f in fields(settings)}:
            return None
        return replace(settings, real_paths=True)
