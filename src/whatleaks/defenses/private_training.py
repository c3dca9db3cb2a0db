"""Differentially private training (Jiang et al., section 6.1.2)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from whatleaks.catalog import defense
from whatleaks.defenses.protocol import TrainingDefense
from whatleaks.errors import UsageError

STEPS = 300  # at most: every step costs privacy, and the paper does not say how many it took


@defense(
    "dp-sgd-1",
    title="Differentially private training, epsilon 1",
    paper="Jiang et al. 2022",
    needs="parts that can be trained again, and dp-accounting",
    settings={"epsilon": 1.0},
    family=("dp-sgd", "epsilon"),
)
@dataclass(frozen=True)
class PrivateTraining(TrainingDefense):
    """Clip every record's gradient to ``clip`` and add noise for (``epsilon``, 1e-5)."""

    compared: ClassVar[tuple[str, ...]] = ("dp-sgd-0.1", "dp-sgd-10")

    epsilon: float = 1.0
    clip: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what bounds nothing."""
        if self.epsilon <= 0 or self.clip <= 0:
            raise UsageError(
                f"epsilon and clip must be positive, got {self.epsilon:g} and {self.clip:g}"
            )

    @property
    def name(self) -> str:
        """The defense and its epsilon."""
        return f"dp-sgd-{self.epsilon:g}"

    def adapt(self, settings: Any) -> Any | None:
        """Set the budget of a federation that knows one."""
        if not {"epsilon", "clip", "steps"} <= {f.name for f in fields(settings)}:
            return None
        return replace(
            settings, epsilon=self.epsilon, clip=self.clip, steps=min(settings.steps, STEPS)
        )
