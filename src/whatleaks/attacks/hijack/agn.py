"""AGN (Vu, Tre'R, Alharbi and Thai 2023) as Yao et al. describe it (VI-B): a generator that is
judged by how real its records look.

The generator makes passive columns from the own columns and the received embeddings,
x~ = f_d([f_a(x_a) || h_p]); a discriminator tells records with generated columns from
auxiliary ones. The gradient by the embeddings of "take these for real" is returned, so the
passive model learns to help the generator. Nothing says that x~ must be the record's own
columns: only that it looks like somebody's beside x_a.

With ``classification`` above 0 the loss of an honest top model is added with this weight
(Yao et al. IV, Fig 2: their code uses 0.001). Deviation: the generator has the decoder's shape
and sees the own columns through f_a only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    "agn",
    title="Hijacking by a generator whose records must look real",
    paper="Vu, Tre'R, Alharbi, Thai 2023, as in Yao et al. 2025",
    needs="auxiliary records, the embeddings it is sent; it answers with gradients of its own making",
    again=False,
)
@travels
@dataclass(frozen=True)
class ActiveGenerator(ForgingHijack):
    """The hijacker's settings."""

    classification: float = 0.0
    name: str = "agn"

    def player(self, seat: ActiveSeat, rng: np.random.Generator) -> AgnPlayer:
        """Set the networks up."""
        return AgnPlayer(self, seat, rng)


class AgnPlayer:
    """AGN at work during one training."""

    def __init__(
        self, settings: ActiveGenerator, seat: ActiveSeat, rng: np.random.Generator
    ) -> None:
        shop = self.workshop = Workshop(settings, seat, rng)
        width = shop.own.shape[1] + shop.passive.shape[1]
        self._critic = PlainDiscriminator(
            width, settings.critic_hidden, settings.critic_learning_rate, rng, seat.precision
        )
        generator = [*shop.bottom.parameters(), *shop.decoder.parameters()]
        self._step = Optimiser(generator, settings.learning_rate)
        self._honest = None
        if settings.classification:
            self._honest = HonestLoss(settings.classification, seat, shop, rng)

    def respond(self, batch: Batch) -> Floats:
        """Return the gradient of "take x~ for real" by the embeddings; train both networks."""
        import torch

        shop, ignored = self.workshop, self.workshop.labels[:0]
        received = shop.tensor(batch.embeddings).requires_grad_()
        own = shop.training_own[torch.tensor(batch.rows)]
        generated = torch.cat([own, shop.decode(own, received)], dim=1)
        self._step.follow(self._critic.malicious(generated, ignored))
        assert received.grad is not None
        malicious = received.grad
        if self._honest is not None:
            malicious = malicious + self._honest.gradient(batch)
        drawn = shop.draw(len(received))
        real = torch.cat([shop.own[drawn], shop.passive[drawn]], dim=1)
        self._critic.learn(generated.detach(), ignored, real, ignored)
        return sealed(malicious.numpy())

    def reading(self) -> Reconstruction:
        """Return what is taken home: there is no encoder that the victim was to become."""
        return replace(self.workshop.reading(), encoders=())
