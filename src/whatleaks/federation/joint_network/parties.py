"""The parties of a joint network: holders of input weights, and a coordinator with the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.federation.joint_network.settings import JointNetworkSettings
from whatleaks.federation.summed.parties import Coordinator, Holder, cross_entropy_gradient
from whatleaks.models.additive import Bottom, link
from whatleaks.models.torch_forms import activate
from whatleaks.models.torch_network import Layers, Optimiser, build, export
from whatleaks.seeds import Streams, torch_seed

if TYPE_CHECKING:
    import torch


class LearningCoordinator(Coordinator):
    """Holds the layers above the first and trains them with the parties' sums.

    Streams used: ``weights/coordinator`` and ``dropout``.
    """

    def __init__(
        self,
        parties: Sequence[str],
        outputs: int,
        settings: JointNetworkSettings,
        streams: Streams,
    ) -> None:
        import torch

        super().__init__(parties, settings.hidden[0])
        self._settings = settings
        self._layers = Layers(settings.hidden[1:], outputs, settings.activation)
        self._module = build(settings.hidden[0], self._layers, streams.rng("weights/coordinator"))
        self._optimiser = Optimiser(
            self._module.parameters(), settings.learning_rate, settings.l2, settings.steps
        )
        self._drops = torch.Generator().manual_seed(torch_seed(streams.rng("dropout")))

    @property
    def activation(self) -> str:
        """The activation on the sums."""
        return self._settings.activation

    def gradient(self, wanted: Ints, sums: Floats) -> Floats:
        """Take one step with the layers above and return the gradient by the sums."""
        import torch

        below = torch.tensor(sums, dtype=torch.float64, requires_grad=True)
        z = self.above(below, training=True)
        slope = cross_entropy_gradient(z.detach().numpy(), wanted)
        self._optimiser.follow(z, torch.tensor(slope))
        assert below.grad is not None
        return sealed(below.grad.numpy())

    def scores(self, sums: Floats) -> Floats:
        """Run the layers above and apply the link."""
        import torch

        with torch.no_grad():
            z = self.above(torch.tensor(sums, dtype=torch.float64), training=False)
        return link(z.numpy())

    def export(self) -> Bottom:
        """Copy the layers above the first out as plain numbers."""
        return export(self._module, self._layers)

    def above(self, sums: torch.Tensor, *, training: bool) -> torch.Tensor:
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


def joint_holder(
    name: str,
    features: Floats,
    joined: int,
    settings: JointNetworkSettings,
    rng: np.random.Generator,
) -> Holder:
    """Return a party with its part of the input weights, of a layer over ``joined`` columns."""
    layers = Layers((), settings.hidden[0], settings.activation)
    return Holder(name, features, layers, settings, rng, joined)
