"""Two parties whose outputs a coordinator adds up: what every such federation has in common.

Each party maps its own columns to outputs and sends them; the coordinator turns their sums
into scores and, in training, returns to each party the gradient by its outputs. What the
coordinator does with the sums is what tells one federation from another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.defenses.protocol import ReleaseDefense, WithholdingDefense
from whatleaks.errors import UsageError
from whatleaks.models.additive import Bottom, link
from whatleaks.models.torch_forms import build, export
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel

if TYPE_CHECKING:
    import torch

ACTIVE, PASSIVE, COORDINATOR = "active", "passive", "coordinator"
Progress = Callable[[int, int], None]


class TrainingSettings(Protocol):
    """What a party needs to know to train its part."""

    @property
    def steps(self) -> int:
        """Batches to train on."""
        ...

    @property
    def batch(self) -> int:
        """Records in a batch."""
        ...

    @property
    def learning_rate(self) -> float:
        """Adam's rate at the start; it falls to a hundredth along a cosine."""
        ...

    @property
    def l2(self) -> float:
        """The weight of the squared weights in the loss."""
        ...


def refuse_untrainable(settings: TrainingSettings) -> None:
    """Refuse settings that cannot train."""
    for name in ("steps", "batch"):
        if getattr(settings, name) < 1:
            raise UsageError(f"{name} must be at least 1, got {getattr(settings, name)}")
    if settings.learning_rate <= 0:
        raise UsageError(f"learning_rate must be positive, got {settings.learning_rate}")


def output_count(classes: int) -> int:
    """Return how many outputs a model needs: one for two classes, else one per class."""
    if classes < 2:
        raise UsageError(f"a federation needs at least 2 classes to predict, got {classes}")
    return 1 if classes == 2 else classes


def cross_entropy_gradient(logits: Floats, wanted: Ints) -> Floats:
    """Return the gradient of the mean cross entropy by the outputs."""
    residual = link(logits)
    residual[np.arange(len(wanted)), wanted] -= 1.0
    return (residual[:, 1:] if logits.shape[1] == 1 else residual) / len(wanted)


class Optimiser:
    """Adam with a rate that falls along a cosine: every part of a model is trained by one."""

    def __init__(self, module: torch.nn.Module, settings: TrainingSettings) -> None:
        import torch

        self._adam = torch.optim.Adam(
            module.parameters(),
            lr=settings.learning_rate,
            weight_decay=settings.l2,
            fused=True,
        )
        self._schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
            self._adam, settings.steps, eta_min=settings.learning_rate * 1e-2
        )

    def follow(self, outputs: torch.Tensor, gradient: torch.Tensor) -> None:
        """Take one step along the gradient by the outputs of the last batch."""
        self._adam.zero_grad()
        outputs.backward(gradient)  # type: ignore[no-untyped-call]
        self._adam.step()
        self._schedule.step()


class Holder:
    """A party with columns: it holds its features and its part of the model, and shares neither."""

    def __init__(
        self,
        name: str,
        features: Floats,
        hidden: tuple[int, ...],
        outputs: int,
        activation: str,
        settings: TrainingSettings,
        seed: int,
        joined: int | None = None,
    ) -> None:
        import torch

        self.name = name
        self._activation = activation
        self._features = torch.tensor(features, dtype=torch.float64)
        self._module: torch.nn.Sequential = build(
            features.shape[1],
            hidden,
            outputs,
            activation,
            bias=name == ACTIVE,  # one bias is enough for a linear part; the active party has it
            seed=seed,
            joined=joined,
        )
        self._optimiser = Optimiser(self._module, settings)
        self._pending: torch.Tensor | None = None

    def emit(self, rows: Ints, *, training: bool) -> Floats:
        """Return the outputs for ``rows``; in training, remember them for the gradient."""
        import torch

        with torch.set_grad_enabled(training):
            z = self._module(self._features[torch.tensor(rows)])
        self._pending = z if training else None
        return sealed(z.detach().numpy())

    def columns(self, rows: Ints) -> Floats:
        """Return the party's own columns: for an enclave that both parties trust, nobody else."""
        import torch

        return sealed(self._features[torch.tensor(rows)].numpy())

    def absorb(self, gradient: Floats) -> None:
        """Take one step along the gradient by the outputs of the last batch."""
        import torch

        if self._pending is None:
            raise UsageError(f"{self.name} got a gradient without having sent outputs")
        self._optimiser.follow(self._pending, torch.tensor(gradient, dtype=torch.float64))
        self._pending = None

    def export(self) -> Bottom:
        """Copy the party's part of the model out as plain numbers."""
        return export(self._module, self._activation)


class Coordinator(Protocol):
    """The trusted third role: it sees sums, labels and scores, and keeps them to itself."""

    labels: Ints
    defenses: Sequence[ReleaseDefense]

    def gradient(self, rows: Ints, sums: Floats) -> Floats:
        """Return the gradient of the loss by the summed outputs, learning on the way if it learns."""
        ...

    def release(self, sums: Floats) -> Floats:
        """Turn summed outputs into scores and let every release defense act on them."""
        ...


class SummedFederation:
    """Two holders and a coordinator on one channel."""

    def __init__(
        self,
        holders: tuple[Holder, Holder],
        coordinator: Coordinator,
        labels: Ints,
        settings: TrainingSettings,
        streams: Streams,
        channel: Channel,
    ) -> None:
        self._holders = holders
        self._coordinator = coordinator
        self._labels = labels
        self._settings = settings
        self._streams = streams
        self._channel = channel
        self._gate: WithholdingDefense | None = None

    def train(self, rows: Ints, progress: Progress | None = None) -> None:
        """Train on ``rows``; every value between the parties crosses the channel."""
        # Only the labels of records that train: the coordinator has no use for the others.
        sent = self._channel.send_plain(0, ACTIVE, COORDINATOR, "labels", self._labels[rows])
        known = np.zeros(len(self._labels), dtype=np.int64)
        known[rows] = sent.astype(np.int64)
        self._coordinator.labels = known
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
        """Send the active party the scores of ``rows`` and return them as it holds them.

        With a gate in place these are the released records only, in the order of ``rows``.
        """
        channel = channel if channel is not None else self._channel
        logits = self._gather(0, rows, training=False, channel=channel)
        scores = self._coordinator.release(logits)
        if self._gate is not None:
            scores = self._withhold(self._gate, rows, scores, channel)
        return channel.send_plain(0, COORDINATOR, ACTIVE, "scores", scores)

    def with_defenses(self, defenses: Sequence[ReleaseDefense]) -> None:
        """Put other release defenses in place; the trained model stays."""
        self._coordinator.defenses = defenses

    def with_gate(self, gate: WithholdingDefense | None) -> None:
        """Put a release gate in place, or take it away; the trained model stays."""
        self._gate = gate

    def _withhold(
        self, gate: WithholdingDefense, rows: Ints, scores: Floats, channel: Channel
    ) -> Floats:
        """Ask the gate about every score; tell the active party which records it released.

        The gate needs both parties' columns: they go to the coordinator, which here must be
        an enclave that both trust (U VII).
        """
        own, truth = (
            channel.send_plain(0, holder.name, COORDINATOR, "columns", holder.columns(rows))
            for holder in self._holders
        )
        released = gate.allow(own, truth, scores)
        channel.send_plain(0, COORDINATOR, ACTIVE, "released", released)
        return sealed(scores[released])

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
