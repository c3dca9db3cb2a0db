"""The additive federation: the same model as joint training, by messages alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer, load_iris

from staging import chosen, held, scaled
from whatleaks.arrays import Bools, Floats, sealed
from whatleaks.defenses.label_only import LabelOnly
from whatleaks.defenses.protocol import OPEN, Guard, Simulate, WithholdingDefense
from whatleaks.defenses.rounding import Rounding
from whatleaks.defenses.score_noise import ScoreNoise
from whatleaks.errors import UsageError
from whatleaks.federation.additive.parties import AddingCoordinator
from whatleaks.federation.additive.run import AdditiveFederation, AdditiveTrained
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.federation.schedule import agreed_batches
from whatleaks.models.joined_parts import joined_part
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network
from whatleaks.models.torch_network import Layers, build
from whatleaks.seeds import Streams
from whatleaks.threat.grants import AdditiveModel, ChosenParts, LinearModel, Ranges
from whatleaks.wire.channel import Channel
from whatleaks.wire.parties import ACTIVE, COORDINATOR, PASSIVE
from whatleaks.wire.transcript import Transcript

torch.set_num_threads(1)


def trained(x, y, split, settings, rows, channel=None) -> AdditiveTrained:
    """The passive party has the first columns."""
    return AdditiveFederation().train(
        held(x, y, [np.s_[:split]], np.s_[split:]),
        chosen(rows),
        settings,
        Streams(0),
        channel if channel is not None else Channel(Transcript([])),
    )


def model_of(fed: AdditiveTrained):
    return fed.offer((ACTIVE,))[0].model


def joint_training(x, y, cuts, settings, records) -> Floats:
    """Train all parts at once in one torch graph; return the outputs of all records."""
    streams = Streams(0)
    layers = Layers(settings.hidden, 3, "sigmoid")
    parts = {
        name: build(
            x[:, cut].shape[1],
            layers,
            streams.rng(f"weights/{name}"),
            bias=name == ACTIVE or bool(settings.hidden),
        )
        for name, cut in cuts.items()
    }
    parameters = [p for part in parts.values() for p in part.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 60, eta_min=5e-4)
    tables = {name: torch.tensor(x[:, cut]) for name, cut in cuts.items()}
    for rows in agreed_batches(records, settings, streams.rng("batches")):
        optimiser.zero_grad()
        z = sum(parts[name](tables[name][torch.tensor(rows)]) for name in cuts)
        torch.nn.functional.cross_entropy(z, torch.tensor(y[rows])).backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        return sum(parts[name](tables[name]) for name in cuts).numpy()


@pytest.mark.parametrize("hidden", [(), (5,)])
def test_it_trains_the_same_model_as_joint_training(hidden) -> None:
    x, y = scaled(load_iris)
    settings = AdditiveSettings(hidden=hidden, steps=60, batch=32)
    fed = trained(x, y, 2, settings, np.arange(120))
    joint = joint_training(x, y, {ACTIVE: np.s_[2:], PASSIVE: np.s_[:2]}, settings, 120)
    assert np.abs(model_of(fed).logits(x[:, 2:], x[:, :2]) - joint).max() < 1e-10


@pytest.mark.parametrize("hidden", [(), (5, 4)])
@pytest.mark.parametrize("coalition", [("active",), ("active", "passive-2")])
def test_three_parties_train_it_too_and_a_coalition_joins_its_parts(hidden, coalition) -> None:
    x, y = scaled(load_iris)
    settings = AdditiveSettings(hidden=hidden, steps=60, batch=32)
    cuts = {ACTIVE: np.s_[2:3], PASSIVE: np.s_[:2], "passive-2": np.s_[3:]}
    holdings = held(x, y, [cuts[PASSIVE], cuts["passive-2"]], cuts[ACTIVE])
    fed = AdditiveFederation().train(
        holdings, chosen(range(120)), settings, Streams(0), Channel(Transcript([]))
    )
    joint = joint_training(x, y, cuts, settings, 120)
    grant, ranges, _ = fed.offer(coalition)
    victims = holdings.victims(coalition)
    z = grant.model.logits(holdings.joined(coalition), holdings.joined(victims))
    assert np.abs(z - joint).max() < 1e-10
    assert len(ranges.low) == holdings.joined(victims).shape[1]
    scores = fed.release(np.arange(150), Channel(), OPEN)
    assert (
        np.abs(scores - grant.model.scores(*map(holdings.joined, (coalition, victims)))).max()
        < 1e-13
    )


def test_a_coalition_must_be_one() -> None:
    x, y = scaled(load_iris)
    fed = trained(x, y, 2, AdditiveSettings(steps=1), np.arange(120))
    for coalition, why in (
        (("passive",), "needs the active party"),
        (("active", "passive"), "nobody is left"),
        (("active", "passive-3"), "'passive-3' is no party here"),
    ):
        with pytest.raises(UsageError, match=why):
            fed.offer(coalition)


def test_joined_networks_are_one_network_with_the_sum_of_outputs() -> None:
    rng = np.random.default_rng(0)

    def network(inputs: int) -> Network:
        shapes = [(inputs, 4), (4, 3), (3, 2)]
        return Network(
            tuple(sealed(rng.normal(size=s)) for s in shapes),
            tuple(sealed(rng.normal(size=s[1])) for s in shapes),
            "tanh",
        )

    parts = [network(2), network(3), network(1)]
    x = rng.normal(size=(20, 6))
    apart = sum(
        p.logits(x[:, c]) for p, c in zip(parts, np.split(np.arange(6), [2, 5]), strict=True)
    )
    assert np.abs(joined_part(parts).logits(x) - apart).max() < 1e-12
    assert joined_part(parts[:1]) is parts[0]
    linear = [Linear(sealed(rng.normal(size=(2, 3))), sealed(rng.normal(size=3))) for _ in "ab"]
    z = linear[0].logits(x[:, :2]) + linear[1].logits(x[:, 2:4])
    assert np.abs(joined_part(linear).logits(x[:, :4]) - z).max() < 1e-12


def test_the_binary_gradient_is_the_joint_one() -> None:
    rng = np.random.default_rng(0)
    z = torch.tensor(rng.normal(size=(64, 1)), requires_grad=True)
    y = rng.integers(0, 2, 64)
    torch.nn.functional.binary_cross_entropy_with_logits(
        z[:, 0], torch.tensor(y, dtype=torch.float64)
    ).backward()
    gradient = AddingCoordinator((ACTIVE, PASSIVE), 1).gradient(y, z.detach().numpy())
    assert np.abs(gradient - z.grad.numpy()).max() < 1e-14


def test_it_learns_and_predicts_what_the_model_says() -> None:
    x, y = scaled(load_breast_cancer)
    fed = trained(x, y, 10, AdditiveSettings(steps=800), np.arange(400))
    rows = np.arange(400, 569)
    scores = fed.release(rows, Channel(), OPEN)
    assert (scores.argmax(1) == y[rows]).mean() > 0.93
    assert np.array_equal(fed.classes(rows, OPEN), scores.argmax(1))
    assert np.abs(scores - model_of(fed).scores(x[rows][:, 10:], x[rows][:, :10])).max() < 1e-13


def test_only_scores_and_gradients_reach_the_active_party() -> None:
    x, y = scaled(load_iris)
    channel = Channel()
    fed = trained(x, y, 2, AdditiveSettings(steps=3, batch=50), np.arange(100), channel)
    fed.release(np.arange(100, 150), channel, OPEN)
    kinds = {m.kind for m in channel.transcript.received_by(ACTIVE)}
    assert kinds == {"output-gradient", "scores"}
    assert {m.kind for m in channel.transcript.received_by(PASSIVE)} == {"output-gradient"}
    (labels,) = (m for m in channel.transcript.received_by(COORDINATOR) if m.kind == "labels")
    assert np.array_equal(labels.payload.values, y[:100])  # of the records that train, no others


def test_progress_is_told_step_by_step() -> None:
    x, y = scaled(load_iris)
    said: list[tuple[int, int]] = []
    AdditiveFederation().train(
        held(x, y, [np.s_[:2]], np.s_[2:]),
        chosen(range(100)),
        AdditiveSettings(steps=3),
        Streams(0),
        Channel(Transcript([])),
        progress=lambda step, steps: said.append((step, steps)),
    )
    assert said == [(1, 3), (2, 3), (3, 3)]


def test_release_defenses_act_before_recording() -> None:
    x, y = scaled(load_iris)
    channel = Channel()
    fed = trained(x, y, 2, AdditiveSettings(steps=50), np.arange(100))
    exact = model_of(fed).scores(x[100:, 2:], x[100:, :2])
    got = fed.release(np.arange(100, 150), channel, Guard([Rounding(1)]))
    assert np.abs(got * 10 - np.round(got * 10)).max() < 1e-12
    assert ((exact - got >= -1e-9) & (exact - got < 0.1 + 1e-9)).all()  # rounded down
    labels = fed.release(np.arange(100, 150), channel, Guard([LabelOnly()]))
    assert np.array_equal(labels.argmax(1), exact.argmax(1))
    recorded = [
        m.payload.values for m in channel.transcript.received_by(ACTIVE) if m.kind == "scores"
    ]
    assert np.array_equal(recorded[0], got)
    assert set(np.unique(recorded[1])) == {0.0, 1.0}


@dataclass(frozen=True)
class EvenOnly(WithholdingDefense):
    """Lets every other record out, and checks what it is shown."""

    own: Floats
    truth: Floats
    name: str = "even-only"

    def allow(self, own: Floats, truth: Floats, scores: Floats, simulate: Simulate) -> Bools:
        assert np.array_equal(own, self.own)
        assert np.array_equal(truth, self.truth)
        assert simulate("any", own, scores).shape == truth.shape
        return np.arange(len(scores)) % 2 == 0


def test_a_gate_sees_all_columns_and_withholds_records() -> None:
    x, y = scaled(load_iris)
    holdings = held(x, y, [np.s_[:1], np.s_[1:2]], np.s_[2:])
    fed = AdditiveFederation().train(
        holdings, chosen(range(100)), AdditiveSettings(steps=20), Streams(0), Channel()
    )
    rows, channel = np.arange(100, 149), Channel()
    gate = EvenOnly(sealed(x[rows][:, 2:]), sealed(x[rows][:, :2]))
    guard = Guard(gate=gate, simulate=lambda name, own, scores: np.zeros((len(own), 2)))
    scores = fed.release(rows, channel, guard)
    every = fed.release(rows, Channel(), OPEN)
    assert np.array_equal(scores, every[::2])
    classes = fed.classes(rows, guard)
    assert np.array_equal(classes[::2], every[::2].argmax(1))
    assert (classes[1::2] == -1).all()
    heard = channel.transcript.received_by(ACTIVE)
    assert [m.kind for m in heard] == ["released", "scores"]
    assert {m.kind for m in channel.transcript.received_by(COORDINATOR)} == {"outputs", "columns"}
    assert channel.transcript.received_by(PASSIVE) == ()


def test_defenses_by_hand() -> None:
    rng = np.random.default_rng(0)
    s = np.array([[0.3, 0.7], [0.999, 0.001]])
    assert Rounding(1).release(s, rng) == pytest.approx(np.array([[0.3, 0.7], [0.9, 0.0]]))
    assert np.array_equal(Rounding(0).release(s, rng), np.zeros((2, 2)))
    noisy = ScoreNoise(10.0).release(np.full((500, 3), 1 / 3), rng)
    assert noisy.min() >= 0
    assert noisy.sum(axis=1) == pytest.approx(np.ones(500))
    assert np.array_equal(ScoreNoise(0.0).release(s, rng), s)
    for build_bad in (lambda: Rounding(-1), lambda: ScoreNoise(-0.1)):
        with pytest.raises(UsageError):
            build_bad()


def test_what_it_offers_depends_on_its_layers() -> None:
    federation = AdditiveFederation()
    assert federation.offers(federation.models["lr"]) == {LinearModel, Ranges, ChosenParts}
    assert federation.offers(federation.models["network"]) == {AdditiveModel, Ranges, ChosenParts}
    x, y = scaled(load_iris)
    for hidden, kind in (((), LinearModel), ((3,), AdditiveModel)):
        fed = trained(x, y, 2, AdditiveSettings(hidden=hidden, steps=1), np.arange(100))
        grant, ranges, _ = fed.offer((ACTIVE,))
        assert type(grant) is kind
        assert ranges.low.tolist() == [0.0, 0.0]
        assert ranges.high.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "bad",
    [{"steps": 0}, {"batch": 0}, {"learning_rate": 0.0}, {"activation": "gelu", "hidden": (3,)}],
)
def test_bad_settings_are_refused(bad) -> None:
    x, y = scaled(load_iris)

    def start():
        return trained(x, y, 2, AdditiveSettings(**bad), np.arange(100))

    with pytest.raises(UsageError):
        start()


def test_one_class_is_refused() -> None:
    x, y = scaled(load_iris)
    with pytest.raises(UsageError, match="2 classes"):
        trained(x, np.zeros_like(y), 2, AdditiveSettings(), np.arange(100))


def test_there_is_no_seat_for_a_hijacker_and_nothing_to_watch() -> None:
    from whatleaks.attacks.hijack.fsha import FeatureSpaceHijack
    from whatleaks.detectors.splitguard import SplitGuard

    x, y = scaled(load_iris)
    args = (held(x, y, [np.s_[:2]], np.s_[2:]), chosen(range(9)), AdditiveSettings())
    with pytest.raises(UsageError, match="no seat for a hijacker"):
        AdditiveFederation().train(*args, Streams(0), Channel(), hijacker=FeatureSpaceHijack())
    with pytest.raises(UsageError, match="nothing that splitguard could watch"):
        AdditiveFederation().train(*args, Streams(0), Channel(), detector=SplitGuard(3))
