"""Gradient-based inversion, white box (Jiang et al. 2022, Algorithm 1).

Search for passive values that the model scores as the real ones were scored. All records
at once: Adam works value by value, and the loss is a sum over records, so no record
influences another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.inversion_search import OPTIMISERS, searched
from whatleaks.attacks.possible_values import snapped
from whatleaks.attacks.searched_before import searched_before
from whatleaks.catalog import attack
from whatleaks.citations import JIANG
from whatleaks.codec import travels
from whatleaks.errors import UsageError
from whatleaks.models.adam import Adam
from whatleaks.models.adam_one_output import OneOutput
from whatleaks.models.additive import Additive
from whatleaks.models.carry_back import KnownOwn
from whatleaks.models.linear import Linear
from whatleaks.models.missed import Missed
from whatleaks.models.purifier import copy_of_purifier
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import WhiteBoxAdditiveView

STARTS = {"zeros": 0.0, "half": 0.5}
LOOKED = 100  # steps between two looks at whether all records are reached


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

    @property
    def extra(self) -> str:
        """The other searches are differentiated by torch."""
        return "networks" if self._searches_otherwise() else ""

    def infer(self, view: WhiteBoxAdditiveView, rng: np.random.Generator) -> ValueGuess:
        """Minimise the distance between the model's scores and the released ones."""
        if self._searches_otherwise():
            return self._guess(searched(self, view, STARTS[self.start], rng), view)
        asked = (view.own, view.scores, view.unknown, view.model, self.distance, self.steps)
        more = (self.learning_rate, self.start, self.tolerance, self.cut, self.purifier)
        found = searched_before(("inversion", *asked, *more), lambda: self._search(view))
        return self._guess(found, view)

    def _guess(self, values: Floats, view: WhiteBoxAdditiveView) -> ValueGuess:
        values = np.clip(values, 0.0, 1.0) if self.clip else values
        return ValueGuess(sealed(snapped(values, view) if self.snap else values))

    def _searches_otherwise(self) -> bool:
        """Say whether a setting asks for more than Algorithm 1, which has a quicker form."""
        return bool(self.box or self.restarts or self.optimiser != "adam")

    def _search(self, view: WhiteBoxAdditiveView) -> Floats:
        copied = copy_of_purifier(self.purifier, view.model, view.own, view.unknown)
        missed = Missed(view.scores, self.distance, self.cut, copied)
        search = stepping(view, STARTS[self.start], self.learning_rate)
        for step in range(self.steps):
            z = search.outputs()
            if step % LOOKED == 0 and missed.distances(z).max() < self.tolerance:
                break
            search.follow(missed.slopes(z))
        return search.values


class Stepping(Protocol):
    """Unknown values on their way: the outputs they give, and a step along slopes by these."""

    @property
    def values(self) -> Floats: ...
    def outputs(self) -> Floats: ...
    def follow(self, slopes: Floats) -> None: ...


def stepping(view: WhiteBoxAdditiveView, start: float, rate: float) -> Stepping:
    """Return all records' unknown values at their start, to be moved by Adam."""
    model, part = view.model, view.model.passive
    linear = part if isinstance(model, Additive) and isinstance(part, Linear) else None
    if linear is not None and linear.weights.shape[1] == 1:
        return OneOutput(model.active.logits(view.own), linear.weights, linear.bias, start, rate)
    return AnyModel(KnownOwn(model, view.own), np.full((len(view.own), view.unknown), start), rate)


class AnyModel:
    """Every value moved by an Adam of its own, through any model that carries gradients back."""

    def __init__(self, model: KnownOwn, values: Floats, rate: float) -> None:
        self._model, self._adam = model, Adam(values, rate)

    @property
    def values(self) -> Floats:
        """The values where they are now."""
        return self._adam.values

    def outputs(self) -> Floats:
        """Return the model's outputs of every record."""
        return self._model.outputs(self._adam.values)

    def follow(self, slopes: Floats) -> None:
        """Carry slopes by the outputs back and take one step."""
        self._adam.follow(self._model.carry_back(slopes))
