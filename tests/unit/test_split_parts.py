"""Parts of split networks: scaling, networks on pictures, distance correlation, defenses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from staging import chosen, held
from whatleaks.arrays import Floats, sealed
from whatleaks.codec import decode, encode
from whatleaks.defenses.embedding_noise import EmbeddingNoise
from whatleaks.defenses.gradient_noise import GradientNoise
from whatleaks.defenses.nopeek import NoPeek
from whatleaks.errors import UsageError
from whatleaks.federation.split.parties import PassiveParty
from whatleaks.federation.split.run import SplitFederation
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.models.distance_correlation import distance_correlation
from whatleaks.models.picture_networks import Convolutions, PictureDecoder
from whatleaks.models.scaling import scale_of
from whatleaks.models.structures import keep, made, outputs_of
from whatleaks.models.torch_network import Layers
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel

torch.set_num_threads(1)
RNG = np.random.default_rng(0)
SMALL = SplitSettings(steps=8, batch=10, learning_rate=1e-2, bottom=Layers((5,), 3))


@given(st.sampled_from(["none", "standard", "pixels"]), st.integers(0, 100))
def test_scaling_is_undone_exactly(kind: str, seed: int) -> None:
    columns = np.random.default_rng(seed).normal(3.0, 2.0, size=(20, 3))
    columns[:, 1] = 7.0  # constant
    scale = scale_of(kind, columns)
    scaled = scale.apply(columns)
    assert np.abs(scale.undo(scaled) - columns).max() < 1e-12
    if kind == "standard":
        assert np.abs(scaled.mean(axis=0)).max() < 1e-12
        assert np.abs(scaled.std(axis=0) - [1.0, 0.0, 1.0]).max() < 1e-12
    if kind == "pixels":
        assert np.abs(scale.apply(np.array([[0.0, 0.5, 1.0]])) - [-1.0, 0.0, 1.0]).max() < 1e-12


def test_an_unknown_scaling_or_network_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown scaling"):
        scale_of("other", np.zeros((2, 2)))
    for wrong in ({"scaling": "x"}, {"network": "x"}, {"network": "cnn"}, {"decorrelation": 2.0}):
        with pytest.raises(UsageError):
            replace(SMALL, **wrong)


@pytest.mark.parametrize("residual", [False, True])
def test_networks_on_pictures_have_the_sizes_they_say(residual: bool) -> None:
    bottom = Convolutions(28, 1, (4, 6), residual)
    assert bottom.cells(28 * 14) == (7, 4)
    assert outputs_of(bottom, 392) == 7 * 4 * 6
    network = made(bottom, 392, np.random.default_rng(0), "float32")
    rows = RNG.random((3, 392))
    sent = network(torch.tensor(rows, dtype=torch.float32))
    assert sent.shape == (3, 168)
    decoder = PictureDecoder(bottom, 2, 392)
    back = made(decoder, 336, np.random.default_rng(0), "float32")
    assert back(torch.cat([sent, sent], dim=1)).shape == (3, 392)
    with pytest.raises(UsageError, match="no picture of height 28"):
        made(bottom, 393, np.random.default_rng(0))
    with pytest.raises(UsageError, match="cut it in the middle"):
        made(decoder, 300, np.random.default_rng(0))


def test_pixels_keep_their_place_on_the_way_through_a_network() -> None:
    """A picture of 2 x 3 in two colours: rows of numbers become maps and rows again."""
    network = made(Convolutions(2, 2, (1,)), 12, np.random.default_rng(0))
    assert isinstance(network, torch.nn.Sequential)
    row = torch.arange(12.0).reshape(1, 12).double()
    pictures = network[0](row)
    assert pictures.shape == (1, 2, 2, 3)
    assert pictures[0, 1, 0, 2] == 5.0  # colour 1 of the first line's third pixel
    back = made(PictureDecoder(Convolutions(2, 2, (1,)), 1, 12), 2, np.random.default_rng(0))
    assert isinstance(back, torch.nn.Sequential)
    assert torch.equal(back[-1](pictures), row)


@pytest.mark.parametrize(
    "structure", [Layers((4,), 3, last=True), Convolutions(4, 1, (3, 5), residual=True)]
)
def test_a_kept_network_travels_and_answers_the_same(structure: Layers | Convolutions) -> None:
    network = made(structure, 16, np.random.default_rng(0))
    rows = sealed(RNG.random((5, 16)))
    kept = decode(encode(keep(network, structure, 16)))
    direct = network(torch.tensor(rows)).detach().numpy()
    assert np.array_equal(kept.outputs(rows), direct)
    other = made(structure, 16, np.random.default_rng(1))
    assert not np.array_equal(other(torch.tensor(rows)).detach().numpy(), direct)


def plain_correlation(x: Floats, y: Floats) -> float:
    """Compute the distance correlation by its definition, pair by pair."""
    n = len(x)

    def centred(v: Floats) -> Floats:
        d = np.array([[np.linalg.norm(v[i] - v[j]) for j in range(n)] for i in range(n)])
        out = np.empty((n, n))
        for i in range(n):
            for j in range(n):
                out[i, j] = d[i, j] - d[i].mean() - d[:, j].mean() + d.mean()
        return out

    a, b = centred(x), centred(y)
    return float(np.sqrt((a * b).mean() / np.sqrt((a * a).mean() * (b * b).mean())))


def test_distance_correlation_by_its_definition() -> None:
    x, y = RNG.normal(size=(15, 3)), RNG.normal(size=(15, 2))
    found = float(distance_correlation(torch.tensor(x), torch.tensor(y)))
    assert abs(found - plain_correlation(x, y)) < 1e-5  # the root is smoothed at 0
    turned = x @ np.linalg.qr(RNG.normal(size=(3, 3)))[0] * 4.0 + 1.0
    assert abs(float(distance_correlation(torch.tensor(x), torch.tensor(turned))) - 1.0) < 1e-5
    flat = torch.zeros(15, 2, dtype=torch.float64)
    assert np.isfinite(float(distance_correlation(torch.tensor(x), flat)))


def passive(alpha: float) -> PassiveParty:
    settings = replace(SMALL, decorrelation=alpha)
    columns = np.random.default_rng(1).normal(size=(30, 4))
    return PassiveParty("passive", sealed(columns), settings, np.random.default_rng(2))


def test_nopeek_adds_its_gradient_as_equation_6_says() -> None:
    rows, answer = np.arange(10), np.random.default_rng(3).normal(size=(10, 3))
    gradients = {}
    for alpha in (0.0, 0.3, 1.0):
        party = passive(alpha)
        party.forward(rows)
        party.backward(sealed(answer))
        gradients[alpha] = next(iter(party.bottom.parameters())).grad.clone()
    mixed = 0.3 * gradients[1.0] + 0.7 * gradients[0.0]
    assert float((gradients[0.3] - mixed).abs().max()) < 1e-12
    party = passive(1.0)  # alpha 1: what the active party answers no longer matters
    party.forward(rows)
    party.backward(sealed(np.zeros((10, 3))))
    assert torch.equal(next(iter(party.bottom.parameters())).grad, gradients[1.0])


def test_nopeek_lowers_the_correlation() -> None:
    columns = np.random.default_rng(1).normal(size=(60, 4))
    holdings = held(columns, (columns[:, 0] > 0).astype(np.int64), [np.s_[1:]], np.s_[:1], 2)
    found = []
    for settings in (SMALL, NoPeek(0.95).adapt(SMALL)):
        run = SplitFederation().train(
            holdings, chosen(range(60)), replace(settings, steps=150), Streams(1), Channel()
        )
        sent = run.passives["passive"].embed(sealed(columns[:, 1:]))
        found.append(float(distance_correlation(torch.tensor(columns[:, 1:]), torch.tensor(sent))))
    assert found[1] < 0.8 * found[0]
    assert NoPeek().adapt(object()) is None
    with pytest.raises(UsageError, match="above 0 and up to 1"):
        NoPeek(0.0)


def test_noise_has_the_size_that_was_asked_for_and_touches_nothing_else() -> None:
    values, rng = sealed(RNG.normal(size=(200, 50))), np.random.default_rng(0)
    blurred = EmbeddingNoise(0.3).alter("passive", "embeddings", values, rng) - values
    assert abs(blurred.std() - 0.3) < 0.01
    noise = GradientNoise(0.5).alter("active", "gradients", values, rng) - values
    # Laplace of scale b: mean size b; here b = mean size of the values / 0.5.
    assert abs(np.abs(noise).mean() / (2 * np.abs(values).mean()) - 1.0) < 0.05
    for defense in (EmbeddingNoise(), GradientNoise()):
        assert defense.alter("passive", "labels", values, rng) is values
    assert GradientNoise().alter("active", "gradients", values[:0], rng).shape == (0, 50)
    for wrong in (EmbeddingNoise, GradientNoise):
        with pytest.raises(UsageError, match="above 0"):
            wrong(0.0)
