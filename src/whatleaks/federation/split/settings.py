"""How a split network is trained: what the passive parties and the active one agree on."""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.errors import UsageError
from whatleaks.models.torch_network import TWO_LAYERS, Layers


@dataclass(frozen=True)
class SplitSettings:
    """How a split network is trained; ``bottom`` is every passive party's network.

    Two layers and Adam at 1e-4 as in Yao et al. for tabular data (appendix B). Deviation: the
    embedding is the second layer's plain output, without an activation after it.
    """

    steps: int = 1500
    batch: int = 64
    learning_rate: float = 1e-4
    bottom: Layers = TWO_LAYERS
    precision: str = "float64"

    def __post_init__(self) -> None:
        """Refuse what cannot train."""
        if self.steps < 1 or self.batch < 1 or self.learning_rate <= 0.0:
            raise UsageError(
                "split training needs steps and batch of at least 1 and a learning rate above 0, "
                f"got {self.steps}, {self.batch} and {self.learning_rate}"
            )


@dataclass(frozen=True)
class HonestSettings:
    """Networks and learning rate (SplitGuard's code: Adam at 1e-3) of the honest active party."""

    bottom: Layers = TWO_LAYERS
    top_hidden: tuple[int, ...] = (32,)
    learning_rate: float = 1e-3
    precision: str = "float64"
