"""Dropout in training the joint network (Luo et al., section VII)."""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.errors import UsageError


@dataclass(frozen=True)
class Dropout:
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
