"""How an additive federation trains: what all its parties agree on."""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.federation.schedule import refuse_untrainable


@dataclass(frozen=True)
class AdditiveSettings:
    """How the parties train. No hidden layers: logistic regression.

    ``steps`` rather than epochs, so that small tables train as long as large ones. Adam's
    ``learning_rate`` falls to a hundredth along a cosine.
    """

    hidden: tuple[int, ...] = ()
    activation: str = "sigmoid"
    steps: int = 2000
    batch: int = 256
    learning_rate: float = 0.05
    l2: float = 0.0

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        refuse_untrainable(self)
