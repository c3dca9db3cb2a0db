"""Split training is centralised training cut in two, and nothing but bytes crosses the cut."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer

from whatleaks.arrays import Floats, Ints, is_sealed
from whatleaks.federation.honest_active import HonestActive, HonestSettings
from whatleaks.federation.split import PassiveParty, SplitSettings, batches, run_split
from whatleaks.models.torch_network import Layers, build
from whatleaks.seeds import Streams

torch.set_num_threads(1)


def cancer() -> tuple[Floats, Floats, Ints]:
    """Own columns (every other), passive columns (the rest) on [0, 1], labels: 569 records."""
    data = load_breast_cancer()
    x = (data.data - data.data.min(axis=0)) / np.ptp(data.data, axis=0)
    return x[:, ::2], x[:, 1::2], data.target.astype(np.int64)


def test_split_training_equals_centralised_training() -> None:
    own, passive, labels = cancer()
    streams, layers = Streams(5), Layers((12,), 6)
    settings = SplitSettings(steps=200, batch=50, learning_rate=1e-3, bottom=layers)
    honest = HonestSettings(bottom=layers, top_hidden=(8,), learning_rate=1e-3)
    role = HonestActive(own, labels, 2, 6, honest, streams.rng("active"))
    run = run_split(passive, role, settings, streams)

    # The same first weights in one network with one optimiser and one graph.
    rng = streams.rng("active")
    own_bottom = build(own.shape[1], layers, rng)
    top = build(12, Layers((8,), 2), rng)
    bottom = build(passive.shape[1], layers, streams.rng("bottom"))
    whole = torch.nn.ModuleList([bottom, own_bottom, top])
    start = [parameter.detach().clone() for parameter in whole.parameters()]
    optimiser = torch.optim.Adam(whole.parameters(), lr=1e-3)
    schedule = batches(len(labels), 50, streams.rng("batches"))
    for _ in range(200):
        rows = torch.tensor(next(schedule))
        joined = torch.cat(
            [own_bottom(torch.tensor(own)[rows]), bottom(torch.tensor(passive)[rows])], dim=1
        )
        loss = torch.nn.functional.cross_entropy(top(joined), torch.tensor(labels)[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    cut = [*run.passive.bottom.parameters(), *role.bottom.parameters(), *role.top.parameters()]
    for ours, theirs, first in zip(cut, whole.parameters(), start, strict=True):
        ours, theirs = ours.detach(), theirs.detach()
        assert float((ours - theirs).abs().max()) < 1e-10
        assert float((ours - first).abs().max()) > 1e-2  # it did train


class Customs:
    """An honest party that looks at everything it is handed."""

    def __init__(self, role: HonestActive) -> None:
        self.role = role
        self.handed: list[Floats] = []

    def respond(self, rows: Ints, embeddings: Floats, labels: Ints | None) -> Floats:
        assert type(embeddings) is np.ndarray
        assert is_sealed(embeddings)
        self.handed.append(embeddings)
        return self.role.respond(rows, embeddings, labels)


def test_nothing_but_numbers_crosses(monkeypatch: pytest.MonkeyPatch) -> None:
    own, passive, labels = cancer()
    produced: list[torch.Tensor] = []
    gradients: list[Floats] = []
    forward, backward = PassiveParty.forward, PassiveParty.backward

    def watched_forward(self: PassiveParty, rows: Ints) -> Floats:
        sent = forward(self, rows)
        assert self._sent is not None
        produced.append(self._sent)
        return sent

    def watched_backward(self: PassiveParty, gradient: Floats) -> object:
        gradients.append(gradient)
        return backward(self, gradient)

    monkeypatch.setattr(PassiveParty, "forward", watched_forward)
    monkeypatch.setattr(PassiveParty, "backward", watched_backward)
    settings = SplitSettings(steps=4, batch=50, bottom=Layers((12,), 6))
    role = Customs(
        HonestActive(own, labels, 2, 6, HonestSettings(Layers((12,), 6)), np.random.default_rng(0))
    )
    run = run_split(passive, role, settings, Streams(5))
    assert len(role.handed) == len(produced) == len(gradients) == 4
    for handed, sent, gradient in zip(role.handed, produced, gradients, strict=True):
        assert np.array_equal(handed, sent.detach().numpy())
        assert not np.shares_memory(handed, sent.detach().numpy())
        assert type(gradient) is np.ndarray
        assert is_sealed(gradient)
    kinds = {(t.sender, t.receiver, t.kind) for t in run.channel.transcript.traffic()}
    assert kinds == {("passive", "active", "embeddings"), ("active", "passive", "gradients")}


def test_honest_training_learns_the_label() -> None:
    own, passive, labels = cancer()
    order = Streams(5).rng("split").permutation(len(labels))
    train, test = order[:400], order[400:]
    role = HonestActive(own[train], labels[train], 2, 16, HonestSettings(), Streams(5).rng("a"))
    run = run_split(passive[train], role, SplitSettings(steps=400), Streams(5))
    accuracy = role.accuracy(own[test], run.emit(passive[test]), labels[test])
    # 169 records: the larger class has 63 %; five standard errors above it is 82 %.
    assert accuracy > 0.63 + 5 * np.sqrt(0.63 * 0.37 / 169)
