"""Linear parts on plain arrays train as torch does; Adam is torch's."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from whatleaks.models.adam import Adam, falling
from whatleaks.models.torch_network import Layers, Optimiser, build
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


@pytest.mark.parametrize("falls_over", [None, 40])
def test_the_optimiser_is_torchs(falls_over: int | None) -> None:
    layers, inputs = Layers((4,), 2, "tanh"), torch.linspace(0, 1, 30).double().reshape(10, 3)
    ours, theirs = (build(3, layers, np.random.default_rng(5)) for _ in range(2))
    quick = Optimiser(ours.parameters(), 0.05, 0.01, falls_over)
    slow = torch.optim.Adam(theirs.parameters(), lr=0.05, weight_decay=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(slow, 40, eta_min=0.0005)
    for _ in range(40):
        quick.follow(((ours(inputs) - 1.0) ** 2).mean())
        slow.zero_grad()
        ((theirs(inputs) - 1.0) ** 2).mean().backward()
        slow.step()
        if falls_over:
            schedule.step()
    pairs = zip(ours.parameters(), theirs.parameters(), strict=True)
    assert all(float((a - b).detach().abs().max()) < 1e-12 for a, b in pairs)


def test_a_network_is_trained_without_torchs_compiler() -> None:
    said = (
        "import sys, numpy as np, torch\n"
        "from whatleaks.models.torch_network import Layers, Optimiser, build\n"
        "net = build(3, Layers((4,), 1), np.random.default_rng(0))\n"
        "Optimiser(net.parameters(), 0.1, falls_over=9).follow(net(torch.ones(2, 3).double()).sum())\n"
        "slow = {'torch._dynamo', 'sympy'} & set(sys.modules)\n"
        "print('loaded' if slow else 'not loaded')"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", said], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "not loaded", done.stderr


def test_the_rate_falls_to_a_hundredth() -> None:
    assert falling(0.5, 0, 100) == 0.5
    assert falling(0.5, 50, 100) == pytest.approx((0.5 + 0.005) / 2)
    assert falling(0.5, 100, 100) == pytest.approx(0.005)
