"""The honest active party of a split federation: its own bottom model and the top model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.federation.roles import PredictingRole
from whatleaks.models.torch_network import TWO_LAYERS, Layers, build, torch_dtype


@dataclass(frozen=True)
class HonestSettings:
    """Networks and learning rate (SplitGuard's code: Adam at 1e-3) of the honest active party."""

    bottom: Layers = TWO_LAYERS
    top_hidden: tuple[int, ...] = (32,)
    learning_rate: float = 1e-3
    precision: str = "float64"


class HonestActive(PredictingRole):
    """Learns the labels: L = mean cross entropy of f_0([f_a(x_a) || h_p]) (Yao et al. III-A)."""

    def __init__(
        self,
        own: Floats,
        labels: Ints,
        classes: int,
        embedding: int,
        settings: HonestSettings,
        rng: np.random.Generator,
    ) -> None:
        import torch

        self._dtype = torch_dtype(settings.precision)
        self._own = torch.tensor(own, dtype=self._dtype)
        self._labels = torch.tensor(labels)
        self.bottom = build(own.shape[1], settings.bottom, rng, settings.precision)
        top = Layers(settings.top_hidden, classes, settings.bottom.activation)
        self.top = build(settings.bottom.output + embedding, top, rng, settings.precision)
        self._optimiser = torch.optim.Adam(
            [*self.bottom.parameters(), *self.top.parameters()],
            lr=settings.learning_rate,
            fused=True,
        )

    def respond(self, rows: Ints, embeddings: Floats, labels: Ints | None) -> Floats:
        """Take one training step; return the gradient of the loss by the embeddings."""
        import torch

        index = torch.tensor(rows)
        wanted = self._labels[index] if labels is None else torch.tensor(labels)
        received = torch.tensor(embeddings, dtype=self._dtype).requires_grad_()
        joined = torch.cat([self.bottom(self._own[index]), received], dim=1)
        loss = torch.nn.functional.cross_entropy(self.top(joined), wanted)
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        assert received.grad is not None
        return sealed(received.grad.numpy())

    def scores(self, own: Floats, embeddings: Floats) -> Floats:
        """Return class probabilities, one row per record."""
        import torch

        with torch.no_grad():
            bottom = self.bottom(torch.tensor(own, dtype=self._dtype))
            joined = torch.cat([bottom, torch.tensor(embeddings, dtype=self._dtype)], dim=1)
            return sealed(torch.softmax(self.top(joined), dim=1).numpy())

    def accuracy(self, own: Floats, embeddings: Floats, labels: Ints) -> float:
        """Return the share of records whose likeliest class is their label."""
        return float(np.mean(self.scores(own, embeddings).argmax(axis=1) == labels))
