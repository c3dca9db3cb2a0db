"""Trainable networks: drawn from their stream alone, exported exactly."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from whatleaks.arrays import is_sealed
from whatleaks.errors import UsageError
from whatleaks.models.torch_network import Layers, build, exported, torch_dtype

torch.set_num_threads(1)


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid"])
def test_export_computes_the_same(activation: str) -> None:
    layers = Layers((7, 5), 3, activation)
    network = build(4, layers, np.random.default_rng(0))
    x = np.random.default_rng(1).normal(size=(20, 4))
    plain = exported(network, layers)
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
        exported(network, layers)


def test_refusals() -> None:
    with pytest.raises(UsageError, match="at least 1 unit"):
        Layers((0,), 2)
    with pytest.raises(UsageError, match="activation"):
        Layers((2,), 2, "step")
    with pytest.raises(UsageError, match="precision"):
        torch_dtype("float16")
