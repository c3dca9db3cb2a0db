"""FSHA: the feature-space hijacking attack (Pasquini, Ateniese and Bernaschi 2021) in a
vertical federation, as Yao et al. adapt it (section VI-B).

The hijacker trains, on auxiliary records alone, an encoder f_e shaped like the passive
bottom model (one for each passive party), a bottom model f_a for its own columns and a
decoder f_d([h_a || h_p]) to the passive columns. A discriminator on embeddings yields the
gradients it returns: the passive model learns to answer as the encoder would, and the
decoder then reads its answers.

Losses are FSHA's own: Wasserstein with gradient penalty, weight 500 (Yao et al.'s code offers
cross entropy as well, without a penalty). Their signs: the critic is low on the encoder's
embeddings, and the passive party is told to make it low. Labels are never used, which is what
a label probe detects. Learning rates: 1e-4 as in Yao et al. (appendix B), and ten times that
for the critic, which is FSHA's own ratio (1e-5 and 1e-4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whatleaks import catalog
from whatleaks.arrays import Floats, sealed
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.federation.roles import ActiveSeat, Post, Programme, answer, next_batch
from whatleaks.models.additive import Bottom
from whatleaks.models.linear import Linear
from whatleaks.models.torch_network import (
    TWO_LAYERS,
    Layers,
    Optimiser,
    build,
    export,
    torch_dtype,
)
from whatleaks.seeds import torch_seed
from whatleaks.threat.grants import Auxiliary
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.split import SplitView

if TYPE_CHECKING:
    import torch


@travels
@dataclass(frozen=True)
class FshaReconstruction:
    """What the hijacker takes home from training: x~ = f_d([f_a(x_a) || h_p]) (Yao et al. V-D)."""

    own_bottom: Bottom
    decoder: Bottom
    name: str = "fsha"

    def infer(self, view: SplitView, rng: np.random.Generator) -> ValueGuess:
        """Decode the embeddings of all target records at once."""
        del rng
        first = self.own_bottom
        width = len(first.weights if isinstance(first, Linear) else first.weights[0])
        if view.own.shape[1] != width:
            raise AttackError(
                f"FSHA trained on {width} own columns and is shown {view.own.shape[1]}: it "
                "reads what the active party alone was sent"
            )
        joined = np.concatenate([first.logits(view.own), view.embeddings], axis=1)
        return ValueGuess(sealed(self.decoder.logits(joined)))


@catalog.hijack(
    "fsha",
    title="Feature-space hijacking of split training",
    paper="Pasquini et al. 2021, adapted to VFL as in Yao, Li, Gong, Hou, Pan 2025 (NDSS)",
    needs="auxiliary records, the embeddings it is sent; it answers with gradients of its own making",
)
@travels
@dataclass(frozen=True)
class FeatureSpaceHijack:
    """The hijacker's settings. It holds auxiliary records and what it receives; no more."""

    own_bottom: Layers = TWO_LAYERS
    decoder_hidden: tuple[int, ...] = (64, 64)
    critic_hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 1e-4
    critic_learning_rate: float = 1e-3
    penalty: float = 500.0
    precision: str = "float64"
    name: str = "fsha"

    def programme(
        self, seat: ActiveSeat, post: Post, rng: np.random.Generator
    ) -> Programme[FshaReconstruction]:
        """Answer every batch with the critic's gradient; ignore rows and labels."""
        networks = Networks(self, seat, rng)
        for step in range(len(seat.schedule)):
            batch = yield from next_batch(seat, step, post)
            if batch is None:
                break
            answer(seat, step, networks.respond(batch.embeddings), post)
        return networks.reconstruction()


