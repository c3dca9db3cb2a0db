"""How an additive federation trains: what all its parties agree on."""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.errors import UsageError
from whatleaks.federation.schedule import refuse_untrainable


@dataclass(frozen=True)
class AdditiveSettings:
    """How the parties train. No hidden layers: logistic regression.

    ``steps`` rather than epochs, so that small tables train as long as large ones. Adam's
    ``learning_rate`` falls to a hundredth along a cosine. ``epsilon``: the budget of
    differentially private training with clipped gradients (``clip``); 0: it is not private.
    """

    hidden: tuple[int, ...] = ()
    activation: str = "sigmoid"
    steps: int = 2000
    batch: int = 256
    learning_rate: float = 0.05
    l2: float = 0.0
    epsilon: float = 0.0
    clip: float = 1.0

    @property
    def extra(self) -> str:
        """The extra that trains networks; linear parts train on plain arrays."""
        return "networks" if self.hidden else ""

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        refuse_untrainable(self)
        if self.epsilon < 0 or self.clip <= 0:
            raise UsageError("epsilon must not be negative and clip must be positive")
