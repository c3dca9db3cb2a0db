"""The parties of a split network, each as a programme of its own (Yao et al., section III-A).

Each step the passive parties send embeddings of the agreed records, whoever plays the active
party answers with their gradients, and the passive parties update their bottom models. Which
programme that is, they cannot tell.

A detector lives in the first passive party. When one watches, each batch is followed by the
labels to answer for, none if it is no probe. A halt is told by embeddings of no records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.detectors.protocol import Halt, Received, Watch
from whatleaks.errors import WireError
from whatleaks.federation.protocol import Progress
from whatleaks.federation.roles import ActiveSeat, Batch, answer, next_batch, own_labels
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.models.distance_correlation import distance_correlation
from whatleaks.models.scaling import scale_of
from whatleaks.models.split_top import TopModel, TopSettings
from whatleaks.models.structures import keep, made, outputs_of
from whatleaks.models.torch_network import Optimiser, torch_dtype
from whatleaks.threat.grants import PassiveNetwork
from whatleaks.wire.expected import ANY, Expected, Post, Programme, read_plain
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import ACTIVE

if TYPE_CHECKING:
    import torch

TARGET_EMBEDDINGS = "target-embeddings"


@dataclass(frozen=True)
class Halted:
    """When and why a detector stopped the training."""

    step: int
    score: float
    reason: str


@dataclass(frozen=True)
class Course:
    """How a training went for one passive party: ``scores`` are (step, score) of scored batches."""

    steps: int
    halted: Halted | None
    scores: tuple[tuple[int, float], ...]


class PassiveParty:
    """Holds its columns and its bottom model; gives away embeddings only.

    ``columns`` are those of the training records, in the order that batches number; ``labels``
    theirs, if somebody gave them away.
    """

    def __init__(
        self,
        name: str,
        columns: Floats,
        settings: SplitSettings,
        rng: np.random.Generator,
        labels: Ints | None = None,
    ) -> None:
        import torch

        self.name = name
        self._settings = settings
        self._dtype = torch_dtype(settings.precision)
        self._width = outputs_of(settings.structure, columns.shape[1])
        self.scale = scale_of(settings.scaling, columns)
        self._columns = torch.tensor(self.scale.apply(columns), dtype=self._dtype)
        self._labels = labels
        self.bottom = made(settings.structure, columns.shape[1], rng, settings.precision)
        self._optimiser = Optimiser(self.bottom.parameters(), settings.learning_rate)
        self._sent: torch.Tensor | None = None
        self._rows: Ints | None = None

    def train(
        self,
        schedule: Sequence[Ints],
        post: Post,
        watch: Watch | None = None,
        chance: np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Programme[Course]:
        """Send embeddings, carry the gradients back, and halt if the detector says so."""
        scores: list[tuple[int, float]] = []
        halted: Halted | None = None
        for step, rows in enumerate(schedule):
            if halted is not None:
                self._send(step, sealed(np.zeros((0, self._width))), post)
                break
            probe = None
            if watch is not None and chance is not None:
                probe = watch.choose(step, len(rows), chance)
            embeddings = self.forward(rows)
            if probe is not None and probe.anchor is not None:
                embeddings = sealed(np.repeat(embeddings[[probe.anchor]], len(rows), axis=0))
            self._send(step, embeddings, post)
            if watch is not None:
                asked = Plain(sealed([] if probe is None else probe.labels))
                post.send(step, self.name, ACTIVE, "labels", asked)
            payload = yield Expected(step, ACTIVE, "gradients", (ANY, self._width), True)
            gradient = read_plain(payload)
            if not len(gradient):  # another party has halted
                return Course(step, None, tuple(scores))
            self.backward(gradient)
            if watch is not None and chance is not None:
                verdict = watch.observe(step, self.received(gradient), probe, chance)
                if verdict.score is not None:
                    scores.append((step, verdict.score))
                if isinstance(verdict, Halt):
                    halted = Halted(step, verdict.score, verdict.reason)
            if probe is None and halted is None:
                self._optimiser.update()
            if progress is not None:
                progress(step + 1, len(schedule))
        steps = len(schedule) if halted is None else halted.step + 1
        return Course(steps, halted, tuple(scores))

    def forward(self, rows: Ints) -> Floats:
        """Compute the embeddings of training rows; the graph stays here."""
        import torch

        self._rows = rows
        self._sent = self.bottom(self._columns[torch.tensor(rows)])
        return sealed(self._sent.detach().numpy())

    def backward(self, gradient: Floats) -> None:
        """Carry the received gradient back to the bottom model, without updating it."""
        import torch

        if self._sent is None or gradient.shape != tuple(self._sent.shape):
            raise WireError("the active party answered with gradients of another shape: refused")
        answered = torch.tensor(gradient, dtype=self._dtype)
        if self._settings.decorrelation:
            answered = self._decorrelated(answered)
        self._optimiser.carry_back(self._sent, answered)
        self._sent = None

    def _decorrelated(self, answered: torch.Tensor) -> torch.Tensor:
        """Return the gradient of alpha DCOR(x, h) + (1 - alpha) TASK by the embeddings (Eq 6)."""
        import torch

        assert self._sent is not None
        alpha = self._settings.decorrelation
        sent = self._sent.detach().requires_grad_()
        correlation = distance_correlation(self._columns[torch.tensor(self._rows)], sent)
        (slope,) = torch.autograd.grad(correlation, sent)
        return alpha * slope + (1.0 - alpha) * answered

    def received(self, gradient: Floats) -> Received:
        """Return what a detector is shown of the gradient carried back last."""
        first = next(iter(self.bottom.parameters())).grad
        assert first is not None
        known = None if self._labels is None else sealed_ints(self._labels[self._rows])
        return Received(gradient, sealed(first.numpy().ravel()), known)

    def embed(self, columns: Floats) -> Floats:
        """Compute embeddings of other records with the model as it stands."""
        import torch

        with torch.no_grad():
            scaled = torch.tensor(self.scale.apply(columns), dtype=self._dtype)
            return sealed(self.bottom(scaled).numpy())

    def disclosed(self) -> PassiveNetwork:
        """Return the bottom model as it would be given away: nothing but numbers."""
        settings = self._settings
        inputs = self._columns.shape[1]
        kept = keep(self.bottom, settings.structure, inputs, settings.precision)
        return PassiveNetwork(kept, self.scale, settings.scaling)

    def release(self, columns: Floats, step: int, post: Post) -> Programme[None]:
        """Send the active party the embeddings of target records."""
        sent = Plain(self.embed(columns))
        post.send(step, self.name, ACTIVE, TARGET_EMBEDDINGS, sent)
        yield from ()

    def _send(self, step: int, embeddings: Floats, post: Post) -> None:
        post.send(step, self.name, ACTIVE, "embeddings", Plain(embeddings))


class HonestActive:
    """Learns the labels: L = mean cross entropy of f_0([f_a(x_a) || h_p]) (Yao et al. III-A)."""

    def __init__(self, seat: ActiveSeat, settings: TopSettings, rng: np.random.Generator) -> None:
        import torch

        self._seat = seat
        self._dtype = torch_dtype(settings.precision)
        self._scale = scale_of(seat.scaling, seat.own)
        self._own = torch.tensor(self._scale.apply(seat.own), dtype=self._dtype)
        columns, width = seat.own.shape[1], sum(seat.widths)
        self._model = TopModel(columns, width, seat.classes, settings, rng)

    @property
    def bottom(self) -> torch.nn.Module:
        """The own bottom model f_a."""
        return self._model.bottom

    @property
    def top(self) -> torch.nn.Module:
        """The top model f_0."""
        return self._model.top

    def train(self, post: Post) -> Programme[None]:
        """Answer every batch with the gradient of the own loss."""
        for step in range(len(self._seat.schedule)):
            batch = yield from next_batch(self._seat, step, post)
            if batch is None:
                return
            answer(self._seat, step, self.respond(batch), post)

    def respond(self, batch: Batch) -> Floats:
        """Take one training step; return the gradient of the loss by the embeddings."""
        import torch

        wanted = torch.tensor(own_labels(self._seat, batch))
        received = torch.tensor(batch.embeddings, dtype=self._dtype).requires_grad_()
        own = self._own[torch.tensor(batch.rows)]
        self._model.follow(self._model.loss(own, received, wanted))
        assert received.grad is not None
        return sealed(received.grad.numpy())

    def take_scores(self, own: Floats, step: int) -> Programme[Floats]:
        """Take the embeddings of target records and return their class probabilities."""
        parts = []
        for passive, width in zip(self._seat.passives, self._seat.widths, strict=True):
            shape = (len(own), width)
            payload = yield Expected(step, passive, TARGET_EMBEDDINGS, shape, True)
            parts.append(read_plain(payload))
        return self.scores(own, np.concatenate(parts, axis=1))

    def scores(self, own: Floats, embeddings: Floats) -> Floats:
        """Return class probabilities, one row per record."""
        import torch

        with torch.no_grad():
            scaled = torch.tensor(self._scale.apply(own), dtype=self._dtype)
            logits = self._model.logits(scaled, torch.tensor(embeddings, dtype=self._dtype))
            return sealed(torch.softmax(logits, dim=1).numpy())


def take_embeddings(seat: ActiveSeat, records: int, step: int) -> Programme[None]:
    """Be an active party who only listens: take the embeddings of target records."""
    for passive, width in zip(seat.passives, seat.widths, strict=True):
        yield Expected(step, passive, TARGET_EMBEDDINGS, (records, width), True)
