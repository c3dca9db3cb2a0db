"""Parties whose outputs a coordinator adds up, each as a programme of its own.

Each party maps its own columns to outputs and sends them; the coordinator turns their sums
into scores and, in training, returns to each party the gradient by its outputs. What the
coordinator does with the sums is what tells one federation from another. The active party
sends the labels of the training records beforehand, and is sent the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, seal, sealed
from whatleaks.defenses.protocol import OPEN, Guard
from whatleaks.errors import UsageError
from whatleaks.federation.protocol import Progress
from whatleaks.federation.schedule import TrainingSettings
from whatleaks.federation.summed.private import PrivateGradients, PrivateLinear, PrivateNetwork
from whatleaks.models.additive import Bottom, link
from whatleaks.models.torch_network import Layers
from whatleaks.models.trainable import Trainable, trainable
from whatleaks.wire.expected import ANY, Expected, Post, Programme, read_plain
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import ACTIVE, COORDINATOR


class SummedSettings(TrainingSettings, Protocol):
    """Training settings with a weight on the squared weights."""

    @property
    def l2(self) -> float:
        """The weight of the squared weights in the loss."""
        ...


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


class Holder:
    """A party with columns: it holds its features and its part of the model, and shares neither.

    ``features`` are those of the training records, in the order that batches number.
    """

    def __init__(
        self,
        name: str,
        features: Floats,
        layers: Layers,
        settings: SummedSettings,
        rng: np.random.Generator,
        joined: int | None = None,
    ) -> None:
        self.name = name
        self._layers = layers
        private = bool(getattr(settings, "epsilon", 0.0))
        self._part: Trainable = trainable(
            features,
            layers,
            rng,
            settings.learning_rate,
            settings.l2,
            settings.steps,
            # One bias is enough for a linear part; the active party has it.
            bias=name == ACTIVE or bool(layers.hidden),
            joined=joined,
            kinds=(PrivateLinear, PrivateNetwork) if private else None,
        )

    def train(
        self, schedule: Sequence[Ints], post: Post, labels: Ints | None = None
    ) -> Programme[None]:
        """Send the outputs of every batch and step along the gradient that comes back.

        Only the labels of records that train are sent: the coordinator has no use for others.
        """
        if labels is not None:
            post.send(0, self.name, COORDINATOR, "labels", Plain(sealed(labels)))
        for step, rows in enumerate(schedule, start=1):
            sent = Plain(self._part.outputs(rows))
            post.send(step, self.name, COORDINATOR, "outputs", sent)
            shape = (len(rows), self._layers.output)
            payload = yield Expected(step, COORDINATOR, "output-gradient", shape, True)
            self._part.follow(read_plain(payload))

    def keep_private(self, gradients: PrivateGradients) -> None:
        """Clip and blur every gradient from now on; the settings must have asked for it."""
        assert isinstance(self._part, PrivateLinear | PrivateNetwork)
        self._part.gradients = gradients

    def emit(self, features: Floats) -> Floats:
        """Return the outputs of records with the model as it stands."""
        return self._part.emit(features)

    def release(
        self, features: Floats, step: int, post: Post, gated: bool = False
    ) -> Programme[None]:
        """Send the outputs of records to be scored, and to a gate the columns as well.

        The gate needs all parties' columns: they go to the coordinator, which here must be
        an enclave that all trust (U VII).
        """
        post.send(step, self.name, COORDINATOR, "outputs", Plain(self.emit(features)))
        if gated:
            post.send(step, self.name, COORDINATOR, "columns", Plain(seal(features)))
        yield from ()

    def take_scores(
        self, features: Floats, step: int, classes: int, post: Post, gated: bool = False
    ) -> Programme[tuple[Floats, Bools]]:
        """Be the active party: take part, and return the scores and which records they are of."""
        yield from self.release(features, step, post, gated)
        released = np.ones(len(features), dtype=np.bool_)
        if gated:
            told = yield Expected(step, COORDINATOR, "released", (len(features),), True)
            released = read_plain(told) > 0.5
        shape = (ANY if gated else len(features), classes)
        scores = read_plain((yield Expected(step, COORDINATOR, "scores", shape, True)))
        return scores, released

    def export(self) -> Bottom:
        """Copy the party's part of the model out as plain numbers."""
        return self._part.export()


class Coordinator:
    """The trusted third role: it sees sums, labels and scores, and keeps them to itself.

    ``parties`` are in the order in which outputs are added up: the active one first.
    ``width`` is how many outputs each party sends.
    """

    def __init__(self, parties: Sequence[str], width: int) -> None:
        self._parties = tuple(parties)
        self._width = width

    def gradient(self, wanted: Ints, sums: Floats) -> Floats:
        """Return the gradient of the loss by the sums, learning on the way if it learns."""
        raise NotImplementedError

    def scores(self, sums: Floats) -> Floats:
        """Turn summed outputs into scores."""
        raise NotImplementedError

    def train(
        self,
        schedule: Sequence[Ints],
        records: int,
        post: Post,
        progress: Progress | None = None,
    ) -> Programme[None]:
        """Answer every batch with the gradient by its sums; ``records`` train."""
        payload = yield Expected(0, ACTIVE, "labels", (records,), True)
        labels = read_plain(payload).astype(np.int64)
        for step, rows in enumerate(schedule, start=1):
            sums = yield from self._sums(step, len(rows))
            gradient = Plain(self.gradient(labels[rows], sums))
            for party in self._parties:
                post.send(step, COORDINATOR, party, "output-gradient", gradient)
            if progress is not None:
                progress(step, len(schedule))

    def release(
        self,
        records: int,
        columns: Sequence[int],
        step: int,
        post: Post,
        guard: Guard = OPEN,
        before: Floats | None = None,
    ) -> Programme[Floats]:
        """Send the active party the scores that the guard lets out, and return them.

        ``columns``: how many each party has, in order; only a gate is shown them. ``before``: what
        the active party was sent about the same records earlier.
        """
        sums = yield from self._sums(step, records)
        scores = guard.apply(self.scores(sums), before)
        if guard.gate is not None:
            shown = []
            for party, count in zip(self._parties, columns, strict=True):
                payload = yield Expected(step, party, "columns", (records, count), True)
                shown.append(read_plain(payload))
            truth = shown[1] if len(shown) == 2 else seal(np.concatenate(shown[1:], axis=1))
            released = guard.gate.allow(shown[0], truth, scores, guard.simulate)
            post.send(step, COORDINATOR, ACTIVE, "released", Plain(sealed(released)))
            scores = scores[released]
        post.send(step, COORDINATOR, ACTIVE, "scores", Plain(sealed(scores)))
        return scores

    def _sums(self, step: int, records: int) -> Programme[Floats]:
        """Add up the outputs of all parties, in their order."""
        shape, total = (records, self._width), None
        for party in self._parties:
            outputs = read_plain((yield Expected(step, party, "outputs", shape, True)))
            total = outputs if total is None else total + outputs
        assert total is not None
        return total
