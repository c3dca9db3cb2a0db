"""How a joint network is laid out and trained: what all its parties agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from whatleaks.errors import UsageError
from whatleaks.federation.schedule import refuse_untrainable

PAPER_SIZES = (600, 300, 100)  # U VI-A


@dataclass(frozen=True)
class JointNetworkSettings:
    """Layer sizes and training; ``dropout`` (U VII) is the share of hidden values left out in training."""

    extra: ClassVar[str] = "networks"

    hidden: tuple[int, ...] = PAPER_SIZES
    activation: str = "relu"
    dropout: float = 0.0
    steps: int = 1000
    batch: int = 64
    learning_rate: float = 0.001
    l2: float = 0.0

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        refuse_untrainable(self)
        if not self.hidden or min(self.hidden) < 1:
            raise UsageError(
                f"a joint network needs hidden layers of at least 1 unit, got {self.hidden}"
            )
        if not 0.0 <= self.dropout < 1.0:
            raise UsageError(f"dropout must be at least 0 and below 1, got {self.dropout}")
