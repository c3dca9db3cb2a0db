"""Gradient-based inversion, white box (Jiang et al. 2022, Algorithm 1).

Search for passive values that the model scores as the real ones were scored. All records
at once: Adam works value by value, and the loss is a sum over records, so no record
influences another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.possible_values import snapped
from whatleaks.catalog import attack
from whatleaks.citations import JIANG
from whatleaks.codec import travels
from whatleaks.errors import UsageError
from whatleaks.models.purifier import Purifier, copy_of_purifier
from whatleaks.models.shadow import distance
from whatleaks.models.torch_forms import GivenOwn, log_scores
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import WhiteBoxAdditiveView

if TYPE_CHECKING:
    import torch

STARTS = {"zeros": 0.0, "half": 0.5}
OPTIMISERS = ("adam", "descent", "lbfgs")


@attack(
    "gradient-inversion-mse",
    title="Gradient inversion, squared distance",
    paper=JIANG,
    needs="scores and the whole differentiable model",
    again=False,
)
@attack(
    "gradient-inversion-kl",
    title="Gradient inversion, Kullback-Leibler distance",
    paper=JIANG,
    needs="scores and the whole differentiable model",
    settings={"distance": "kl"},
)
@attack(
    "gradient-inversion-kl-snapped",
    title="Gradient inversion, moved to values that the columns can take",
    paper=f"whatleaks, after {JIANG}",
    needs="scores, the whole differentiable model and what values the columns can take",
    settings={"distance": "kl", "clip": True, "snap": True},
    again=False,
)
@travels
@dataclass(frozen=True)
class GradientInversion:
    """``distance``: mse (Eq 18) or kl (Eq 19); ``steps`` and ``learning_rate`` of Adam (Eq 20).

    The paper starts at zero with a rate of 0.001 and does not state the rounds: from zero,
    few rounds stay near zero, which flatters the error on columns of small values. So the
    steps are stated with every result, and ``start`` can be one half instead.
    ``tolerance``: stop when every record's distance is below it. ``box``: stay in [0, 1] all
    along, the feature space of Eq 16.

    Ours, off by default: ``restarts`` from random places in [0, 1], of which every record keeps
    the nearest; ``optimiser`` descent (plain gradients) or lbfgs. Told by a defense: ``cut``,
    digits after which scores are cut off, so that every score inside the step fits as well;
    ``purifier``, what the autoencoder on the scores was trained on, so that it is inverted too.
    """

    distance: str = "mse"
    steps: int = 5000
    learning_rate: float = 0.001
    start: str = "zeros"
    tolerance: float = 1e-16
    clip: bool = False
    snap: bool = False  # not in the paper: to the nearest values that the schema allows
    box: bool = False
    restarts: int = 0
    optimiser: str = "adam"
    cut: int = -1
    purifier: str = ""

    def __post_init__(self) -> None:
        """Refuse settings with no meaning."""
        if self.distance not in ("mse", "kl"):
            raise UsageError(f"gradient inversion's distance is mse or kl, got {self.distance!r}")
        if self.start not in STARTS:
            raise UsageError(f"gradient inversion starts at zeros or half, got {self.start!r}")
        if self.steps < 1:
            raise UsageError(f"gradient inversion needs at least 1 step, got {self.steps}")
        if self.optimiser not in OPTIMISERS:
            raise UsageError(
                f"gradient inversion's optimiser is one of {', '.join(OPTIMISERS)}, got "
                f"{self.optimiser!r}"
            )
        if self.restarts < 0:
            raise UsageError(f"restarts must not be negative, got {self.restarts}")

    @property
    def name(self) -> str:
        """Inversion under its distance."""
        if self.snap:
            return f"gradient-inversion-{self.distance}-snapped"
        return f"gradient-inversion-{self.distance}" + ("-clipped" if self.clip else "")

    def infer(self, view: WhiteBoxAdditiveView, rng: np.random.Generator) -> ValueGuess:
        """Minimise the distance between the model's scores and the released ones."""
        import torch

        released = torch.tensor(view.scores, dtype=torch.float64)
        model = GivenOwn(view.model, view.own)
        copied = copy_of_purifier(self.purifier, view.model, view.own, view.unknown)

        def missed(guess: torch.Tensor) -> torch.Tensor:
            return self._missed(released, log_scores(model.outputs(guess)), copied)

        shape = (len(view.own), view.unknown)
        values, left = self._search(missed, np.full(shape, STARTS[self.start]))
        for _ in range(self.restarts):
            other, more = self._search(missed, rng.random(shape))
            values, left = (
                np.where((more < left)[:, None], other, values),
                np.minimum(more, left),
            )
        values = np.clip(values, 0.0, 1.0) if self.clip else values
        return ValueGuess(sealed(snapped(values, view) if self.snap else values))

    def _search(
        self, missed: Callable[[torch.Tensor], torch.Tensor], start: Floats
    ) -> tuple[Floats, Floats]:
        """Return the place where the search from ``start`` ends, and every record's distance there."""
        import torch

        guess = torch.tensor(start, dtype=torch.float64).requires_grad_()
        if self.optimiser == "lbfgs":
            self._quasi_newton(missed, guess)
        else:
            kinds = {"adam": torch.optim.Adam, "descent": torch.optim.SGD}
            optimiser = kinds[self.optimiser]([guess], lr=self.learning_rate)
            for step in range(self.steps):
                optimiser.zero_grad(set_to_none=True)
                apart = missed(guess)
                if step % 100 == 0 and float(apart.detach().max()) < self.tolerance:
                    break
                apart.sum().backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                if self.box:
                    with torch.no_grad():
                        guess.clamp_(0.0, 1.0)
        with torch.no_grad():
            return guess.detach().numpy(), missed(guess).numpy()

    def _quasi_newton(
        self, missed: Callable[[torch.Tensor], torch.Tensor], guess: torch.Tensor
    ) -> None:
        """Minimise the sum over records: unlike Adam, one record's curvature steers the others."""
        import torch

        optimiser = torch.optim.LBFGS(
            [guess],
            max_iter=self.steps,
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
        if self.box:
            with torch.no_grad():
                guess.clamp_(0.0, 1.0)

    def _missed(
        self, released: torch.Tensor, logs: torch.Tensor, purifier: Purifier | None
    ) -> torch.Tensor:
        """Return every record's distance, with what is known of the defense."""
        import torch

        if purifier is not None:
            logs = purifier.forward(logs.exp()).log()
        if self.cut >= 0:
            # Every score in [released, released + step) was cut to this one: its likelihood is
            # flat inside and zero outside, so only what lies outside counts.
            scores, step = logs.exp(), 10.0**-self.cut
            outside = torch.relu(released - scores) + torch.relu(scores - released - step)
            return (outside**2).mean(dim=1)
        return distance(self.distance, released, logs)
