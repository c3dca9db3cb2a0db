"""The generative regression network on a random forest (Luo et al. 2021, section V-B)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.forest_surrogate import fit_surrogate
from whatleaks.attacks.generative_regression import GenerativeRegression
from whatleaks.catalog import attack
from whatleaks.citations import LUO
from whatleaks.codec import travels
from whatleaks.errors import AttackError, UsageError
from whatleaks.models.torch_forms import GivenOwn, log_scores
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.tree import WhiteBoxForestView

if TYPE_CHECKING:
    import torch


@attack(
    "forest-generative-regression",
    title="Generative regression network through a stand-in for the forest",
    paper=LUO,
    needs="vote fractions of many records and the whole forest",
    # A third of the usual steps: an audit runs it again under every release defense.
    settings={"least_steps": 300},
)
@travels
@dataclass(frozen=True)
class ForestGenerativeRegression:
    """``regression``: the generator and its training. The rest is the stand-in for the forest.

    The paper gives the stand-in's sizes; how many made-up records it takes is not stated.
    ``whole_space`` makes records up as in the paper. Off by default, since a stand-in for
    random points of the space is a poor one for real records: the adversary's own columns
    then come from the records under attack, and only the unknown ones are made up.
    """

    extra: ClassVar[str] = "networks"

    regression: GenerativeRegression = field(default_factory=GenerativeRegression)
    surrogate: tuple[int, ...] = (2000, 200)
    made_up: int = 4000
    surrogate_epochs: int = 5
    whole_space: bool = False
    least_steps: int | None = None  # of the generator; None: as ``regression`` says

    def __post_init__(self) -> None:
        """Refuse settings with no meaning."""
        for name in ("made_up", "surrogate_epochs"):
            if getattr(self, name) < 1:
                raise UsageError(f"the stand-in needs {name} of at least 1")
        if not self.surrogate or min(self.surrogate) < 1:
            raise UsageError(f"the stand-in needs hidden layers, got {self.surrogate}")

    @property
    def name(self) -> str:
        """The attack, as on other models: a forest has a threat model of its own."""
        name = self.regression.name.replace("generative", "forest-generative", 1)
        return name + ("-whole-space" if self.whole_space else "")

    def infer(self, view: WhiteBoxForestView, rng: np.random.Generator) -> ValueGuess:
        """Fit the stand-in, then train the generator to match the released fractions with it."""
        import torch

        if view.unknown < 1:
            raise AttackError("generative regression needs at least 1 unknown column, got 0")
        if not len(view.own):
            return ValueGuess(sealed(np.zeros((0, view.unknown))))
        surrogate = fit_surrogate(
            view.model,
            None if self.whole_space else view.own,
            view.unknown,
            self.made_up,
            self.surrogate_epochs,
            self.surrogate,
            rng,
        )
        model = GivenOwn(surrogate, view.own, torch.float32)

        def scores(values: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
            return log_scores(model.outputs(values, rows)).exp()

        regression = self.regression
        if self.least_steps is not None:
            regression = replace(regression, least_steps=self.least_steps)
        values = regression.regress(view.own, view.released, view.unknown, scores, rng)
        return ValueGuess(values)
