"""What a defense that blurs weights tells: the scheme is public (Varasteh, Remarks 10 and 13).

An attack on disclosed weights that derives from here works the true ones out first, where it is
told how far they were moved (``models.unblurring``). One place for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.equations import equations
from whatleaks.attacks.searched_before import searched_before
from whatleaks.errors import UsageError
from whatleaks.models.additive import Additive, log_ratios
from whatleaks.models.linear import Linear
from whatleaks.models.unblurring import SECRETS, unblurred
from whatleaks.threat.views.prediction import WhiteBoxPredictionView

V = TypeVar("V", bound=WhiteBoxPredictionView)


@dataclass(frozen=True, kw_only=True)
class ToldBlur:
    """``blur_percent`` or ``blur_epsilon``: how far weights were moved; ``blur_secret``: what of it is secret."""

    blur_percent: float = 0.0
    blur_epsilon: float = 0.0
    blur_secret: str = ""

    def __post_init__(self) -> None:
        """Refuse distances and secrets that do not exist."""
        if min(self.blur_percent, self.blur_epsilon) < 0.0:
            raise UsageError("blur_percent and blur_epsilon must not be negative")
        if self.blur_secret not in SECRETS:
            raise UsageError(f"blur_secret is epsilon, sign or empty, got {self.blur_secret!r}")

    def worked_out(self, view: V, rng: np.random.Generator) -> V:
        """Return the view with the weights that most plausibly stand behind the disclosed ones."""
        model = view.model
        moved = self.blur_percent or self.blur_epsilon or self.blur_secret
        if not moved or not isinstance(model, Additive) or not isinstance(model.passive, Linear):
            return view  # only weights of a linear part are ever blurred
        part = model.passive
        right = equations(view.own, log_ratios(view.scores), model).right
        told: dict[str, Any] = {
            "percent": self.blur_percent,
            "epsilon": self.blur_epsilon,
            "secret": self.blur_secret,
        }
        luck = int(rng.integers(1 << 62))  # drawn once, remembered or not: the rest is not moved
        weights = searched_before(
            ("unblurred", part.weights, right, told, luck),
            lambda: unblurred(part.weights, right, **told, rng=np.random.default_rng(luck)),
        )
        return replace(view, model=Additive(model.active, Linear(sealed(weights), part.bias)))
