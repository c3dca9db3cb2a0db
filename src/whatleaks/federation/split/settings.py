"""How a split network is trained: what the passive parties and the active one agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from whatleaks.errors import UsageError
from whatleaks.models.picture_networks import Convolutions
from whatleaks.models.scaling import SCALINGS
from whatleaks.models.structures import Bottoms
from whatleaks.models.torch_network import TWO_LAYERS, Layers

# Bottom models by name; those on pictures need their height and colours.
CHANNELS = {"cnn": (8, 16), "residual": (8, 16, 16)}
NETWORKS = ("layers", *CHANNELS)


@dataclass(frozen=True)
class SplitSettings:
    """How a split network is trained; ``bottom`` is every passive party's network on tables.

    Two layers and Adam at 1e-4 as in Yao et al. for tabular data (appendix B). ``network``
    names another kind: ``cnn`` or ``residual`` on pictures of ``height`` and ``colours``.
    ``scaling``: what every party does to its own columns before its network sees them.
    ``decorrelation``: weight of the distance correlation in the passive party's loss (NoPeek).
    """

    extra: ClassVar[str] = "networks"

    steps: int = 1500
    batch: int = 64
    learning_rate: float = 1e-4
    bottom: Layers = TWO_LAYERS
    precision: str = "float64"
    network: str = "layers"
    height: int = 0
    colours: int = 1
    scaling: str = "none"
    decorrelation: float = 0.0

    @property
    def structure(self) -> Bottoms:
        """What the passive parties' networks, and the active party's own one, are made of."""
        if self.network == "layers":
            return self.bottom
        channels, residual = CHANNELS[self.network], self.network == "residual"
        return Convolutions(self.height, self.colours, channels, residual)

    def __post_init__(self) -> None:
        """Refuse what cannot train."""
        for name, known in (("network", NETWORKS), ("scaling", SCALINGS)):
            if getattr(self, name) not in known:
                raise UsageError(
                    f"unknown {name} {getattr(self, name)!r}: use one of {', '.join(known)}"
                )
        if self.network != "layers" and self.height < 1:
            raise UsageError(f"network {self.network!r} needs the height of the pictures")
        if not 0.0 <= self.decorrelation <= 1.0:
            raise UsageError(f"decorrelation must lie between 0 and 1, got {self.decorrelation}")
        if self.steps < 1 or self.batch < 1 or self.learning_rate <= 0.0:
            raise UsageError(
                "split training needs steps and batch of at least 1 and a learning rate above 0, "
                f"got {self.steps}, {self.batch} and {self.learning_rate}"
            )
