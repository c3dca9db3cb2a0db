"""FSHA: the feature-space hijacking attack (Pasquini, Ateniese and Bernaschi 2021) in a
vertical federation, as Yao et al. adapt it (section VI-B).

The hijacker trains, on auxiliary records alone, an encoder f_e shaped like the passive
bottom model, a bottom model f_a for its own columns and a decoder f_d([h_a || h_p]) to the
passive columns. A discriminator on embeddings yields the gradients it returns: the passive
model learns to answer as the encoder would, and the decoder then reads its answers.

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

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.federation.roles import ActiveRole
from whatleaks.models.network import Network
from whatleaks.models.torch_network import TWO_LAYERS, Layers, build, exported, torch_dtype
from whatleaks.seeds import torch_seed
from whatleaks.threat.grants import Auxiliary
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.split import SplitView

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class FshaSettings:
    """``encoder`` is the passive bottom model's structure, which the threat model lets it know."""

    encoder: Layers = TWO_LAYERS
    own_bottom: Layers = TWO_LAYERS
    decoder_hidden: tuple[int, ...] = (64, 64)
    critic_hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 1e-4
    critic_learning_rate: float = 1e-3
    penalty: float = 500.0
    precision: str = "float64"


@travels
@dataclass(frozen=True)
class FshaReconstruction:
    """What the hijacker takes home from training: x~ = f_d([f_a(x_a) || h_p]) (Yao et al. V-D)."""

    own_bottom: Network
    decoder: Network
    name: str = "fsha"

    def infer(self, view: SplitView, rng: np.random.Generator) -> ValueGuess:
        """Decode the embeddings of all target records at once."""
        del rng
        joined = np.concatenate([self.own_bottom.logits(view.own), view.embeddings], axis=1)
        return ValueGuess(sealed(self.decoder.logits(joined)))


class FeatureSpaceHijack(ActiveRole):
    """The hijacker as an active role. It holds auxiliary records and what it receives; no more."""

    name = "fsha"

    def __init__(
        self, auxiliary: Auxiliary, settings: FshaSettings, rng: np.random.Generator
    ) -> None:
        import torch

        self._settings = settings
        self._dtype = torch_dtype(settings.precision)
        self._own = torch.tensor(auxiliary.own, dtype=self._dtype)
        self._passive = torch.tensor(auxiliary.passive, dtype=self._dtype)
        self._chance = torch.Generator().manual_seed(torch_seed(rng))
        width = settings.own_bottom.output + settings.encoder.output
        self._decoder_layers = Layers(settings.decoder_hidden, self._passive.shape[1])
        precision = settings.precision
        self._encoder = build(self._passive.shape[1], settings.encoder, rng, precision)
        self._bottom = build(self._own.shape[1], settings.own_bottom, rng, precision)
        self._decoder = build(width, self._decoder_layers, rng, precision)
        critic = Layers(settings.critic_hidden, 1)
        self._critic = build(settings.encoder.output, critic, rng, precision)
        self._autoencoder_step = torch.optim.Adam(
            [
                *self._encoder.parameters(),
                *self._bottom.parameters(),
                *self._decoder.parameters(),
            ],
            lr=settings.learning_rate,
            fused=True,
        )
        self._critic_step = torch.optim.Adam(
            self._critic.parameters(), lr=settings.critic_learning_rate, fused=True
        )

    def respond(self, rows: Ints, embeddings: Floats, labels: Ints | None) -> Floats:
        """Return the critic's gradient by the received embeddings, then train on them."""
        import torch

        del rows, labels
        if embeddings.shape[1] != self._settings.encoder.output:
            raise AttackError(
                f"FSHA's encoder gives {self._settings.encoder.output} values a record but the "
                f"passive party sends {embeddings.shape[1]}: set encoder to its structure"
            )
        received = torch.tensor(embeddings, dtype=self._dtype).requires_grad_()
        (malicious,) = torch.autograd.grad(self._critic(received).mean(), received)
        drawn = torch.randint(len(self._own), (len(embeddings),), generator=self._chance)
        encoded = self._train_autoencoder(drawn)
        self._train_critic(received.detach(), encoded)
        return sealed(malicious.numpy())

    def _train_autoencoder(self, drawn: torch.Tensor) -> torch.Tensor:
        """Minimise the reconstruction loss L_R (Yao et al. Eq 1); return the encoder's outputs."""
        import torch

        wanted = self._passive[drawn]
        encoded: torch.Tensor = self._encoder(wanted)
        joined = torch.cat([self._bottom(self._own[drawn]), encoded], dim=1)
        loss = torch.nn.functional.mse_loss(self._decoder(joined), wanted)
        self._autoencoder_step.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._autoencoder_step.step()
        return encoded.detach()

    def _train_critic(self, received: torch.Tensor, encoded: torch.Tensor) -> None:
        """Lower on the encoder's embeddings, higher on the received ones, slope kept at one."""
        import torch

        mix = torch.rand(len(received), 1, generator=self._chance, dtype=self._dtype)
        between = (mix * received + (1.0 - mix) * encoded).requires_grad_()
        (slope,) = torch.autograd.grad(self._critic(between).sum(), between, create_graph=True)
        penalty = ((slope.norm(dim=1) - 1.0) ** 2).mean()
        loss = self._critic(encoded).mean() - self._critic(received).mean()
        self._critic_step.zero_grad()
        (loss + self._settings.penalty * penalty).backward()
        self._critic_step.step()

    def attack(self) -> FshaReconstruction:
        """Return the reconstruction as plain arrays, fit to run in another process."""
        return FshaReconstruction(
            exported(self._bottom, self._settings.own_bottom),
            exported(self._decoder, self._decoder_layers),
        )

    def infer(self, view: SplitView, rng: np.random.Generator) -> ValueGuess:
        """Decode with the networks as they stand."""
        return self.attack().infer(view, rng)
