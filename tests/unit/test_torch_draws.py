"""What is drawn without torch is what torch draws, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from whatleaks.models.torch_draws import TorchDraws
from whatleaks.models.torch_network import Layers, build, export, first_weights


def _fused() -> bool:
    """Say whether torch rounds once where it scales uniform numbers, as CPUs of the last ten years do."""
    generator = torch.Generator().manual_seed(0)
    unit = torch.empty(500, dtype=torch.float64).uniform_(generator=generator).numpy()
    generator = torch.Generator().manual_seed(0)
    scaled = torch.empty(500, dtype=torch.float64).uniform_(-0.3, 0.3, generator=generator).numpy()
    return bool((scaled == 0.3 * (2.0 * unit - 1.0)).all())


@pytest.mark.parametrize("seed", [0, 1, 2**31 - 1, 2**32 + 7, 2**63 - 2])
def test_normal_numbers_are_torchs_call_after_call(seed: int) -> None:
    generator, draws = torch.Generator().manual_seed(seed), TorchDraws(seed)
    # Below 16 one by one, and of a pair one may be left for the next call; above in blocks.
    for shape in ((3,), (1,), (16,), (2, 7), (5, 5), (1,), (33, 1), (64,), (15,), (17,)):
        want = torch.empty(shape, dtype=torch.float64).normal_(generator=generator).numpy()
        assert (draws.normal(shape) == want).all(), shape


@pytest.mark.parametrize("layers", [Layers((), 1), Layers((), 5), Layers((4, 3), 2, "sigmoid")])
@pytest.mark.parametrize("joined", [None, 11])
@pytest.mark.parametrize("bias", [True, False])
def test_first_weights_are_those_of_the_network_that_torch_builds(
    layers: Layers, joined: int | None, bias: bool
) -> None:
    built = build(6, layers, np.random.default_rng(3), bias=bias, joined=joined)
    want = export(built, layers)
    found = first_weights(6, layers, np.random.default_rng(3), bias=bias, joined=joined)
    assert type(found) is type(want)
    last = 0.0 if _fused() else 2.0**-53
    pairs = [
        (np.atleast_1d(a), np.atleast_1d(b))
        for of in (("weights", "biases") if layers.hidden else ("weights", "bias"))
        for a, b in zip(getattr(found, of), getattr(want, of), strict=True)
    ]
    assert pairs
    for one, other in pairs:
        assert one.shape == other.shape
        assert np.abs(one - other).max() <= last
