"""Dropout in training the joint network (Luo et al., section VII)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from whatleaks.catalog import defense
from whatleaks.defenses.protocol import TrainingDefense
from whatleaks.errors import UsageError


@defense(
    "dropout-0.5",
    title="Half of the hidden values left out in training",
    paper="Luo et al. 2021",
    needs="a network whose training can be repeated",
    settings={"dropout": 0.5},
    family=("dropout", "dropout"),
)
@dataclass(frozen=True)
class Dropout(TrainingDefense):
    """Leave out a share of the hidden values, chosen anew in every training step."""

    dropout: float = 0.5

    def __post_init__(self) -> None:
        """Refuse a share that leaves nothing."""
        if not 0.0 < self.dropout < 1.0:
            raise UsageError(f"dropout must lie between 0 and 1, got {self.dropout}")

    @property
    def name(self) -> str:
        """The defense and its share."""
        return f"dropout-{self.dropout:g}"

    def adapt(self, settings: Any) -> Any | None:
        """Set the rate of a federation that knows dropout; additive networks are too small for it."""
        if not any(f.name == "dropout" for f in fields(settings)):
            return None
        return replace(settings, dropout=self.dropout)
