"""Split training (Yao et al., section III-A) with one passive party and one active role.

Each step the parties agree on rows, the passive party sends embeddings, the active role
answers with their gradients, the passive party updates its bottom model. All of it crosses
``wire.Channel`` as bytes: no tensor, no graph, no shared memory. Which programme plays the
active role, the loop cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.detectors.protocol import Detector, Halt, Seen
from whatleaks.errors import UsageError, WireError
from whatleaks.federation.roles import ActiveRole
from whatleaks.models.torch_network import TWO_LAYERS, Layers, build, torch_dtype
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel

if TYPE_CHECKING:
    import torch

ACTIVE = "active"
PASSIVE = "passive"
TARGET_EMBEDDINGS = "target-embeddings"


@dataclass(frozen=True)
class SplitSettings:
    """How a split network is trained; ``bottom`` is the passive party's network.

    Two layers and Adam at 1e-4 as in Yao et al. for tabular data (appendix B). Deviation: the
    embedding is the second layer's plain output, without an activation after it.
    """

    steps: int = 1500
    batch: int = 64
    learning_rate: float = 1e-4
    bottom: Layers = TWO_LAYERS
    precision: str = "float64"

    def __post_init__(self) -> None:
        """Refuse what cannot train."""
        if self.steps < 1 or self.batch < 1 or self.learning_rate <= 0.0:
            raise UsageError(
                "split training needs steps and batch of at least 1 and a learning rate above 0, "
                f"got {self.steps}, {self.batch} and {self.learning_rate}"
            )


class PassiveParty:
    """Holds its columns and its bottom model; gives away embeddings only."""

    def __init__(self, columns: Floats, settings: SplitSettings, rng: np.random.Generator) -> None:
        import torch

        self._dtype = torch_dtype(settings.precision)
        self._columns = torch.tensor(columns, dtype=self._dtype)
        self.bottom = build(columns.shape[1], settings.bottom, rng, settings.precision)
        self._optimiser = torch.optim.Adam(
            self.bottom.parameters(), lr=settings.learning_rate, fused=True
        )
        self._sent: torch.Tensor | None = None

    def forward(self, rows: Ints) -> Floats:
        """Compute the embeddings of training rows; the graph stays here."""
        import torch

        self._sent = self.bottom(self._columns[torch.tensor(rows)])
        return sealed(self._sent.detach().numpy())

    def backward(self, gradient: Floats) -> Seen:
        """Carry the received gradient back to the bottom model, without updating it."""
        import torch

        if self._sent is None or gradient.shape != tuple(self._sent.shape):
            raise WireError("the active party answered with gradients of another shape: refused")
        self._optimiser.zero_grad()
        torch.autograd.backward(self._sent, torch.tensor(gradient, dtype=self._dtype))
        self._sent = None
        first = next(iter(self.bottom.parameters())).grad
        assert first is not None
        return Seen(embedding=gradient, first_weights=sealed(first.numpy().ravel()))

    def update(self) -> None:
        """Take one optimiser step with the gradient carried back last."""
        self._optimiser.step()

    def embed(self, columns: Floats) -> Floats:
        """Compute embeddings of other records with the model as it stands."""
        import torch

        with torch.no_grad():
            return sealed(self.bottom(torch.tensor(columns, dtype=self._dtype)).numpy())


@dataclass(frozen=True)
class Halted:
    """When and why a detector stopped the training."""

    step: int
    score: float
    reason: str


@dataclass(frozen=True)
class SplitRun:
    """A finished or halted training. ``scores`` holds (step, score) of each scored batch."""

    steps: int
    halted: Halted | None
    scores: tuple[tuple[int, float], ...]
    passive: PassiveParty
    channel: Channel

    def emit(self, columns: Floats) -> Floats:
        """Send the active party the embeddings of target records; return what it received."""
        return self.channel.send_plain(
            self.steps, PASSIVE, ACTIVE, TARGET_EMBEDDINGS, self.passive.embed(columns)
        )


def batches(records: int, size: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Yield the rows of batch after batch: whole epochs in random order, the rest dropped."""
    size = min(size, records)
    while True:
        order = rng.permutation(records)
        for start in range(0, records - size + 1, size):
            yield sealed_ints(order[start : start + size])


def run_split(
    passive_columns: Floats,
    role: ActiveRole,
    settings: SplitSettings,
    streams: Streams,
    channel: Channel | None = None,
    detector: Detector | None = None,
) -> SplitRun:
    """Train a split network with any active role, watched by any detector or none.

    Streams used: ``bottom`` (first weights), ``batches`` (agreed rows), ``detector``.
    """
    channel = channel if channel is not None else Channel()
    passive = PassiveParty(passive_columns, settings, streams.rng("bottom"))
    schedule = batches(len(passive_columns), settings.batch, streams.rng("batches"))
    watch = detector.start() if detector is not None else None
    chance = streams.rng("detector")
    scores: list[tuple[int, float]] = []
    for step in range(settings.steps):
        rows = next(schedule)
        probe = watch.choose(step, len(rows), chance) if watch is not None else None
        embeddings = channel.send_plain(step, PASSIVE, ACTIVE, "embeddings", passive.forward(rows))
        labels = None
        if probe is not None:
            asked = channel.send_plain(step, PASSIVE, ACTIVE, "labels", probe.labels)
            labels = sealed_ints(asked)
        answer = role.respond(rows, embeddings, labels)
        gradient = channel.send_plain(step, ACTIVE, PASSIVE, "gradients", answer)
        seen = passive.backward(gradient)
        if watch is not None:
            verdict = watch.observe(step, seen, probe, chance)
            if verdict.score is not None:
                scores.append((step, verdict.score))
            if isinstance(verdict, Halt):
                halted = Halted(step, verdict.score, verdict.reason)
                return SplitRun(step + 1, halted, tuple(scores), passive, channel)
        if probe is None:
            passive.update()
    return SplitRun(settings.steps, None, tuple(scores), passive, channel)
