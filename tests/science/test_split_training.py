"""Split training is centralised training cut in two, and nothing but bytes crosses the cut."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer

from staging import chosen, held
from whatleaks.arrays import Floats, Ints, is_sealed
from whatleaks.data.holdings import Holdings
from whatleaks.defenses.protocol import OPEN
from whatleaks.federation.roles import Batch
from whatleaks.federation.schedule import agreed_batches
from whatleaks.federation.split.parties import HonestActive, PassiveParty
from whatleaks.federation.split.run import SplitFederation, train_split
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.models.split_top import TopSettings
from whatleaks.models.torch_network import Layers, build
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel

torch.set_num_threads(1)


def cancer() -> tuple[Floats, Floats, Ints]:
    """Own columns (every other), passive columns (the rest) on [0, 1], labels: 569 records."""
    data = load_breast_cancer()
    x = (data.data - data.data.min(axis=0)) / np.ptp(data.data, axis=0)
    return x[:, ::2], x[:, 1::2], data.target.astype(np.int64)


def tables(passives: int = 1) -> Holdings:
    """Own columns are every other one; the rest is one passive party's, or two share it."""
    own, passive, labels = cancer()
    cuts = [np.s_[15:]] if passives == 1 else [np.s_[15:21], np.s_[21:]]
    return held(np.concatenate([own, passive], axis=1), labels, cuts, np.s_[:15])


@pytest.mark.parametrize("passives", [1, 2])
def test_split_training_equals_centralised_training(passives: int) -> None:
    holdings, layers, streams = tables(passives), Layers((12,), 6), Streams(5)
    own, labels = holdings.columns["active"], holdings.labels
    settings = SplitSettings(steps=200, batch=50, learning_rate=1e-3, bottom=layers)
    honest = TopSettings(bottom=layers, top_hidden=(8,), learning_rate=1e-3)
    everybody = chosen(range(len(labels)))
    run = train_split(holdings, everybody, settings, streams, Channel(), honest=honest)

    # The same first weights in one network with one optimiser and one graph.
    rng = streams.rng("honest")
    own_bottom = build(own.shape[1], layers, rng)
    top = build(6 + 6 * passives, Layers((8,), 2), rng)
    names = {"passive": "bottom", "passive-2": "bottom/passive-2"}
    bottoms = {
        name: build(holdings.columns[name].shape[1], layers, streams.rng(names[name]))
        for name in holdings.passives
    }
    whole = torch.nn.ModuleList([*bottoms.values(), own_bottom, top])
    start = [parameter.detach().clone() for parameter in whole.parameters()]
    optimiser = torch.optim.Adam(whole.parameters(), lr=1e-3)
    for batch in agreed_batches(len(labels), settings, streams.rng("batches")):
        rows = torch.tensor(batch)
        parts = [own_bottom(torch.tensor(own)[rows])]
        for name, bottom in bottoms.items():
            parts.append(bottom(torch.tensor(holdings.columns[name])[rows]))
        joined = torch.cat(parts, dim=1)
        loss = torch.nn.functional.cross_entropy(top(joined), torch.tensor(labels)[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    assert run.honest is not None
    split = (*(p.bottom for p in run.passives.values()), run.honest.bottom, run.honest.top)
    cut = [parameter for network in split for parameter in network.parameters()]
    for ours, theirs, first in zip(cut, whole.parameters(), start, strict=True):
        ours, theirs = ours.detach(), theirs.detach()
        assert float((ours - theirs).abs().max()) < 1e-10
        assert float((ours - first).abs().max()) > 1e-2  # it did train


def test_nothing_but_numbers_crosses(monkeypatch: pytest.MonkeyPatch) -> None:
    produced: list[torch.Tensor] = []
    gradients: list[Floats] = []
    handed: list[Floats] = []
    forward, backward = PassiveParty.forward, PassiveParty.backward
    respond = HonestActive.respond

    def watched_forward(self: PassiveParty, rows: Ints) -> Floats:
        sent = forward(self, rows)
        assert self._sent is not None
        produced.append(self._sent)
        return sent

    def watched_backward(self: PassiveParty, gradient: Floats) -> None:
        gradients.append(gradient)
        backward(self, gradient)

    def customs(self: HonestActive, batch: Batch) -> Floats:
        assert type(batch.embeddings) is np.ndarray
        assert is_sealed(batch.embeddings)
        handed.append(batch.embeddings)
        return respond(self, batch)

    monkeypatch.setattr(PassiveParty, "forward", watched_forward)
    monkeypatch.setattr(PassiveParty, "backward", watched_backward)
    monkeypatch.setattr(HonestActive, "respond", customs)
    settings = SplitSettings(steps=4, batch=50, bottom=Layers((12,), 6))
    channel = Channel()
    SplitFederation().train(tables(), chosen(range(569)), settings, Streams(5), channel)
    assert len(handed) == len(produced) == len(gradients) == 4
    for got, sent, gradient in zip(handed, produced, gradients, strict=True):
        assert np.array_equal(got, sent.detach().numpy())
        assert not np.shares_memory(got, sent.detach().numpy())
        assert type(gradient) is np.ndarray
        assert is_sealed(gradient)
    kinds = {(t.sender, t.receiver, t.kind) for t in channel.transcript.traffic()}
    assert kinds == {("passive", "active", "embeddings"), ("active", "passive", "gradients")}


def test_honest_training_learns_the_label() -> None:
    holdings = tables()
    order = Streams(5).rng("split").permutation(569)
    train, test = order[:400], order[400:]
    settings = SplitSettings(steps=400)
    run = SplitFederation().train(holdings, chosen(train), settings, Streams(5), Channel())
    classes = run.classes(test, OPEN)
    assert classes is not None
    accuracy = float(np.mean(classes == holdings.labels[test]))
    # 169 records: the larger class has 63 %; five standard errors above it is 82 %.
    assert accuracy > 0.63 + 5 * np.sqrt(0.63 * 0.37 / 169)
