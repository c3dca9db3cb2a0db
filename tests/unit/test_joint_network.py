"""The joint network: the same network as joint training, by messages alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer, load_wine

from staging import chosen, held, scaled
from whatleaks.arrays import sealed
from whatleaks.attacks.gradient_inversion import GradientInversion
from whatleaks.attacks.half_star import HalfStar
from whatleaks.catalog import view_of
from whatleaks.codec import decode, encode
from whatleaks.defenses.protocol import OPEN, Guard
from whatleaks.defenses.rounding import Rounding
from whatleaks.errors import UsageError
from whatleaks.federation.additive.run import AdditiveFederation
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.federation.joint_network.parties import LearningCoordinator
from whatleaks.federation.joint_network.run import JointNetworkFederation, untrained
from whatleaks.federation.joint_network.settings import JointNetworkSettings
from whatleaks.federation.schedule import agreed_batches
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network
from whatleaks.models.torch_forms import GivenOwn
from whatleaks.seeds import Streams
from whatleaks.threat.grants import JointModel, Ranges
from whatleaks.threat.prediction import AGNOSTIC, WHITE_BOX
from whatleaks.threat.views.agnostic import AgnosticView
from whatleaks.threat.views.prediction import WhiteBoxPredictionView
from whatleaks.wire.channel import Channel
from whatleaks.wire.parties import ACTIVE, COORDINATOR, PASSIVE
from whatleaks.wire.transcript import Transcript

torch.set_num_threads(1)


def split(x, y, at):
    """The passive party has the first columns."""
    return held(x, y, [np.s_[:at]], np.s_[at:])


def trained(x, y, at, settings, rows, channel=None):
    return JointNetworkFederation().train(
        split(x, y, at),
        chosen(rows),
        settings,
        Streams(0),
        channel if channel is not None else Channel(Transcript([])),
    )


def model_of(fed) -> JointNetwork:
    return fed.offer((ACTIVE,))[0].model


def centralised(holdings, settings, records):
    """Train one torch network over the joined columns, from the federation's own start."""
    start = model_of(untrained(holdings, chosen(range(records)), settings, Streams(0)))
    rest = start.rest
    if isinstance(rest, Linear):
        rest = Network((rest.weights,), (rest.bias,), start.activation)
    weights = [np.concatenate([start.active.weights, start.passive.weights]), *rest.weights]
    biases = [start.active.bias, *rest.biases]
    acts = {"relu": torch.nn.ReLU, "sigmoid": torch.nn.Sigmoid, "tanh": torch.nn.Tanh}
    layers = []
    for w, b in zip(weights, biases, strict=True):
        layer = torch.nn.Linear(*w.shape, dtype=torch.float64)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(w.T))
            layer.bias.copy_(torch.tensor(b))
        layers += [layer, acts[settings.activation]()]
    net = torch.nn.Sequential(*layers[:-1])
    adam = torch.optim.Adam(net.parameters(), lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
        adam, settings.steps, eta_min=settings.learning_rate * 1e-2
    )
    joined, y = torch.tensor(holdings.joined(tuple(holdings.columns))), holdings.labels
    for batch in agreed_batches(records, settings, Streams(0).rng("batches")):
        adam.zero_grad()
        z = net(joined[torch.tensor(batch)])
        if z.shape[1] == 1:
            wanted = torch.tensor(y[batch], dtype=torch.float64)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(z[:, 0], wanted)
        else:
            loss = torch.nn.functional.cross_entropy(z, torch.tensor(y[batch]))
        loss.backward()
        adam.step()
        schedule.step()
    with torch.no_grad():
        return net(joined).numpy()


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize(
    ("hidden", "activation"), [((12,), "sigmoid"), ((20, 10, 5), "relu"), ((8, 8), "tanh")]
)
def test_federated_training_is_centralised_training(load, hidden, activation) -> None:
    x, y = scaled(load)
    settings = JointNetworkSettings(hidden, activation, steps=60, batch=32, learning_rate=0.01)
    joint = centralised(split(x, y, 5), settings, 150)
    fed = trained(x, y, 5, settings, np.arange(150))
    assert np.abs(model_of(fed).logits(x[:, 5:], x[:, :5]) - joint).max() < 1e-10


