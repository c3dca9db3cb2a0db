"""Differentially private training: its accountant, its clipping, its noise."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from whatleaks.defenses.private_training import PrivateTraining
from whatleaks.errors import UsageError
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.federation.joint_network.settings import JointNetworkSettings
from whatleaks.federation.summed.private import (
    DELTA,
    PrivateGradients,
    PrivateLinear,
    PrivateNetwork,
    noise_multiplier,
    sampled_batches,
)
from whatleaks.models.torch_network import Layers
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial


def test_one_full_step_needs_at_least_the_exact_noise_of_the_gaussian_mechanism() -> None:
    from scipy.stats import norm

    found = noise_multiplier(1.0, 100, 100, 1)
    # Balle and Wang 2018: the exact delta of a Gaussian of sensitivity one.
    delta = norm.cdf(0.5 / found - found) - np.e * norm.cdf(-0.5 / found - found)
    assert delta < DELTA
    assert delta > DELTA / 100  # Renyi accounting is not much too careful
    assert noise_multiplier(0.1, 1000, 50, 20) > noise_multiplier(10.0, 1000, 50, 20)
    assert noise_multiplier(1.0, 1000, 50, 200) > noise_multiplier(1.0, 1000, 50, 20)


def test_clipped_gradients_are_the_slow_ones() -> None:
    rng = np.random.default_rng(0)
    module = torch.nn.Sequential(
        torch.nn.Linear(3, 4, dtype=torch.float64), torch.nn.Tanh(),
        torch.nn.Linear(4, 2, dtype=torch.float64),
    )  # fmt: skip
    inputs, by_outputs = torch.tensor(rng.random((6, 3))), torch.tensor(rng.normal(size=(6, 2)))
    PrivateGradients(1.0, 0.0, 2, 5, rng).set_gradients(module, inputs, by_outputs)
    got = [p.grad.clone() for p in module.parameters()]
    want = [torch.zeros_like(p) for p in module.parameters()]
    for i in range(6):
        found = torch.autograd.grad(
            (module(inputs[i]) * by_outputs[i]).sum(), list(module.parameters())
        )
        norm = float(torch.sqrt(sum((g**2).sum() for g in found)))
        for total, g in zip(want, found, strict=True):
            total += g * min(1.0, (1.0 / np.sqrt(2)) / norm) / 5
    for a, b in zip(got, want, strict=True):
        assert float((a - b).abs().max()) < 1e-12


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("outputs", [1, 3])
def test_a_linear_part_takes_the_steps_of_a_network_without_hidden_layers(
    bias: bool, outputs: int
) -> None:
    draw = np.random.default_rng(2)
    features, layers = draw.random((30, 4)), Layers((), outputs)
    parts = [
        made(features, layers, np.random.default_rng(3), 0.05, 0.01, 20, bias=bias)
        for made in (PrivateLinear, PrivateNetwork)
    ]
    for part in parts:
        part.gradients = PrivateGradients(0.3, 1.5, 2, 10, np.random.default_rng(4))
    for _ in range(20):
        rows = np.flatnonzero(draw.random(30) < 0.4)
        first, second = (part.outputs(rows) for part in parts)
        assert np.abs(first - second).max() < 1e-9
        slopes = draw.normal(size=first.shape) / len(rows)
        for part in parts:
            part.follow(slopes)
    one, other = (part.export() for part in parts)
    assert np.abs(one.weights - other.weights).max() < 1e-9
    assert np.abs(one.bias - other.bias).max() < 1e-9


def test_noise_has_the_deviation_that_the_accountant_was_told() -> None:
    module = torch.nn.Linear(200, 50, bias=False, dtype=torch.float64)
    step = PrivateGradients(0.5, 3.0, 2, 10, np.random.default_rng(1))
    step.set_gradients(
        module, torch.zeros(1, 200, dtype=torch.float64), torch.zeros(1, 50, dtype=torch.float64)
    )
    assert float(module.weight.grad.std()) == pytest.approx(3.0 * 0.5 / 10, rel=0.05)


def test_every_record_is_sampled_with_the_same_chance() -> None:
    batches = sampled_batches(50, 10, 400, np.random.default_rng(0))
    assert len(batches) == 400
    counts = np.bincount(np.concatenate(batches), minlength=50) / 400
    assert counts == pytest.approx(0.2, abs=0.09)
    assert len({len(rows) for rows in batches}) > 3  # sizes differ: this is no shuffle


def test_it_fits_additive_parts_only_and_less_budget_costs_accuracy() -> None:
    assert PrivateTraining(0.5).adapt(AdditiveSettings()).epsilon == 0.5
    assert PrivateTraining(0.5).adapt(JointNetworkSettings()) is None
    with pytest.raises(UsageError, match="must be positive"):
        PrivateTraining(0.0)
    base = {"unknown": 3, "targets": 15, "references": (), "model_options": Settings({"steps": 60})}
    free, tight = (
        run_trial(Scenario("wine", defense=defense, **base)).outcome.measurements
        for defense in ("", "dp-sgd-0.05")
    )
    assert tight["accuracy"].value < free["accuracy"].value
    assert tight["noise multiplier"] > 1.0
