"""Gradient inversion without the partner's model (Jiang et al. 2022, Algorithm 2).

From people whose passive columns the adversary knows, and from what was released on them, it
learns a shadow of the partner's part; then it inverts through the shadow as if it were the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.attacks.gradient_inversion import GradientInversion
from whatleaks.catalog import attack
from whatleaks.citations import JIANG
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.models.additive import Additive
from whatleaks.models.network import Network
from whatleaks.models.shadow import hidden_layers, shadow
from whatleaks.models.torch_network import Layers
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.known import KnownView
from whatleaks.threat.views.prediction import WhiteBoxAdditiveView


@attack(
    "shadow-inversion",
    title="Gradient inversion through a shadow of the partner's model",
    paper=JIANG,
    needs="scores, its own part of the model, and complete records of some people",
    again=False,
)
@travels
@dataclass(frozen=True)
class ScoreShadowInversion:
    """``structure`` of the shadow: as the own part, ``linear``, or widths such as ``8-8-8``."""

    structure: str = "own"
    distance: str = "mse"
    shadow_steps: int = 2000
    shadow_rate: float = 0.01
    steps: int = 5000
    learning_rate: float = 0.001
    start: str = "zeros"
    clip: bool = False
    name: str = "shadow-inversion"

    @property
    def extra(self) -> str:
        """A shadow with hidden layers trains by torch; who holds a network has it."""
        return "" if self.structure in ("own", "linear") else "networks"

    def infer(self, view: KnownView, rng: np.random.Generator) -> ValueGuess:
        """Learn the shadow on the known people, then invert the targets' scores through it."""
        if view.own_part is None:
            raise AttackError("a shadow needs the own part of a model that adds parts up")
        known = view.auxiliary
        own = view.own_part.logits(known.own)
        hidden = hidden_layers(self.structure, view.own_part)
        activation = view.own_part.activation if isinstance(view.own_part, Network) else "sigmoid"
        part = shadow(
            own,
            known.passive,
            known.released,
            Layers(hidden, own.shape[1], activation),
            rng,
            kind=self.distance,
            steps=self.shadow_steps,
            rate=self.shadow_rate,
        )
        inversion = GradientInversion(
            self.distance, self.steps, self.learning_rate, self.start, clip=self.clip
        )
        model = Additive(view.own_part, part)
        return inversion.infer(
            WhiteBoxAdditiveView(view.own, view.scores, view.unknown, model), rng
        )
