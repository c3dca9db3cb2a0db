"""The loss of an honest top model beside a malicious one: a hijacker that hides behind the label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from whatleaks.attacks.hijack.workshop import Workshop
from whatleaks.federation.roles import ActiveSeat, Batch, own_labels
from whatleaks.models.split_top import TopModel, TopSettings

if TYPE_CHECKING:
    import torch


class HonestLoss:
    """A top model that learns the labels asked for; its gradient is added with a weight."""

    def __init__(
        self, weight: float, seat: ActiveSeat, workshop: Workshop, rng: np.random.Generator
    ) -> None:
        self._weight, self._seat, self._workshop = weight, seat, workshop
        settings = TopSettings(bottom=seat.bottoms[0], precision=seat.precision)
        self.model = TopModel(seat.own.shape[1], sum(seat.widths), seat.classes, settings, rng)

    def gradient(self, batch: Batch) -> torch.Tensor:
        """Take one honest training step; return the weighted gradient by the embeddings."""
        import torch

        shop = self._workshop
        received = shop.tensor(batch.embeddings).requires_grad_()
        own = shop.training_own[torch.tensor(batch.rows)]
        wanted = torch.tensor(own_labels(self._seat, batch))
        self.model.follow(self.model.loss(own, received, wanted))
        assert received.grad is not None
        found: torch.Tensor = self._weight * received.grad
        return found
