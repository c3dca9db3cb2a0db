"""The parties of an additive federation: holders of models, and a coordinator who adds up."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.federation.summed.parties import Coordinator, Holder, cross_entropy_gradient
from whatleaks.models.additive import link
from whatleaks.models.torch_network import Layers


class AddingCoordinator(Coordinator):
    """Adds up, applies the link, and differentiates the cross entropy: it has nothing to learn."""

    def gradient(self, wanted: Ints, sums: Floats) -> Floats:
        """Return the gradient of the mean cross entropy by the summed outputs."""
        return cross_entropy_gradient(sums, wanted)

    def scores(self, sums: Floats) -> Floats:
        """Apply the link."""
        return link(sums)


def additive_holder(
    name: str,
    features: Floats,
    outputs: int,
    settings: AdditiveSettings,
    rng: np.random.Generator,
) -> Holder:
    """Return a party with a model of its own: linear, or with the hidden layers of the settings."""
    layers = Layers(settings.hidden, outputs, settings.activation)
    return Holder(name, features, layers, settings, rng)
