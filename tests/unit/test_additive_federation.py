"""The additive federation: the same model as joint training, by messages alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer, load_iris

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.defenses.label_only import LabelOnly
from whatleaks.defenses.rounding import Rounding
from whatleaks.defenses.score_noise import ScoreNoise
from whatleaks.errors import UsageError
from whatleaks.federation.additive import ACTIVE, PASSIVE, AdditiveFederation, AdditiveSettings
from whatleaks.models.torch_forms import build
from whatleaks.seeds import Streams, torch_seed
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript


def scaled(load):
    x, y = load(return_X_y=True)
    return (x - x.min(0)) / (x.max(0) - x.min(0)), y


def federation(x, y, split, settings, seed=0, defenses=(), channel=None):
    return AdditiveFederation(
        sealed(x[:, split:]),
        sealed(x[:, :split]),
        sealed_ints(y),
        int(y.max()) + 1,
        settings,
        Streams(seed),
        channel if channel is not None else Channel(Transcript([ACTIVE])),
        defenses,
    )


@pytest.mark.parametrize("hidden", [(), (5,)])
def test_it_trains_the_same_model_as_joint_training(hidden) -> None:
    x, y = scaled(load_iris)
    settings = AdditiveSettings(hidden=hidden, steps=60, batch=32)
    fed = federation(x, y, 2, settings)
    fed.train(np.arange(120))

    streams = Streams(0)
    parts = {
        name: build(
            2, hidden, 3, "sigmoid", name == ACTIVE, torch_seed(streams.rng(f"weights/{name}"))
        )
        for name in (ACTIVE, PASSIVE)
    }
    parameters = [p for part in parts.values() for p in part.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 60, eta_min=5e-4)
    xa, xp = torch.tensor(x[:, 2:]), torch.tensor(x[:, :2])
    for rows in fed._batches(np.arange(120)):
        optimiser.zero_grad()
        z = parts[ACTIVE](xa[rows]) + parts[PASSIVE](xp[rows])
        torch.nn.functional.cross_entropy(z, torch.tensor(y[rows])).backward()
        optimiser.step()
        schedule.step()
    with torch.no_grad():
        joint = (parts[ACTIVE](xa) + parts[PASSIVE](xp)).numpy()
    assert np.abs(fed.model().logits(x[:, 2:], x[:, :2]) - joint).max() < 1e-10


def test_the_binary_gradient_is_the_joint_one() -> None:
    x, y = scaled(load_breast_cancer)
    fed = federation(x, y, 10, AdditiveSettings(steps=1, batch=64))
    before = fed.model()
    rows = next(iter(fed._batches(np.arange(400))))
    fed._coordinator.labels = sealed_ints(y)
    z = torch.tensor(before.logits(x[rows][:, 10:], x[rows][:, :10]), requires_grad=True)
    torch.nn.functional.binary_cross_entropy_with_logits(
        z[:, 0], torch.tensor(y[rows], dtype=torch.float64)
    ).backward()
    gradient = fed._coordinator.gradient(rows, z.detach().numpy())
    assert np.abs(gradient - z.grad.numpy()).max() < 1e-14


def test_it_learns_and_predicts_what_the_model_says() -> None:
    x, y = scaled(load_breast_cancer)
    fed = federation(x, y, 10, AdditiveSettings(steps=800))
    fed.train(np.arange(400))
    rows = np.arange(400, 569)
    scores = fed.predict(rows)
    assert (scores.argmax(1) == y[rows]).mean() > 0.93
    assert np.abs(scores - fed.model().scores(x[rows][:, 10:], x[rows][:, :10])).max() < 1e-13


def test_only_scores_and_gradients_reach_the_active_party() -> None:
    x, y = scaled(load_iris)
    channel = Channel()
    fed = federation(x, y, 2, AdditiveSettings(steps=3, batch=50), channel=channel)
    fed.train(np.arange(100))
    fed.predict(np.arange(100, 150))
    kinds = {m.kind for m in channel.transcript.received_by(ACTIVE)}
    assert kinds == {"output-gradient", "scores"}
    assert {m.kind for m in channel.transcript.received_by(PASSIVE)} == {"output-gradient"}


def test_release_defenses_act_before_recording() -> None:
    x, y = scaled(load_iris)
    channel = Channel()
    fed = federation(x, y, 2, AdditiveSettings(steps=50), defenses=[Rounding(1)], channel=channel)
    fed.train(np.arange(100))
    exact = fed.model().scores(x[100:, 2:], x[100:, :2])
    got = fed.predict(np.arange(100, 150))
    assert np.abs(got * 10 - np.round(got * 10)).max() < 1e-12
    assert ((exact - got >= -1e-9) & (exact - got < 0.1 + 1e-9)).all()  # rounded down
    fed.with_defenses([LabelOnly()])
    assert np.array_equal(fed.predict(np.arange(100, 150)).argmax(1), exact.argmax(1))
    recorded = [
        m.payload.values for m in channel.transcript.received_by(ACTIVE) if m.kind == "scores"
    ]
    assert np.array_equal(recorded[0], got)
    assert set(np.unique(recorded[1])) == {0.0, 1.0}


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


@pytest.mark.parametrize(
    "bad",
    [{"steps": 0}, {"batch": 0}, {"learning_rate": 0.0}, {"activation": "gelu", "hidden": (3,)}],
)
def test_bad_settings_are_refused(bad) -> None:
    x, y = scaled(load_iris)

    def start():
        return federation(x, y, 2, AdditiveSettings(**bad))

    with pytest.raises(UsageError):
        start()


def test_one_class_is_refused() -> None:
    x, y = scaled(load_iris)
    with pytest.raises(UsageError, match="2 classes"):
        federation(x, np.zeros_like(y), 2, AdditiveSettings())
