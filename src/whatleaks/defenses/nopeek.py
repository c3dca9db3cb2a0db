"""NoPeek (Vepakomma et al. 2020): the passive party unlearns what correlates with its columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from whatleaks.catalog import defense
from whatleaks.defenses.protocol import TrainingDefense
from whatleaks.errors import UsageError


@defense(
    "nopeek-0.9",
    title="Distance correlation of embeddings and columns lowered, weight 0.9",
    paper="Vepakomma et al. 2020 (ICDMW), as in Yao et al. 2025, Eq 6",
    needs="a passive party that adds a loss of its own to the gradients it is sent",
    settings={"alpha": 0.9},
    family=("nopeek", "alpha"),
)
@dataclass(frozen=True)
class NoPeek(TrainingDefense):
    """Train on alpha DCOR(x, h) + (1 - alpha) TASK (Yao et al. Eq 6)."""

    alpha: float = 0.9

    def __post_init__(self) -> None:
        """Refuse what is no weight."""
        if not 0.0 < self.alpha <= 1.0:
            raise UsageError(f"nopeek needs a weight above 0 and up to 1, got {self.alpha}")

    @property
    def name(self) -> str:
        """The defense and its weight."""
        return f"nopeek-{self.alpha:g}"

    def adapt(self, settings: Any) -> Any | None:
        """Set the weight, where a passive party trains a network of its own below a cut."""
        if not hasattr(settings, "decorrelation"):
            return None
        return replace(settings, decorrelation=self.alpha)
