"""What hijackers of split training have in common: networks that they train on auxiliary records.

An encoder f_e shaped like the passive bottom model (one for each passive party), a bottom
model f_a for the own columns and a decoder f_d([h_a || h_p]) to the passive columns
(Yao et al. V-A). What differs between hijackers is which gradient they answer with.

Scaling is the federation's: own columns by the training records, passive columns by the
auxiliary ones, for nobody else's are known here.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.federation.roles import ActiveSeat, Batch, Post, Programme, answer, next_batch
from whatleaks.models.scaling import Scale, scale_of
from whatleaks.models.structures import Bottoms, Kept, decoder_of, keep, made, outputs_of
from whatleaks.models.torch_network import Layers, Optimiser, torch_dtype
from whatleaks.seeds import torch_seed
from whatleaks.threat.grants import Auxiliary
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.split import SplitView

if TYPE_CHECKING:
    import torch


@travels
@dataclass(frozen=True)
class Reconstruction:
    """What a hijacker takes home from training: x~ = f_d([f_a(x_a) || h_p]) (Yao et al. V-D).

    ``encoders`` are not needed to read; they say what the victim was meant to become.
    """

    own_bottom: Kept
    decoder: Kept
    encoders: tuple[Kept, ...]
    own_scale: Scale
    passive_scale: Scale
    name: str

    def infer(self, view: SplitView, rng: np.random.Generator) -> ValueGuess:
        """Decode the embeddings of all target records at once."""
        del rng
        width = self.own_bottom.inputs
        if view.own.shape[1] != width:
            raise AttackError(
                f"{self.name} trained on {width} own columns and is shown {view.own.shape[1]}: it "
                "reads what the active party alone was sent"
            )
        own = self.own_bottom.outputs(self.own_scale.apply(view.own))
        joined = np.concatenate([own, view.embeddings], axis=1)
        return ValueGuess(self.passive_scale.undo(self.decoder.outputs(sealed(joined))))

    def imitated(self, passive: Floats) -> Floats:
        """Return the embeddings that the encoders would give to passive columns."""
        scaled, first, parts = self.passive_scale.apply(passive), 0, []
        for encoder in self.encoders:
            parts.append(encoder.outputs(sealed(scaled[:, first : first + encoder.inputs])))
            first += encoder.inputs
        return sealed(np.concatenate(parts, axis=1))


class Player(Protocol):
    """A hijacker at work during one training."""

    def respond(self, batch: Batch) -> Floats:
        """Return the gradient to answer a batch with, and learn from it."""
        ...

    def reading(self) -> Reconstruction:
        """Return what is taken home, as plain arrays."""
        ...


@dataclass(frozen=True)
class ForgingHijack:
    """Settings that all hijackers share, and the loop that they all play.

    ``encoder`` is the encoder's structure: ``same`` as the passive party's, or ``layers`` where
    the hijacker does not know it.
    """

    extra: ClassVar[str] = "networks"

    decoder_hidden: tuple[int, ...] = (64, 64)
    critic_hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 1e-3
    critic_learning_rate: float = 1e-3
    encoder: str = "same"
    name: str = ""

    @abstractmethod
    def player(self, seat: ActiveSeat, rng: np.random.Generator) -> Player:
        """Set the networks up."""

    def programme(
        self, seat: ActiveSeat, post: Post, rng: np.random.Generator
    ) -> Programme[Reconstruction]:
        """Answer every batch until the training ends or is halted."""
        player = self.player(seat, rng)
        for step in range(len(seat.schedule)):
            batch = yield from next_batch(seat, step, post)
            if batch is None:
                break
            answer(seat, step, player.respond(batch), post)
        return player.reading()


class Workshop:
    """Encoders, own bottom model and decoder, trained on auxiliary records alone."""

    def __init__(self, settings: ForgingHijack, seat: ActiveSeat, rng: np.random.Generator) -> None:
        import torch

        auxiliary = next((g for g in seat.granted if isinstance(g, Auxiliary)), None)
        if auxiliary is None:
            raise AttackError(
                f"{settings.name} needs auxiliary records: the threat model grants none"
            )
        columns = auxiliary.passive.shape[1]
        if columns != sum(seat.columns):
            raise AttackError(
                f"{settings.name} needs auxiliary records with all {sum(seat.columns)} passive "
                f"columns, got {columns}"
            )
        self.name, self._precision = settings.name, seat.precision
        self.dtype = torch_dtype(seat.precision)
        self.chance = torch.Generator().manual_seed(torch_seed(rng))
        self._own_scale = scale_of(seat.scaling, seat.own)
        self._passive_scale = scale_of(seat.scaling, auxiliary.passive)
        self.own = self.tensor(self._own_scale.apply(auxiliary.own))
        self.passive = self.tensor(self._passive_scale.apply(auxiliary.passive))
        self.labels = torch.tensor(auxiliary.labels)
        self.training_own = self.tensor(self._own_scale.apply(seat.own))
        self.width, self._columns = sum(seat.widths), list(seat.columns)
        self._structures = [
            _encoder_structure(settings.encoder, bottom, count)
            for bottom, count in zip(seat.bottoms, seat.columns, strict=True)
        ]
        self._encoders = [
            made(structure, count, rng, seat.precision)
            for structure, count in zip(self._structures, seat.columns, strict=True)
        ]
        self._bottom_structure = seat.bottoms[0]
        own_columns = auxiliary.own.shape[1]
        self.bottom = made(self._bottom_structure, own_columns, rng, seat.precision)
        halves = 1 + len(seat.passives)
        self._decoder_structure = decoder_of(
            self._bottom_structure, halves, columns, settings.decoder_hidden
        )
        self._decoder_inputs = outputs_of(self._bottom_structure, own_columns) + self.width
        self.decoder = made(self._decoder_structure, self._decoder_inputs, rng, seat.precision)
        trained = (*self._encoders, self.bottom, self.decoder)
        parameters = [parameter for network in trained for parameter in network.parameters()]
        self._step = Optimiser(parameters, settings.learning_rate)

    def tensor(self, values: Floats) -> torch.Tensor:
        """Return numbers in the precision that all compute in."""
        import torch

        return torch.tensor(values, dtype=self.dtype)

    def draw(self, count: int) -> torch.Tensor:
        """Draw auxiliary records for one batch."""
        import torch

        return torch.randint(len(self.own), (count,), generator=self.chance)

    def encode(self, passive: torch.Tensor) -> torch.Tensor:
        """Return the embeddings of all passive parties' columns, side by side."""
        import torch

        parts = torch.split(passive, self._columns, dim=1)
        coded = [encoder(part) for encoder, part in zip(self._encoders, parts, strict=True)]
        return coded[0] if len(coded) == 1 else torch.cat(coded, dim=1)

    def encoder_parameters(self) -> list[torch.nn.Parameter]:
        """Return what the encoders learn."""
        return [parameter for encoder in self._encoders for parameter in encoder.parameters()]

    def decode(self, own: torch.Tensor, embeddings: torch.Tensor) -> torch.Tensor:
        """Return f_d([f_a(x_a) || h_p])."""
        import torch

        found: torch.Tensor = self.decoder(torch.cat([self.bottom(own), embeddings], dim=1))
        return found

    def train_autoencoder(self, drawn: torch.Tensor) -> torch.Tensor:
        """Minimise the reconstruction loss L_R (Eq 1); return what the encoders said before."""
        import torch

        wanted = self.passive[drawn]
        encoded = self.encode(wanted)
        decoded = self.decode(self.own[drawn], encoded)
        self._step.follow(torch.nn.functional.mse_loss(decoded, wanted))
        return encoded.detach()

    def reading(self) -> Reconstruction:
        """Return the reconstruction as plain arrays, fit to run in another process."""
        return Reconstruction(
            keep(self.bottom, self._bottom_structure, self.own.shape[1], self._precision),
            keep(self.decoder, self._decoder_structure, self._decoder_inputs, self._precision),
            tuple(
                keep(network, structure, count, self._precision)
                for network, structure, count in zip(
                    self._encoders, self._structures, self._columns, strict=True
                )
            ),
            self._own_scale,
            self._passive_scale,
            self.name,
        )


def _encoder_structure(kind: str, bottom: Bottoms, columns: int) -> Bottoms:
    """Return the encoder's structure; its embeddings are as wide as the passive party's."""
    if kind == "same":
        return bottom
    if kind == "layers":  # three linear layers, as in Yao et al. VI-D2
        return Layers((128, 128), outputs_of(bottom, columns))
    raise AttackError(f"unknown encoder {kind!r}: use same or layers")
