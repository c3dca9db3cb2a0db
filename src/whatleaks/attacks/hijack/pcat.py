"""PCAT (Gao and Zhang 2023), adapted to a vertical federation (Yao et al. VI-B): it only watches.

The active party keeps to the protocol: every answer is the honest gradient. Beside it a shadow
of the passive model is trained on auxiliary records, through the live top model, to predict
their labels; after the training a decoder is trained on the shadow's embeddings and reads the
passive party's. No detector can notice it, for there is nothing to notice.

The number of the decoder's steps is fixed beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks import catalog
from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.hijack.honest_loss import HonestLoss
from whatleaks.attacks.hijack.workshop import ForgingHijack, Reconstruction, Workshop
from whatleaks.codec import travels
from whatleaks.federation.roles import ActiveSeat, Batch
from whatleaks.models.torch_network import Optimiser


@catalog.hijack(
    "pcat",
    title="A shadow of the passive model, trained beside an honest training",
    paper="Gao, Zhang 2023 (USENIX Security), adapted to VFL as in Yao et al. 2025",
    needs="auxiliary records with labels, the embeddings it is sent; it answers honestly",
    obeys=True,
    again=False,
)
@travels
@dataclass(frozen=True)
class PseudoClient(ForgingHijack):
    """``decoding``: steps that the decoder is trained for after the training."""

    decoding: int = 1500
    batch: int = 64
    name: str = "pcat"

    def player(self, seat: ActiveSeat, rng: np.random.Generator) -> PcatPlayer:
        """Set the networks up."""
        return PcatPlayer(self, seat, rng)


class PcatPlayer:
    """PCAT at work during one training."""

    def __init__(self, settings: PseudoClient, seat: ActiveSeat, rng: np.random.Generator) -> None:
        shop = self.workshop = Workshop(settings, seat, rng)
        self._settings = settings
        self._honest = HonestLoss(1.0, seat, shop, rng)
        self._shadow_step = Optimiser(shop.encoder_parameters(), settings.learning_rate)

    def respond(self, batch: Batch) -> Floats:
        """Answer honestly; then let the shadow learn the labels below the same top model."""
        answered = self._honest.gradient(batch)
        shop = self.workshop
        drawn = shop.draw(len(batch.rows))
        shadow = shop.encode(shop.passive[drawn])
        loss = self._honest.model.loss(shop.own[drawn], shadow, shop.labels[drawn])
        self._shadow_step.follow(loss)
        return sealed(answered.numpy())

    def reading(self) -> Reconstruction:
        """Train own bottom model and decoder on the frozen shadow (Eq 1), and take them home."""
        import torch

        shop = self.workshop
        networks = [*shop.bottom.parameters(), *shop.decoder.parameters()]
        step = Optimiser(networks, self._settings.learning_rate)
        with torch.no_grad():
            shadow = shop.encode(shop.passive)
        for _ in range(self._settings.decoding):
            drawn = shop.draw(self._settings.batch)
            decoded = shop.decode(shop.own[drawn], shadow[drawn])
            step.follow(torch.nn.functional.mse_loss(decoded, shop.passive[drawn]))
        return shop.reading()
