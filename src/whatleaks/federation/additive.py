"""The additive federation: two parties and a coordinator (J section 4.1, Eq 9; A section II-B).

Each party maps its own columns to outputs. The coordinator adds them up, applies the link
and returns to each party the gradient by its outputs. At prediction the active party asks
for records by number and is sent their scores, after whatever release defense is in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.defenses.protocol import ReleaseDefense
from whatleaks.federation.summed import (
    ACTIVE,
    COORDINATOR,
    PASSIVE,
    Holder,
    Progress,
    SummedFederation,
    cross_entropy_gradient,
    output_count,
    refuse_untrainable,
)
from whatleaks.models.additive import Additive, link
from whatleaks.seeds import Streams, torch_seed
from whatleaks.wire.channel import Channel

__all__ = [
    "ACTIVE",
    "COORDINATOR",
    "PASSIVE",
    "AdditiveFederation",
    "AdditiveSettings",
    "Progress",
]


@dataclass(frozen=True)
class AdditiveSettings:
    """How the parties train. No hidden layers: logistic regression.

    ``steps`` rather than epochs, so that small tables train as long as large ones.
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


@dataclass
class AddingCoordinator:
    """Adds up, applies the link, and differentiates the cross entropy: it has nothing to learn."""

    outputs: int
    defenses: Sequence[ReleaseDefense]
    rng: np.random.Generator
    labels: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def gradient(self, rows: Ints, logits: Floats) -> Floats:
        """Return the gradient of the mean cross entropy by the summed outputs."""
        return cross_entropy_gradient(logits, self.labels[rows])

    def release(self, logits: Floats) -> Floats:
        """Turn summed outputs into scores and let every release defense act on them."""
        scores = link(logits)
        for defense in self.defenses:
            scores = defense.release(scores, self.rng)
        return scores


class AdditiveFederation(SummedFederation):
    """Two holders with models of their own; the joint model is the sum of their outputs."""

    def __init__(
        self,
        active: Floats,
        passive: Floats,
        labels: Ints,
        classes: int,
        settings: AdditiveSettings,
        streams: Streams,
        channel: Channel,
        defenses: Sequence[ReleaseDefense] = (),
    ) -> None:
        outputs = output_count(classes)
        first, second = (
            Holder(
                name,
                features,
                settings.hidden,
                outputs,
                settings.activation,
                settings,
                torch_seed(streams.rng(f"weights/{name}")),
            )
            for name, features in ((ACTIVE, active), (PASSIVE, passive))
        )
        coordinator = AddingCoordinator(outputs, defenses, streams.rng("release"))
        super().__init__((first, second), coordinator, labels, settings, streams, channel)

    def model(self) -> Additive:
        """Return the joint model. Only the evaluator and the grants room may call this."""
        active, passive = (holder.export() for holder in self._holders)
        return Additive(active, passive)