@pytest.mark.parametrize("coalition", [("active",), ("active", "passive-3"), ("active", "passive")])
def test_four_parties_train_it_too_and_a_coalition_joins_its_parts(coalition) -> None:
    x, y = scaled(load_wine)
    settings = JointNetworkSettings((12, 6), steps=60, batch=32, learning_rate=0.01)
    holdings = held(x, y, [np.s_[:4], np.s_[4:7], np.s_[7:8]], np.s_[8:])
    joint = centralised(holdings, settings, 150)
    fed = JointNetworkFederation().train(
        holdings, chosen(range(150)), settings, Streams(0), Channel(Transcript([]))
    )
    model = fed.offer(coalition)[0].model
    tables = [holdings.joined(parties) for parties in (coalition, holdings.victims(coalition))]
    assert np.abs(model.logits(*tables) - joint).max() < 1e-10
    assert (
        np.abs(fed.release(np.arange(178), Channel(), OPEN) - model.scores(*tables)).max() < 1e-12
    )


def test_the_papers_sizes_learn_and_predict_what_the_model_says() -> None:
    x, y = scaled(load_breast_cancer)
    order = np.random.default_rng(0).permutation(len(y))
    x, y = x[order], y[order]
    fed = trained(x, y, 10, JointNetworkSettings(steps=150), np.arange(400))
    rows = np.arange(400, 569)
    scores = fed.release(rows, Channel(), OPEN)
    model = model_of(fed)
    sizes = [model.active.weights.shape[1], *[w.shape[1] for w in model.rest.weights]]
    assert sizes == [600, 300, 100, 1]
    assert (scores.argmax(1) == y[rows]).mean() > 0.93
    assert np.abs(scores - model.scores(x[rows][:, 10:], x[rows][:, :10])).max() < 1e-12


def test_dropout_changes_training_and_never_prediction() -> None:
    x, y = scaled(load_wine)
    models = []
    for rate in (0.0, 0.5, 0.5):
        settings = JointNetworkSettings((30, 20), dropout=rate, steps=40)
        fed = trained(x, y, 6, settings, np.arange(120))
        first, second = (fed.release(np.arange(120, 178), Channel(), OPEN) for _ in range(2))
        assert np.array_equal(first, second)
        models.append(encode(model_of(fed)))
    assert models[0] != models[1]
    assert models[1] == models[2]  # the same seed leaves out the same values


def test_dropout_keeps_the_mean() -> None:
    settings = JointNetworkSettings((50,), dropout=0.3)
    coordinator = LearningCoordinator((ACTIVE, PASSIVE), 3, settings, Streams(0))
    sums = torch.full((20000, 50), 0.5, dtype=torch.float64)
    with torch.no_grad():
        plain = coordinator.above(sums[:1], training=False)
        dropped = coordinator.above(sums, training=True)
    error = dropped.std() / np.sqrt(20000)
    assert abs(float(dropped.mean() - plain.mean())) < 4 * float(error)  # n = 20000, 4 sigma
    assert float(dropped.std()) > 0


def test_who_hears_what() -> None:
    x, y = scaled(load_wine)
    channel = Channel()
    settings = JointNetworkSettings((7, 4), steps=3, batch=50)
    fed = trained(x, y, 6, settings, np.arange(100), channel)
    fed.release(np.arange(100, 150), channel, OPEN)
    heard = channel.transcript.received_by
    assert {m.kind for m in heard(ACTIVE)} == {"output-gradient", "scores"}
    assert {m.kind for m in heard(PASSIVE)} == {"output-gradient"}
    assert {m.kind for m in heard(COORDINATOR)} == {"labels", "outputs"}
    outputs = [m.payload.values for m in heard(COORDINATOR) if m.kind == "outputs"]
    assert {o.shape for o in outputs} == {(50, 7)}  # sums of the first layer, no columns