class Networks:
    """The hijacker's encoder, bottom model, decoder and critic, at work during one training."""

    def __init__(
        self, settings: FeatureSpaceHijack, seat: ActiveSeat, rng: np.random.Generator
    ) -> None:
        import torch

        auxiliary = next((g for g in seat.granted if isinstance(g, Auxiliary)), None)
        if auxiliary is None:
            raise AttackError("FSHA needs auxiliary records: the threat model grants none")
        columns = auxiliary.passive.shape[1]
        if columns != sum(seat.columns):
            raise AttackError(
                f"FSHA needs auxiliary records with all {sum(seat.columns)} passive columns, "
                f"got {columns}"
            )
        self._settings = settings
        self._dtype = torch_dtype(settings.precision)
        self._own = torch.tensor(auxiliary.own, dtype=self._dtype)
        self._passive = torch.tensor(auxiliary.passive, dtype=self._dtype)
        self._chance = torch.Generator().manual_seed(torch_seed(rng))
        self._columns = list(seat.columns)
        self._decoder_layers = Layers(settings.decoder_hidden, columns)
        precision, width = settings.precision, sum(seat.widths)
        self._encoders = [
            build(count, layers, rng, precision)
            for count, layers in zip(seat.columns, seat.bottoms, strict=True)
        ]
        self._bottom = build(self._own.shape[1], settings.own_bottom, rng, precision)
        inputs = settings.own_bottom.output + width
        self._decoder = build(inputs, self._decoder_layers, rng, precision)
        self._critic = build(width, Layers(settings.critic_hidden, 1), rng, precision)
        trained = (*self._encoders, self._bottom, self._decoder)
        parameters = [parameter for network in trained for parameter in network.parameters()]
        self._autoencoder_step = Optimiser(parameters, settings.learning_rate)
        self._critic_step = Optimiser(self._critic.parameters(), settings.critic_learning_rate)

    def respond(self, embeddings: Floats) -> Floats:
        """Return the critic's gradient by the received embeddings, then train on them."""
        import torch

        received = torch.tensor(embeddings, dtype=self._dtype).requires_grad_()
        (malicious,) = torch.autograd.grad(self._critic(received).mean(), received)
        drawn = torch.randint(len(self._own), (len(embeddings),), generator=self._chance)
        encoded = self._train_autoencoder(drawn)
        self._train_critic(received.detach(), encoded)
        return sealed(malicious.numpy())

    def encode(self, passive: torch.Tensor) -> torch.Tensor:
        """Return the embeddings of all passive parties' columns, side by side."""
        import torch

        parts = torch.split(passive, self._columns, dim=1)
        coded = [encoder(part) for encoder, part in zip(self._encoders, parts, strict=True)]
        return coded[0] if len(coded) == 1 else torch.cat(coded, dim=1)

    def _train_autoencoder(self, drawn: torch.Tensor) -> torch.Tensor:
        """Minimise the reconstruction loss L_R (Yao et al. Eq 1); return the encoder's outputs."""
        import torch

        wanted = self._passive[drawn]
        encoded = self.encode(wanted)
        joined = torch.cat([self._bottom(self._own[drawn]), encoded], dim=1)
        self._autoencoder_step.follow(torch.nn.functional.mse_loss(self._decoder(joined), wanted))
        return encoded.detach()

    def _train_critic(self, received: torch.Tensor, encoded: torch.Tensor) -> None:
        """Lower on the encoder's embeddings, higher on the received ones, slope kept at one."""
        import torch

        mix = torch.rand(len(received), 1, generator=self._chance, dtype=self._dtype)
        between = (mix * received + (1.0 - mix) * encoded).requires_grad_()
        (slope,) = torch.autograd.grad(self._critic(between).sum(), between, create_graph=True)
        penalty = ((slope.norm(dim=1) - 1.0) ** 2).mean()
        loss = self._critic(encoded).mean() - self._critic(received).mean()
        self._critic_step.follow(loss + self._settings.penalty * penalty)

    def reconstruction(self) -> FshaReconstruction:
        """Return the reconstruction as plain arrays, fit to run in another process."""
        return FshaReconstruction(
            export(self._bottom, self._settings.own_bottom),
            export(self._decoder, self._decoder_layers),
        )
