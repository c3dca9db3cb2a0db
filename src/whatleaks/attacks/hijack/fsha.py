"""FSHA: the feature-space hijacking attack (Pasquini, Ateniese and Bernaschi 2021) in a
vertical federation, as Yao et al. adapt it (section VI-B).

Encoder, decoder and own bottom model are trained on auxiliary records while the training runs;
a critic on embeddings yields the gradients that are returned. The passive model learns to
answer as the encoder would, and the decoder then reads its answers.

Losses are FSHA's own: Wasserstein with gradient penalty, weight 500 (Yao et al.'s code offers
cross entropy as well, without a penalty). Labels are not used, which is what a label probe
detects; with ``classification`` above 0 the loss of an honest top model is added with this
weight (Yao et al. IV, Fig 2: their code uses 0.001). Learning rates: ten times Yao et al.'s 1e-4
for a tenth of their steps or less; the critic's is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks import catalog
from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.hijack.critics import WassersteinCritic
from whatleaks.attacks.hijack.honest_loss import HonestLoss
from whatleaks.attacks.hijack.workshop import ForgingHijack, Reconstruction, Workshop
from whatleaks.codec import travels
from whatleaks.federation.roles import ActiveSeat, Batch


@catalog.hijack(
    "fsha",
    title="Feature-space hijacking of split training",
    paper="Pasquini et al. 2021, adapted to VFL as in Yao, Li, Gong, Hou, Pan 2025 (NDSS)",
    needs="auxiliary records, the embeddings it is sent; it answers with gradients of its own making",
)
@travels
@dataclass(frozen=True)
class FeatureSpaceHijack(ForgingHijack):
    """The hijacker's settings. It holds auxiliary records and what it receives; no more."""

    penalty: float = 500.0
    classification: float = 0.0
    name: str = "fsha"

    def player(self, seat: ActiveSeat, rng: np.random.Generator) -> FshaPlayer:
        """Set the networks up."""
        return FshaPlayer(self, seat, rng)


class FshaPlayer:
    """FSHA at work during one training."""

    def __init__(
        self, settings: FeatureSpaceHijack, seat: ActiveSeat, rng: np.random.Generator
    ) -> None:
        self.workshop = Workshop(settings, seat, rng)
        self._critic = WassersteinCritic(
            self.workshop.width,
            settings.critic_hidden,
            settings.critic_learning_rate,
            settings.penalty,
            rng,
            self.workshop.chance,
            seat.precision,
        )
        self._honest = None
        if settings.classification:
            self._honest = HonestLoss(settings.classification, seat, self.workshop, rng)

    def respond(self, batch: Batch) -> Floats:
        """Return the critic's gradient by the received embeddings, then train on them."""
        import torch

        shop = self.workshop
        received = shop.tensor(batch.embeddings).requires_grad_()
        ignored = shop.labels[:0]
        (malicious,) = torch.autograd.grad(self._critic.malicious(received, ignored), received)
        if self._honest is not None:
            malicious = malicious + self._honest.gradient(batch)
        encoded = shop.train_autoencoder(shop.draw(len(received)))
        self._critic.learn(received.detach(), ignored, encoded, ignored)
        return sealed(malicious.numpy())

    def reading(self) -> Reconstruction:
        """Return what is taken home."""
        return self.workshop.reading()
