"""Gradient-based inversion, white box (Jiang et al. 2022, Algorithm 1).

Search for passive values that the model scores as the real ones were scored. All records
at once: Adam works value by value, and the loss is a sum over records, so no record
influences another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.possible_values import snapped
from whatleaks.catalog import attack
from whatleaks.citations import JIANG
from whatleaks.codec import travels
from whatleaks.errors import UsageError
from whatleaks.models.shadow import distance
from whatleaks.models.torch_forms import GivenOwn, log_scores
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import WhiteBoxAdditiveView

if TYPE_CHECKING:
    import torch

STARTS = {"zeros": 0.0, "half": 0.5}


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
    ``tolerance``: stop when every record's distance is below it.
    """

    distance: str = "mse"
    steps: int = 5000
    learning_rate: float = 0.001
    start: str = "zeros"
    tolerance: float = 1e-16
    clip: bool = False
    snap: bool = False  # not in the paper: to the nearest values that the schema allows

    def __post_init__(self) -> None:
        """Refuse settings with no meaning."""
        if self.distance not in ("mse", "kl"):
            raise UsageError(f"gradient inversion's distance is mse or kl, got {self.distance!r}")
        if self.start not in STARTS:
            raise UsageError(f"gradient inversion starts at zeros or half, got {self.start!r}")
        if self.steps < 1:
            raise UsageError(f"gradient inversion needs at least 1 step, got {self.steps}")

    @property
    def name(self) -> str:
        """Inversion under its distance."""
        if self.snap:
            return f"gradient-inversion-{self.distance}-snapped"
        return f"gradient-inversion-{self.distance}" + ("-clipped" if self.clip else "")

    def infer(self, view: WhiteBoxAdditiveView, rng: np.random.Generator) -> ValueGuess:
        """Minimise the distance between the model's scores and the released ones."""
        import torch

        del rng
        released = torch.tensor(view.scores, dtype=torch.float64)
        model = GivenOwn(view.model, view.own)
        guess = torch.full(
            (len(view.own), view.unknown), STARTS[self.start], dtype=torch.float64
        ).requires_grad_()
        optimiser = torch.optim.Adam([guess], lr=self.learning_rate)
        for step in range(self.steps):
            optimiser.zero_grad(set_to_none=True)
            distance = self._distance(released, log_scores(model.outputs(guess)))
            if step % 100 == 0 and float(distance.detach().max()) < self.tolerance:
                break
            distance.sum().backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        values: Floats = guess.detach().numpy()
        values = np.clip(values, 0.0, 1.0) if self.clip else values
        return ValueGuess(sealed(snapped(values, view) if self.snap else values))

    def _distance(self, released: torch.Tensor, logs: torch.Tensor) -> torch.Tensor:
        return distance(self.distance, released, logs)
