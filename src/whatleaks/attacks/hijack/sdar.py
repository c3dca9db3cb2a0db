"""SDAR (Zhu, Luo, Wu, Jiang, Xiao and Ooi 2023), adapted as in Yao et al. VI-B: PCAT with two
discriminators.

The active party answers honestly. The shadow learns the labels below the live top model and,
with weight ``embedding_weight``, to give embeddings that a discriminator takes for the passive
party's. The decoder learns to reconstruct auxiliary records from shadow embeddings (Eq 1) and,
with weight ``record_weight``, to make records that a second discriminator takes for auxiliary
ones. Shadow and decoder train along, and the decoder's loss trains the shadow too, as in Yao et
al.'s code. The two weights are ours; neither paper's text gives them for tables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks import catalog
from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.hijack.critics import PlainDiscriminator
from whatleaks.attacks.hijack.honest_loss import HonestLoss
from whatleaks.attacks.hijack.workshop import ForgingHijack, Reconstruction, Workshop
from whatleaks.codec import travels
from whatleaks.federation.roles import ActiveSeat, Batch
from whatleaks.models.torch_network import Optimiser


@catalog.hijack(
    "sdar",
    title="A shadow that must pass for the passive model, trained beside an honest training",
    paper="Zhu et al. 2023, adapted to VFL as in Yao et al. 2025",
    needs="auxiliary records with labels, the embeddings it is sent; it answers honestly",
    obeys=True,
    again=False,
)
@travels
@dataclass(frozen=True)
class AdversarialShadow(ForgingHijack):
    """The weights of the two discriminators."""

    embedding_weight: float = 0.1
    record_weight: float = 0.01
    name: str = "sdar"

    def player(self, seat: ActiveSeat, rng: np.random.Generator) -> SdarPlayer:
        """Set the networks up."""
        return SdarPlayer(self, seat, rng)


class SdarPlayer:
    """SDAR at work during one training."""

    def __init__(
        self, settings: AdversarialShadow, seat: ActiveSeat, rng: np.random.Generator
    ) -> None:
        shop = self.workshop = Workshop(settings, seat, rng)
        self._settings = settings
        self._honest = HonestLoss(1.0, seat, shop, rng)
        hidden, rate = settings.critic_hidden, settings.critic_learning_rate
        self._embeddings = PlainDiscriminator(shop.width, hidden, rate, rng, seat.precision)
        records = shop.passive.shape[1]
        self._records = PlainDiscriminator(records, hidden, rate, rng, seat.precision)
        networks = (*shop.bottom.parameters(), *shop.decoder.parameters())
        self._step = Optimiser([*shop.encoder_parameters(), *networks], settings.learning_rate)

    def respond(self, batch: Batch) -> Floats:
        """Answer honestly; then train shadow, decoder and both discriminators."""
        import torch

        answered = self._honest.gradient(batch)
        shop, chosen, ignored = self.workshop, self._settings, self.workshop.labels[:0]
        received, drawn = shop.tensor(batch.embeddings), shop.draw(len(batch.rows))
        own, passive, labels = shop.own[drawn], shop.passive[drawn], shop.labels[drawn]
        shadow = shop.encode(passive)
        decoded = shop.decode(own, shadow)
        self._step.follow(
            self._honest.model.loss(own, shadow, labels)
            + chosen.embedding_weight * self._embeddings.malicious(shadow, ignored)
            + torch.nn.functional.mse_loss(decoded, passive)
            + chosen.record_weight * self._records.malicious(decoded, ignored)
        )
        self._embeddings.learn(shadow.detach(), ignored, received, ignored)
        self._records.learn(decoded.detach(), ignored, passive, ignored)
        return sealed(answered.numpy())

    def reading(self) -> Reconstruction:
        """Return what is taken home."""
        return self.workshop.reading()