def test_release_defenses_act_before_recording() -> None:
    x, y = scaled(load_wine)
    fed = trained(x, y, 6, JointNetworkSettings((7,), steps=20), np.arange(100))
    scores = fed.release(np.arange(100, 150), Channel(), Guard([Rounding(1)]))
    assert np.abs(scores * 10 - np.round(scores * 10)).max() < 1e-12


def joint_model(rng, active, passive, sizes, activation="relu") -> JointNetwork:
    pairs = list(itertools.pairwise(sizes))
    rest = Network(
        tuple(sealed(rng.normal(size=p)) for p in pairs),
        tuple(sealed(rng.normal(size=b)) for _, b in pairs),
        activation,
    )
    return JointNetwork(
        Linear(sealed(rng.normal(size=(active, sizes[0]))), sealed(rng.normal(size=sizes[0]))),
        Linear(sealed(rng.normal(size=(passive, sizes[0]))), sealed(np.zeros(sizes[0]))),
        rest,
        activation,
    )


@pytest.mark.parametrize("activation", ["sigmoid", "tanh", "relu"])
def test_the_torch_form_equals_the_plain_model_and_travels(activation) -> None:
    rng = np.random.default_rng(0)
    model = joint_model(rng, 3, 2, [6, 5, 4], activation)
    own, other = rng.random((9, 3)), rng.random((9, 2))
    form = GivenOwn(model, own)
    rows = torch.tensor([4, 1])
    assert (
        np.abs(form.outputs(torch.tensor(other)).numpy() - model.logits(own, other)).max() < 1e-12
    )
    some = form.outputs(torch.tensor(other)[rows], rows).numpy()
    assert np.abs(some - model.logits(own, other)[[4, 1]]).max() < 1e-12
    back = decode(encode(model))
    assert np.array_equal(back.scores(own, other), model.scores(own, other))


def test_inversion_works_on_it_and_equations_do_not() -> None:
    rng = np.random.default_rng(1)
    model = joint_model(rng, 3, 1, [8, 4], "tanh")
    own, secret = sealed(rng.random((10, 3))), sealed(rng.random((10, 1)))
    view = WhiteBoxPredictionView(own, sealed(model.scores(own, secret)), 1, model)
    guess = GradientInversion("kl", steps=400, learning_rate=0.01, start="half").infer(view, rng)
    fitted = np.abs(model.scores(own, guess.values) - view.scores).max(axis=1)
    assert np.median(fitted) < 1e-3
    assert not issubclass(WhiteBoxPredictionView, view_of(HalfStar))


def test_the_agnostic_threat_has_no_view_of_it() -> None:
    joint, additive = JointNetworkFederation(), AdditiveFederation()
    offers = joint.offers(JointNetworkSettings())
    assert offers == {JointModel, Ranges}
    assert AGNOSTIC.view_for(joint.shows, offers) is None
    assert AGNOSTIC.view_for(additive.shows, additive.offers(AdditiveSettings())) is AgnosticView
    assert WHITE_BOX.view_for(joint.shows, offers) is WhiteBoxPredictionView


@pytest.mark.parametrize(
    "bad", [{"hidden": ()}, {"hidden": (3, 0)}, {"dropout": 1.0}, {"dropout": -0.1}, {"steps": 0}]
)
def test_bad_settings_are_refused(bad) -> None:
    with pytest.raises(UsageError):
        JointNetworkSettings(**bad)


def test_an_unknown_activation_is_refused() -> None:
    x, y = scaled(load_wine)
    with pytest.raises(UsageError, match="unknown activation"):
        trained(x, y, 6, JointNetworkSettings((3,), "gelu"), np.arange(100))
