"""The additive federation: two parties and a coordinator (J section 4.1, Eq 9; A section II-B).

Each party maps its own columns to outputs. The coordinator adds them up, applies the link
and returns to each party the gradient by its outputs. At prediction the active party asks
for records by number and is sent their scores, after whatever release defense is in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.defenses.protocol import ReleaseDefense
from whatleaks.errors import UsageError
from whatleaks.models.additive import Additive, Bottom, link
from whatleaks.models.torch_forms import build, export
from whatleaks.seeds import Streams, torch_seed
from whatleaks.wire.channel import Channel

if TYPE_CHECKING:
    import torch

ACTIVE, PASSIVE, COORDINATOR = "active", "passive", "coordinator"
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class AdditiveSettings:
    """How the parties train. No hidden layers: logistic regression.

    ``steps`` rather than epochs, so that small tables train as long as large ones.
    """

    hidden: tuple[int, ...] = ()
    activation: str = "sigmoid"
    steps: int = 2000
    batch: int = 256
    learning_rate: float = 0.05
    l2: float = 0.0

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        for name in ("steps", "batch"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.learning_rate <= 0:
            raise UsageError(f"learning_rate must be positive, got {self.learning_rate}")


class Holder:
    """A party with columns: it holds its features and its part of the model, and shares neither."""

    def __init__(
        self, name: str, features: Floats, outputs: int, settings: AdditiveSettings, seed: int
    ) -> None:
        import torch

        self.name = name
        self._settings = settings
        self._features = torch.tensor(features, dtype=torch.float64)
        self._module: torch.nn.Sequential = build(
            features.shape[1],
            settings.hidden,
            outputs,
            settings.activation,
            bias=name == ACTIVE,  # one bias is enough for a linear model; the active party has it
            seed=seed,
        )
        self._optimiser = torch.optim.Adam(
            self._module.parameters(),
            lr=settings.learning_rate,
            weight_decay=settings.l2,
            fused=True,
        )
        self._schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
            self._optimiser, settings.steps, eta_min=settings.learning_rate * 1e-2
        )
        self._pending: torch.Tensor | None = None

    def emit(self, rows: Ints, *, training: bool) -> Floats:
        """Return the outputs for ``rows``; in training, remember them for the gradient."""
        import torch

        with torch.set_grad_enabled(training):
            z = self._module(self._features[torch.tensor(rows)])
        self._pending = z if training else None
        return sealed(z.detach().numpy())

    def absorb(self, gradient: Floats) -> None:
        """Take one step along the gradient by the outputs of the last batch."""
        import torch

        if self._pending is None:
            raise UsageError(f"{self.name} got a gradient without having sent outputs")
        self._optimiser.zero_grad()
        self._pending.backward(torch.tensor(gradient, dtype=torch.float64))  # type: ignore[no-untyped-call]
        self._optimiser.step()
        self._schedule.step()
        self._pending = None

    def export(self) -> Bottom:
        """Copy the party's part of the model out as plain numbers."""
        return export(self._module, self._settings.activation)


@dataclass
class Coordinator:
    """The trusted third role: it sees sums, labels and scores, and keeps them to itself."""

    outputs: int
    defenses: Sequence[ReleaseDefense]
    rng: np.random.Generator
    labels: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def gradient(self, rows: Ints, logits: Floats) -> Floats:
        """Return the gradient of the mean cross entropy by the summed outputs."""
        wanted = self.labels[rows]
        residual = link(logits)
        residual[np.arange(len(rows)), wanted] -= 1.0
        return (residual[:, 1:] if self.outputs == 1 else residual) / len(rows)

    def release(self, logits: Floats) -> Floats:
        """Turn summed outputs into scores and let every release defense act on them."""
        scores = link(logits)
        for defense in self.defenses:
            scores = defense.release(scores, self.rng)
        return scores


class AdditiveFederation:
    """Two holders and a coordinator on one channel."""

    def __init__(
        self,
        active: Floats,
        passive: Floats,
        labels: Ints,
        classes: int,
        settings: AdditiveSettings,
        streams: Streams,
        channel: Channel,
        defenses: Sequence[ReleaseDefense] = (),
    ) -> None:
        if classes < 2:
            raise UsageError(f"a federation needs at least 2 classes to predict, got {classes}")
        outputs = 1 if classes == 2 else classes
        self._settings = settings
        self._labels = labels
        self._streams = streams
        self._channel = channel
        self._holders = tuple(
            Holder(name, features, outputs, settings, torch_seed(streams.rng(f"weights/{name}")))
            for name, features in ((ACTIVE, active), (PASSIVE, passive))
        )
        self._coordinator = Coordinator(outputs, defenses, streams.rng("release"))

    def train(self, rows: Ints, progress: Progress | None = None) -> None:
        """Train on ``rows``; every value between the parties crosses the channel."""
        sent = self._channel.send_plain(0, ACTIVE, COORDINATOR, "labels", self._labels)
        self._coordinator.labels = sent.astype(np.int64)
        for step, batch in enumerate(self._batches(rows), start=1):
            logits = self._gather(step, batch, training=True)
            gradient = self._coordinator.gradient(batch, logits)
            for holder in self._holders:
                holder.absorb(
                    self._channel.send_plain(
                        step, COORDINATOR, holder.name, "output-gradient", gradient
                    )
                )
            if progress is not None:
                progress(step, self._settings.steps)

    def predict(self, rows: Ints, channel: Channel | None = None) -> Floats:
        """Send the active party the scores of ``rows`` and return them as it holds them."""
        channel = channel if channel is not None else self._channel
        logits = self._gather(0, rows, training=False, channel=channel)
        scores = self._coordinator.release(logits)
        return channel.send_plain(0, COORDINATOR, ACTIVE, "scores", scores)

    def with_defenses(self, defenses: Sequence[ReleaseDefense]) -> None:
        """Put other release defenses in place; the trained model stays."""
        self._coordinator.defenses = defenses

    def model(self) -> Additive:
        """Return the joint model. Only the evaluator and the grants room may call this."""
        active, passive = (holder.export() for holder in self._holders)
        return Additive(active, passive)

    def _gather(
        self, step: int, rows: Ints, *, training: bool, channel: Channel | None = None
    ) -> Floats:
        channel = channel if channel is not None else self._channel
        outputs = [
            channel.send_plain(
                step, holder.name, COORDINATOR, "outputs", holder.emit(rows, training=training)
            )
            for holder in self._holders
        ]
        return sealed(sum(outputs[1:], start=outputs[0]))

    def _batches(self, rows: Ints) -> Iterator[Ints]:
        """Yield ``steps`` batches: reshuffled passes over the rows, agreed by all parties."""
        rng = self._streams.rng("batches")
        size = min(self._settings.batch, len(rows))
        left = self._settings.steps
        while left > 0:
            order = rng.permutation(rows)
            for start in range(0, len(rows) - size + 1, size):
                if left == 0:
                    return
                yield order[start : start + size]
                left -= 1
