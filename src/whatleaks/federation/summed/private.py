"""Differentially private training of summed parts (Abadi et al.'s DP-SGD; J section 6.1.2).

Every party clips each record's gradient by its own weights and adds noise before it steps. The
accountant is Google's ``dp_accounting``: Renyi, Poisson-sampled Gaussian. What is private is the
model, by records of the training; messages of the training and scores of new records are not.
"""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed_ints
from whatleaks.models.torch_draws import TorchDraws
from whatleaks.models.trainable import LinearPart, TorchPart
from whatleaks.seeds import torch_seed

if TYPE_CHECKING:
    import torch

DELTA = 1e-5


@cache
def noise_multiplier(epsilon: float, records: int, batch: int, steps: int) -> float:
    """Return the noise over the clipping bound that gives (epsilon, 1e-5) in so many steps."""
    import dp_accounting
    from dp_accounting import rdp

    rate = min(1.0, batch / records)

    def event(noise: float) -> dp_accounting.DpEvent:
        once = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
        return dp_accounting.SelfComposedDpEvent(once, steps)

    found = dp_accounting.calibrate_dp_mechanism(
        rdp.RdpAccountant,
        event,
        epsilon,
        DELTA,
        dp_accounting.LowerEndpointAndGuess(0.0, 10.0),
        tol=1e-3,
    )
    return float(found)


def sampled_batches(
    records: int, batch: int, steps: int, rng: np.random.Generator
) -> tuple[Ints, ...]:
    """Return batches in which every record is with the same chance, as the accountant assumes.

    An empty one is drawn again: with a batch of 32 or more its chance is below 1e-13.
    """
    rate = min(1.0, batch / records)
    chosen: list[Ints] = []
    while len(chosen) < steps:
        rows = np.flatnonzero(rng.random(records) < rate)
        if len(rows):
            chosen.append(sealed_ints(rows))
    return tuple(chosen)


class PrivateGradients:
    """One party's clipped and noised gradients.

    The bound is on the gradient by all parties' weights: with p parties each clips to clip /
    sqrt(p), so that none has to know another's norm.
    """

    def __init__(
        self, clip: float, noise: float, parties: int, batch: int, rng: np.random.Generator
    ) -> None:
        self._own, self._deviation, self._batch = clip / sqrt(parties), noise * clip, batch
        self._seed = torch_seed(rng)
        self._draws = TorchDraws(self._seed)
        self._generator: torch.Generator | None = None  # of a network: it goes on from step to step

    def set_gradients(
        self, module: torch.nn.Module, inputs: torch.Tensor, gradient: torch.Tensor
    ) -> None:
        """Set every parameter's gradient; ``gradient`` is each record's own, by its outputs."""
        import torch

        self._generator = self._generator or torch.Generator().manual_seed(self._seed)
        each = _of_records(module, inputs, gradient)
        squares = torch.stack([(g**2).flatten(1).sum(dim=1) for g in each.values()])
        norms = torch.sqrt(squares.sum(dim=0))
        kept = torch.clamp(self._own / norms.clamp_min(1e-30), max=1.0)
        for name, parameter in module.named_parameters():
            summed = torch.einsum("i,i...->...", kept, each[name])
            noise = torch.empty_like(summed).normal_(generator=self._generator)
            parameter.grad = (summed + self._deviation * noise) / self._batch

    def of_linear(self, inputs: Floats, gradient: Floats, bias: bool) -> Floats:
        """Return the same of a linear part, its weights one row below the other and the bias last.

        A record's gradient is the outer product of its inputs (and a one) and its slopes, so its norm
        is the product of theirs, and none has to be written out.
        """
        reach = np.square(inputs).sum(axis=1) + bias
        norms = np.sqrt(np.square(gradient).sum(axis=1) * reach)
        kept = np.minimum(self._own / np.maximum(norms, 1e-30), 1.0)[:, None] * gradient
        found = np.empty((inputs.shape[1] + bias, gradient.shape[1]))
        np.matmul(inputs.T, kept, out=found[: inputs.shape[1]])
        if bias:
            kept.sum(axis=0, out=found[-1])
        # Drawn as for a network: outputs x inputs, then the biases.
        sizes = [(found.shape[1], inputs.shape[1]), *([(found.shape[1],)] if bias else [])]
        noise = [self._draws.normal(size) for size in sizes]
        found += self._deviation * np.concatenate([np.atleast_2d(part.T) for part in noise])
        return found / self._batch


def _of_records(
    module: torch.nn.Module, inputs: torch.Tensor, gradient: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Return every record's own gradient by each parameter of a network of linear layers.

    A layer's is the outer product of the record's slope there and of what went in. (torch's own
    transforms do the same, and load its compiler first.)
    """
    import torch

    linears = {n: part for n, part in module.named_modules() if isinstance(part, torch.nn.Linear)}
    went: dict[torch.nn.Module, tuple[torch.Tensor, torch.Tensor]] = {}
    hooks = [
        part.register_forward_hook(lambda part, given, made: went.update({part: (given[0], made)}))
        for part in linears.values()
    ]
    outputs = module(inputs)
    for hook in hooks:
        hook.remove()
    slopes = torch.autograd.grad(outputs, [went[part][1] for part in linears.values()], gradient)
    found: dict[str, torch.Tensor] = {}
    for (name, part), slope in zip(linears.items(), slopes, strict=True):
        before = f"{name}." if name else ""
        found[f"{before}weight"] = torch.einsum("no,ni->noi", slope, went[part][0])
        if part.bias is not None:
            found[f"{before}bias"] = slope
    return found


class PrivateLinear(LinearPart):
    """A linear part whose steps follow clipped and blurred gradients."""

    gradients: PrivateGradients | None = None

    def slopes(self, gradient: Floats) -> Floats:
        """Clip and blur; the gradient is a mean's, each record's own as many times as large."""
        assert self.gradients is not None  # set before the first batch
        return self.gradients.of_linear(self._last, gradient * len(self._last), self._bias)


class PrivateNetwork(TorchPart):
    """A network whose steps follow clipped and blurred gradients."""

    gradients: PrivateGradients | None = None

    def outputs(self, rows: Ints) -> Floats:
        """Return the outputs of some training records, and remember which."""
        self._rows = rows
        return super().outputs(rows)

    def follow(self, gradient: Floats) -> None:
        """Take one private step; the gradient is a mean's, each record's own as many times as large."""
        import torch

        assert self.gradients is not None  # set before the first batch
        inputs = self._features[torch.tensor(self._rows)]
        each = torch.tensor(gradient) * len(self._rows)
        self.gradients.set_gradients(self._module, inputs, each)
        self._optimiser.update()
