"""The honest upper half of a split network: the active party's bottom and top model.

L = mean cross entropy of f_0([f_a(x_a) || h_p]) (Yao et al. III-A). The honest active party
trains it; so does an adversary that keeps to the protocol, or that hides behind the label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.models.structures import Bottoms, made, outputs_of
from whatleaks.models.torch_network import TWO_LAYERS, Layers, Optimiser, build

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class TopSettings:
    """Networks and learning rate (SplitGuard's code: Adam at 1e-3) of the active party."""

    bottom: Bottoms = TWO_LAYERS
    top_hidden: tuple[int, ...] = (32,)
    learning_rate: float = 1e-3
    precision: str = "float64"


class TopModel:
    """f_a and f_0 with their optimiser."""

    def __init__(
        self,
        columns: int,
        width: int,
        classes: int,
        settings: TopSettings,
        rng: np.random.Generator,
    ) -> None:
        self.settings = settings
        self.bottom = made(settings.bottom, columns, rng, settings.precision)
        inputs = outputs_of(settings.bottom, columns) + width
        top = Layers(settings.top_hidden, classes)
        self.top = build(inputs, top, rng, settings.precision)
        parameters = [*self.bottom.parameters(), *self.top.parameters()]
        self._optimiser = Optimiser(parameters, settings.learning_rate)

    def logits(self, own: torch.Tensor, embeddings: torch.Tensor) -> torch.Tensor:
        """Return f_0([f_a(x_a) || h_p])."""
        import torch

        found: torch.Tensor = self.top(torch.cat([self.bottom(own), embeddings], dim=1))
        return found

    def loss(
        self, own: torch.Tensor, embeddings: torch.Tensor, labels: torch.Tensor
    ) -> torch.Tensor:
        """Return the mean cross entropy."""
        import torch

        return torch.nn.functional.cross_entropy(self.logits(own, embeddings), labels)

    def follow(self, loss: torch.Tensor) -> None:
        """Take one step along the gradient of a loss."""
        self._optimiser.follow(loss)
