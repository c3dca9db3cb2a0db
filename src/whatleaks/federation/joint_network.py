"""The joint network: parties hold their input weights, the coordinator the layers above (U VI-A).

The parties send their parts of the first layer's sums. The coordinator activates them, runs
the layers above, and returns the gradient by the sums. Together they train exactly the
network that one holder of all columns would train.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.defenses.protocol import ReleaseDefense
from whatleaks.errors import UsageError
from whatleaks.federation.summed import (
    ACTIVE,
    PASSIVE,
    Holder,
    Optimiser,
    SummedFederation,
    cross_entropy_gradient,
    output_count,
    refuse_untrainable,
)
from whatleaks.models.additive import Bottom, link
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear
from whatleaks.models.torch_forms import activate, build, export
from whatleaks.seeds import Streams, torch_seed
from whatleaks.wire.channel import Channel

if TYPE_CHECKING:
    import torch

PAPER_SIZES = (600, 300, 100)  # U VI-A


@dataclass(frozen=True)
class JointNetworkSettings:
    """Layer sizes and training; ``dropout`` (U VII) is the share of hidden values left out in training."""

    hidden: tuple[int, ...] = PAPER_SIZES
    activation: str = "relu"
    dropout: float = 0.0
    steps: int = 1000
    batch: int = 64
    learning_rate: float = 0.001
    l2: float = 0.0

    def __post_init__(self) -> None:
        """Refuse settings that cannot train."""
        refuse_untrainable(self)
        if not self.hidden or min(self.hidden) < 1:
            raise UsageError(
                f"a joint network needs hidden layers of at least 1 unit, got {self.hidden}"
            )
        if not 0.0 <= self.dropout < 1.0:
            raise UsageError(f"dropout must be at least 0 and below 1, got {self.dropout}")


class LearningCoordinator:
    """Holds the layers above the first and trains them with the parties' sums."""

    def __init__(
        self,
        outputs: int,
        settings: JointNetworkSettings,
        defenses: Sequence[ReleaseDefense],
        streams: Streams,
    ) -> None:
        import torch

        self.defenses = defenses
        self.labels: Ints = np.zeros(0, dtype=np.int64)
        self._settings = settings
        self._release_rng = streams.rng("release")
        self._module = build(
            settings.hidden[0],
            settings.hidden[1:],
            outputs,
            settings.activation,
            bias=True,
            seed=torch_seed(streams.rng("weights/coordinator")),
        )
        self._optimiser = Optimiser(self._module, settings)
        self._drops = torch.Generator().manual_seed(torch_seed(streams.rng("dropout")))

    def gradient(self, rows: Ints, sums: Floats) -> Floats:
        """Take one step with the layers above and return the gradient by the sums."""
        import torch

        below = torch.tensor(sums, dtype=torch.float64, requires_grad=True)
        z = self._above(below, training=True)
        wanted = cross_entropy_gradient(z.detach().numpy(), self.labels[rows])
        self._optimiser.follow(z, torch.tensor(wanted))
        assert below.grad is not None
        return sealed(below.grad.numpy())

    def release(self, sums: Floats) -> Floats:
        """Turn sums into scores and let every release defense act on them."""
        import torch

        with torch.no_grad():
            z = self._above(torch.tensor(sums, dtype=torch.float64), training=False)
        scores = link(z.numpy())
        for defense in self.defenses:
            scores = defense.release(scores, self._release_rng)
        return scores

    def export(self) -> Bottom:
        """Copy the layers above the first out as plain numbers."""
        return export(self._module, self._settings.activation)

    def _above(self, sums: torch.Tensor, *, training: bool) -> torch.Tensor:
        """Run the layers above the first; in training, leave hidden values out at random."""
        import torch

        rate = self._settings.dropout if training else 0.0
        h = activate(sums, self._settings.activation)
        for layer in self._module:
            if rate and isinstance(layer, torch.nn.Linear):
                kept = torch.rand(h.shape, generator=self._drops, dtype=h.dtype) >= rate
                h = h * kept / (1.0 - rate)
            h = layer(h)
        return h


class JointNetworkFederation(SummedFederation):
    """Two holders of input weights and a coordinator that holds the rest of the network."""

    def __init__(
        self,
        active: Floats,
        passive: Floats,
        labels: Ints,
        classes: int,
        settings: JointNetworkSettings,
        streams: Streams,
        channel: Channel,
        defenses: Sequence[ReleaseDefense] = (),
    ) -> None:
        joined = active.shape[1] + passive.shape[1]
        first, second = (
            Holder(
                name,
                features,
                (),
                settings.hidden[0],
                settings.activation,
                settings,
                torch_seed(streams.rng(f"weights/{name}")),
                joined,
            )
            for name, features in ((ACTIVE, active), (PASSIVE, passive))
        )
        self._above = LearningCoordinator(output_count(classes), settings, defenses, streams)
        self._activation = settings.activation
        super().__init__((first, second), self._above, labels, settings, streams, channel)

    def model(self) -> JointNetwork:
        """Return the joint model. Only the evaluator and the grants room may call this."""
        active, passive = (holder.export() for holder in self._holders)
        assert isinstance(active, Linear)
        assert isinstance(passive, Linear)
        return JointNetwork(active, passive, self._above.export(), self._activation)
