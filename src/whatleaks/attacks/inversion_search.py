"""Searches beyond Algorithm 1 of gradient inversion: other optimisers, restarts, the box.

Differentiated by torch. The paper's own search has a quicker form in ``gradient_inversion``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.models.purifier import copy_of_purifier
from whatleaks.models.shadow import distance
from whatleaks.models.torch_forms import GivenOwn, log_scores
from whatleaks.threat.views.prediction import WhiteBoxAdditiveView

if TYPE_CHECKING:
    import torch

OPTIMISERS = ("adam", "descent", "lbfgs")


class Inversion(Protocol):
    """The settings of gradient inversion that a search reads."""

    @property
    def distance(self) -> str: ...
    @property
    def steps(self) -> int: ...
    @property
    def learning_rate(self) -> float: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def box(self) -> bool: ...
    @property
    def restarts(self) -> int: ...
    @property
    def optimiser(self) -> str: ...
    @property
    def cut(self) -> int: ...
    @property
    def purifier(self) -> str: ...


def searched(
    asked: Inversion, view: WhiteBoxAdditiveView, start: float, rng: np.random.Generator
) -> Floats:
    """Search from ``start``, then from random places; every record keeps its nearest."""
    import torch

    released = torch.tensor(view.scores, dtype=torch.float64)
    model = GivenOwn(view.model, view.own)
    copied = copy_of_purifier(asked.purifier, view.model, view.own, view.unknown)
    purified = None if copied is None else copied.differentiable()

    def missed(guess: torch.Tensor) -> torch.Tensor:
        return _missed(asked, released, log_scores(model.outputs(guess)), purified)

    shape = (len(view.own), view.unknown)
    values, left = _search(asked, missed, np.full(shape, start))
    for _ in range(asked.restarts):
        other, more = _search(asked, missed, rng.random(shape))
        values, left = np.where((more < left)[:, None], other, values), np.minimum(more, left)
    return values


def _search(
    asked: Inversion, missed: Callable[[torch.Tensor], torch.Tensor], start: Floats
) -> tuple[Floats, Floats]:
    """Return the place where the search from ``start`` ends, and every record's distance there."""
    import torch

    guess = torch.tensor(start, dtype=torch.float64).requires_grad_()
    if asked.optimiser == "lbfgs":
        _quasi_newton(asked, missed, guess)
    else:
        kinds = {"adam": torch.optim.Adam, "descent": torch.optim.SGD}
        optimiser = kinds[asked.optimiser]([guess], lr=asked.learning_rate)
        for step in range(asked.steps):
            optimiser.zero_grad(set_to_none=True)
            apart = missed(guess)
            if step % 100 == 0 and float(apart.detach().max()) < asked.tolerance:
                break
            apart.sum().backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            if asked.box:
                with torch.no_grad():
                    guess.clamp_(0.0, 1.0)
    with torch.no_grad():
        return guess.detach().numpy(), missed(guess).numpy()


def _quasi_newton(
    asked: Inversion, missed: Callable[[torch.Tensor], torch.Tensor], guess: torch.Tensor
) -> None:
    """Minimise the sum over records: unlike Adam, one record's curvature steers the others."""
    import torch

    optimiser = torch.optim.LBFGS(
        [guess],
        max_iter=asked.steps,
        tolerance_grad=1e-14,
        tolerance_change=1e-18,
        line_search_fn="strong_wolfe",
    )

    def closure() -> float:
        optimiser.zero_grad()
        loss = missed(guess).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    optimiser.step(closure)  # type: ignore[no-untyped-call]
    if asked.box:
        with torch.no_grad():
            guess.clamp_(0.0, 1.0)


def _missed(
    asked: Inversion,
    released: torch.Tensor,
    logs: torch.Tensor,
    purified: Callable[[torch.Tensor], torch.Tensor] | None,
) -> torch.Tensor:
    """Return every record's distance, with what is known of the defense; as ``Missed`` does."""
    import torch

    if purified is not None:
        logs = purified(logs.exp()).log()
    if asked.cut >= 0:
        scores, step = logs.exp(), 10.0**-asked.cut
        outside = torch.relu(released - scores) + torch.relu(scores - released - step)
        return (outside**2).mean(dim=1)
    return distance(asked.distance, released, logs)
