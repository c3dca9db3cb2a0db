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

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.detectors.protocol import Detector, Halt, Received
from whatleaks.errors import WireError
from whatleaks.federation.protocol import Progress
from whatleaks.federation.roles import ActiveSeat, Batch, answer, next_batch, own_labels
from whatleaks.federation.split.settings import HonestSettings, SplitSettings
from whatleaks.models.torch_network import Layers, Optimiser, build, torch_dtype
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

    ``columns`` are those of the training records, in the order that batches number.
    """

    def __init__(
        self, name: str, columns: Floats, settings: SplitSettings, rng: np.random.Generator
    ) -> None:
        import torch

        self.name = name
        self._dtype = torch_dtype(settings.precision)
        self._width = settings.bottom.output
        self._columns = torch.tensor(columns, dtype=self._dtype)
        self.bottom = build(columns.shape[1], settings.bottom, rng, settings.precision)
        self._optimiser = Optimiser(self.bottom.parameters(), settings.learning_rate)
        self._sent: torch.Tensor | None = None

    def train(
        self,
        schedule: Sequence[Ints],
        post: Post,
        detector: Detector | None = None,
        chance: np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Programme[Course]:
        """Send embeddings, carry the gradients back, and halt if the detector says so."""
        watch = detector.start() if detector is not None else None
        scores: list[tuple[int, float]] = []
        halted: Halted | None = None
        for step, rows in enumerate(schedule):
            if halted is not None:
                self._send(step, sealed(np.zeros((0, self._width))), post)
                break
            probe = None
            if watch is not None and chance is not None:
                probe = watch.choose(step, len(rows), chance)
            self._send(step, self.forward(rows), post)
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

        self._sent = self.bottom(self._columns[torch.tensor(rows)])
        return sealed(self._sent.detach().numpy())

    def backward(self, gradient: Floats) -> None:
        """Carry the received gradient back to the bottom model, without updating it."""
        import torch

        if self._sent is None or gradient.shape != tuple(self._sent.shape):
            raise WireError("the active party answered with gradients of another shape: refused")
        self._optimiser.carry_back(self._sent, torch.tensor(gradient, dtype=self._dtype))
        self._sent = None

    def received(self, gradient: Floats) -> Received:
        """Return what a detector is shown of the gradient carried back last."""
        first = next(iter(self.bottom.parameters())).grad
        assert first is not None
        return Received(embedding=gradient, first_weights=sealed(first.numpy().ravel()))

    def embed(self, columns: Floats) -> Floats:
        """Compute embeddings of other records with the model as it stands."""
        import torch

        with torch.no_grad():
            return sealed(self.bottom(torch.tensor(columns, dtype=self._dtype)).numpy())

    def release(self, columns: Floats, step: int, post: Post) -> Programme[None]:
        """Send the active party the embeddings of target records."""
        sent = Plain(self.embed(columns))
        post.send(step, self.name, ACTIVE, TARGET_EMBEDDINGS, sent)
        yield from ()

    def _send(self, step: int, embeddings: Floats, post: Post) -> None:
        post.send(step, self.name, ACTIVE, "embeddings", Plain(embeddings))


class HonestActive:
    """Learns the labels: L = mean cross entropy of f_0([f_a(x_a) || h_p]) (Yao et al. III-A)."""

    def __init__(
        self, seat: ActiveSeat, settings: HonestSettings, rng: np.random.Generator
    ) -> None:
        import torch

        self._seat = seat
        self._dtype = torch_dtype(settings.precision)
        self._own = torch.tensor(seat.own, dtype=self._dtype)
        self.bottom = build(seat.own.shape[1], settings.bottom, rng, settings.precision)
        top = Layers(settings.top_hidden, seat.classes, settings.bottom.activation)
        inputs = settings.bottom.output + sum(seat.widths)
        self.top = build(inputs, top, rng, settings.precision)
        parameters = [*self.bottom.parameters(), *self.top.parameters()]
        self._optimiser = Optimiser(parameters, settings.learning_rate)

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
        joined = torch.cat([self.bottom(own), received], dim=1)
        self._optimiser.follow(torch.nn.functional.cross_entropy(self.top(joined), wanted))
        assert received.grad is not None
        return received.grad.numpy()

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
            bottom = self.bottom(torch.tensor(own, dtype=self._dtype))
            joined = torch.cat([bottom, torch.tensor(embeddings, dtype=self._dtype)], dim=1)
            return sealed(torch.softmax(self.top(joined), dim=1).numpy())


def take_embeddings(seat: ActiveSeat, records: int, step: int) -> Programme[None]:
    """Be an active party who only listens: take the embeddings of target records."""
    for passive, width in zip(seat.passives, seat.widths, strict=True):
        yield Expected(step, passive, TARGET_EMBEDDINGS, (records, width), True)
