"""Trainable networks: drawn from their stream alone, exported exactly."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from whatleaks.arrays import is_sealed
from whatleaks.errors import UsageError
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network
from whatleaks.models.torch_network import Layers, Optimiser, build, export, torch_dtype

torch.set_num_threads(1)


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid"])
def test_export_computes_the_same(activation: str) -> None:
    layers = Layers((7, 5), 3, activation)
    network = build(4, layers, np.random.default_rng(0))
    x = np.random.default_rng(1).normal(size=(20, 4))
    plain = export(network, layers)
    assert isinstance(plain, Network)
    with torch.no_grad():
        assert abs(plain.logits(x) - network(torch.tensor(x)).numpy()).max() < 1e-12
    assert all(is_sealed(array) for array in (*plain.weights, *plain.biases))


def test_the_stream_decides_the_weights_and_the_global_seed_is_left_alone() -> None:
    before = torch.random.get_rng_state()
    one, two, other = (build(4, Layers((5,), 2), np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert torch.equal(before, torch.random.get_rng_state())
    for a, b, c in zip(one.parameters(), two.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
        assert not torch.equal(a, c)


def test_last_activation() -> None:
    layers = Layers((5,), 6, "relu", last=True)
    network = build(4, layers, np.random.default_rng(0), "float32")
    assert float(network(torch.randn(50, 4, generator=torch.Generator())).detach().min()) == 0.0
    with pytest.raises(UsageError, match="cannot be exported"):
        export(network, layers)


def test_refusals() -> None:
    with pytest.raises(UsageError, match="at least 1 unit"):
        Layers((0,), 2)
    with pytest.raises(UsageError, match="activation"):
        Layers((2,), 2, "step")
    with pytest.raises(UsageError, match="precision"):
        torch_dtype("float16")


def test_a_linear_map_with_and_without_bias() -> None:
    x = np.random.default_rng(1).normal(size=(20, 4))
    for bias in (True, False):
        network = build(4, Layers((), 3), np.random.default_rng(0), bias=bias)
        plain = export(network, Layers((), 3))
        assert isinstance(plain, Linear)
        assert bool(plain.bias.any()) == bias
        with torch.no_grad():
            assert abs(plain.logits(x) - network(torch.tensor(x)).numpy()).max() < 1e-12


def test_a_part_of_a_layer_is_drawn_for_the_whole_layer() -> None:
    rng = np.random.default_rng
    whole, part = (
        build(4, Layers((), 500), rng(0), joined=joined)[0].weight.detach().abs().max()
        for joined in (None, 100)
    )
    assert 0.45 < float(whole) <= 0.5  # 1 / sqrt(4)
    assert 0.09 < float(part) <= 0.1  # 1 / sqrt(100)


def test_the_optimiser_is_adam_and_its_rate_falls_if_told_to() -> None:
    """The first steps of Adam have the length of its rate, whatever the gradient."""
    for over, last in ((None, 0.1), (4, 0.1 * (0.01 + 0.99 * (1 + np.cos(3 * np.pi / 4)) / 2))):
        weight = torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))
        optimiser = Optimiser([weight], 0.1, falls_over=over)
        for _ in range(4):
            before = float(weight.detach())
            optimiser.carry_back(3.0 * weight.sum())
            assert float(weight.detach()) == before  # not before it is told to
            optimiser.update()
        assert before - float(weight.detach()) == pytest.approx(last, rel=1e-6)


def test_l2_pulls_weights_to_zero() -> None:
    weight = torch.nn.Parameter(torch.ones(1, dtype=torch.float64))
    optimiser = Optimiser([weight], 0.1, l2=1.0)
    optimiser.follow(0.0 * weight.sum())
    assert float(weight.detach()) == pytest.approx(0.9)
