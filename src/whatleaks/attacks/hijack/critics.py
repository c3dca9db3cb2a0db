"""Discriminators that tell a victim's embeddings from an encoder's, and the gradients they yield.

All give a malicious loss by the received embeddings, and learn from received and encoded ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from whatleaks.models.torch_network import Layers, Optimiser, build

if TYPE_CHECKING:
    import torch


class Critic(Protocol):
    """What a hijacker needs of a discriminator."""

    def malicious(self, received: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the loss that the passive party is made to lower."""
        ...

    def learn(
        self,
        received: torch.Tensor,
        labels: torch.Tensor,
        encoded: torch.Tensor,
        encoded_labels: torch.Tensor,
    ) -> None:
        """Take one step towards telling them apart."""
        ...


class WassersteinCritic:
    """Low on the encoder's embeddings, high on the received ones, slope kept at one (FSHA).

    Wasserstein loss with gradient penalty; labels are never used.
    """

    def __init__(
        self,
        width: int,
        hidden: tuple[int, ...],
        rate: float,
        penalty: float,
        rng: np.random.Generator,
        chance: torch.Generator,
        precision: str,
    ) -> None:
        self.network = build(width, Layers(hidden, 1), rng, precision)
        self._penalty, self._chance = penalty, chance
        self._step = Optimiser(self.network.parameters(), rate)

    def malicious(self, received: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the critic's mean: the victim is told to make it low."""
        del labels
        found: torch.Tensor = self.network(received).mean()
        return found

    def learn(
        self,
        received: torch.Tensor,
        labels: torch.Tensor,
        encoded: torch.Tensor,
        encoded_labels: torch.Tensor,
    ) -> None:
        """Lower on the encoder's embeddings, higher on the received ones."""
        import torch

        del labels, encoded_labels
        mix = torch.rand(len(received), 1, generator=self._chance, dtype=received.dtype)
        between = (mix * received + (1.0 - mix) * encoded).requires_grad_()
        (slope,) = torch.autograd.grad(self.network(between).sum(), between, create_graph=True)
        penalty = ((slope.norm(dim=1) - 1.0) ** 2).mean()
        loss = self.network(encoded).mean() - self.network(received).mean()
        self._step.follow(loss + self._penalty * penalty)


class PlainDiscriminator:
    """Real or fake, by cross entropy (Yao et al. V-C: what the auxiliary classifier is held against)."""

    def __init__(
        self,
        width: int,
        hidden: tuple[int, ...],
        rate: float,
        rng: np.random.Generator,
        precision: str,
    ) -> None:
        self.network = build(width, Layers(hidden, 1), rng, precision)
        self._step = Optimiser(self.network.parameters(), rate)

    def malicious(self, received: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return how far the received ones are from being taken for real."""
        del labels
        return _real(self.network(received))

    def learn(
        self,
        received: torch.Tensor,
        labels: torch.Tensor,
        encoded: torch.Tensor,
        encoded_labels: torch.Tensor,
    ) -> None:
        """Learn that the encoder's are real and the received ones are not."""
        del labels, encoded_labels
        self._step.follow(_real(self.network(encoded)) + _real(-self.network(received)))


def _real(logits: torch.Tensor) -> torch.Tensor:
    """Return -log sigmoid(logits), on average."""
    import torch

    return torch.nn.functional.softplus(-logits).mean()


class LabelledDiscriminator:
    """The discriminator with auxiliary classifier: real and fake of every class, 2k in all (Eq 2).

    Output y stands for y+ (real, class y), output k + y for y- (fake).
    """

    def __init__(
        self,
        width: int,
        hidden: tuple[int, ...],
        rate: float,
        classes: int,
        rng: np.random.Generator,
        precision: str,
    ) -> None:
        self.network = build(width, Layers(hidden, 2 * classes), rng, precision)
        self._classes = classes
        self._step = Optimiser(self.network.parameters(), rate)

    def malicious(self, received: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return L_M = mean CE(y+, D(h)) of the received embeddings (Eq 4)."""
        import torch

        return torch.nn.functional.cross_entropy(self.network(received), labels)

    def learn(
        self,
        received: torch.Tensor,
        labels: torch.Tensor,
        encoded: torch.Tensor,
        encoded_labels: torch.Tensor,
    ) -> None:
        """Lower L_D = mean CE(y-, D(h received)) + mean CE(y+, D(h encoded)) (Eq 5)."""
        import torch

        entropy = torch.nn.functional.cross_entropy
        fake = entropy(self.network(received), labels + self._classes)
        real = entropy(self.network(encoded), encoded_labels)
        self._step.follow(fake + real)
