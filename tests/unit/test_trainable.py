"""Linear parts on plain arrays train as torch does; Adam is torch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from whatleaks.models.adam import Adam, falling
from whatleaks.models.torch_network import Layers
from whatleaks.models.trainable import LinearPart, TorchPart, trainable


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("outputs", [1, 4])
def test_a_linear_part_trains_as_torch_does(bias: bool, l2: float, outputs: int) -> None:
    rng = np.random.default_rng(0)
    features = rng.random((40, 5))
    steps, layers = 120, Layers((), outputs)
    parts = [
        kind(features, layers, np.random.default_rng(1), 0.05, l2, steps, bias=bias, joined=9)
        for kind in (LinearPart, TorchPart)
    ]
    for _ in range(steps):
        rows = rng.integers(0, 40, 16)
        plain, slow = (part.outputs(rows) for part in parts)
        assert np.abs(plain - slow).max() < 1e-10
        gradient = rng.normal(size=plain.shape)
        for part in parts:
            part.follow(gradient)
    plain, slow = (part.export() for part in parts)
    assert np.abs(plain.weights - slow.weights).max() < 1e-10
    assert np.abs(plain.bias - slow.bias).max() < 1e-10
    assert np.abs(parts[0].emit(features) - plain.logits(features)).max() < 1e-12


def test_what_is_exported_does_not_train_on() -> None:
    part = trainable(np.ones((4, 2)), Layers((), 1), np.random.default_rng(0), 0.1, 0.0, 10)
    before = part.export()
    kept = before.weights.copy()
    part.outputs(np.arange(4))
    part.follow(np.ones((4, 1)))
    assert np.array_equal(before.weights, kept)
    assert not np.array_equal(part.export().weights, kept)


def test_layers_between_are_left_to_torch() -> None:
    for layers, kind in ((Layers((3,), 1), TorchPart), (Layers((), 2), LinearPart)):
        found = trainable(np.ones((4, 2)), layers, np.random.default_rng(0), 0.1, 0.0, 10)
        assert type(found) is kind


def test_adam_is_torchs() -> None:
    rng = np.random.default_rng(2)
    start = rng.normal(size=(6, 3))
    ours = Adam(start.copy(), 0.01)
    theirs = torch.tensor(start).requires_grad_()
    optimiser = torch.optim.Adam([theirs], lr=0.01)
    for _ in range(300):
        gradient = rng.normal(size=start.shape)
        ours.follow(gradient)
        theirs.grad = torch.tensor(gradient)
        optimiser.step()
    assert np.abs(ours.values - theirs.detach().numpy()).max() < 1e-12


def test_the_rate_falls_to_a_hundredth() -> None:
    assert falling(0.5, 0, 100) == 0.5
    assert falling(0.5, 50, 100) == pytest.approx((0.5 + 0.005) / 2)
    assert falling(0.5, 100, 100) == pytest.approx(0.005)
