"""URVFL (Yao, Li, Gong, Hou and Pan 2025): gradients that know the labels.

Encoder, decoder and own bottom model are trained on auxiliary records before the training
begins (Algorithm 1, Eq 1) and then frozen. During the training a discriminator with auxiliary
classifier (Eqs 2, 3) yields the gradients (Eq 4) and learns from each batch (Eq 5): the passive
model is led to answer as the encoder does for records of the same class, so a detector that
looks for labels in the gradients finds them.

The number of pre-training steps is fixed before anything is seen; no checkpoint is chosen by
the true error (the public code keeps the epoch that is best on the test truth).
``labelled=False`` replaces the discriminator by a plain one (V-C). Where a detector asks for
made-up labels, the hijacker trains on them, as an honest party would.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks import catalog
from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.hijack.critics import Critic, LabelledDiscriminator, PlainDiscriminator
from whatleaks.attacks.hijack.workshop import ForgingHijack, Reconstruction, Workshop
from whatleaks.codec import travels
from whatleaks.federation.roles import ActiveSeat, Batch, own_labels

NEEDS = (
    "auxiliary records with labels, the training labels, the embeddings it is sent; it answers with "
    "gradients of its own making"
)
PAPER = "Yao, Li, Gong, Hou, Pan 2025 (NDSS)"


@catalog.hijack(
    "urvfl",
    title="Hijacking by a discriminator that knows the labels, networks trained before",
    paper=f"{PAPER}, algorithms 1 and 2",
    needs=NEEDS,
)
@travels
@dataclass(frozen=True)
class Urvfl(ForgingHijack):
    """``pretraining``: steps on auxiliary records before the first batch; 0: they train along."""

    pretraining: int = 1500
    batch: int = 64
    labelled: bool = True
    name: str = "urvfl"

    def player(self, seat: ActiveSeat, rng: np.random.Generator) -> UrvflPlayer:
        """Set the networks up and train them as far as they are trained alone (Algorithm 1)."""
        made = UrvflPlayer(self, seat, rng)
        for _ in range(self.pretraining):
            made.workshop.train_autoencoder(made.workshop.draw(self.batch))
        return made


class UrvflPlayer:
    """URVFL or its synchronous variant at work during one training."""

    def __init__(self, settings: Urvfl, seat: ActiveSeat, rng: np.random.Generator) -> None:
        self.workshop, self._seat = Workshop(settings, seat, rng), seat
        self._along = settings.pretraining == 0
        width, hidden = self.workshop.width, settings.critic_hidden
        rate = settings.critic_learning_rate
        self.critic: Critic = (
            LabelledDiscriminator(width, hidden, rate, seat.classes, rng, seat.precision)
            if settings.labelled
            else PlainDiscriminator(width, hidden, rate, rng, seat.precision)
        )

    def respond(self, batch: Batch) -> Floats:
        """Return the gradient of L_M (Eq 4) by the embeddings, then lower L_D (Eq 5)."""
        import torch

        shop = self.workshop
        labels = torch.tensor(own_labels(self._seat, batch))
        drawn = shop.draw(len(batch.rows))
        if self._along:  # Algorithm 3: all networks learn in every round
            shop.train_autoencoder(drawn)
        received = shop.tensor(batch.embeddings).requires_grad_()
        (malicious,) = torch.autograd.grad(self.critic.malicious(received, labels), received)
        with torch.no_grad():
            encoded = shop.encode(shop.passive[drawn])
        self.critic.learn(received.detach(), labels, encoded, shop.labels[drawn])
        return sealed(malicious.numpy())

    def reading(self) -> Reconstruction:
        """Return what is taken home."""
        return self.workshop.reading()
