"""One network over the joined columns, its first layer split between the parties (U VI-A).

Each party multiplies its own columns with its own input weights. The sum of both is the
first layer before its activation; what follows it is common.
"""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.arrays import Floats
from whatleaks.codec import travels
from whatleaks.models.additive import Bottom, link
from whatleaks.models.linear import Linear
from whatleaks.models.network import activate


@travels
@dataclass(frozen=True)
class JointNetwork:
    """The parties' input weights, the activation on their sum, and the common layers above."""

    active: Linear
    passive: Linear
    rest: Bottom
    activation: str

    def logits(self, own: Floats, other: Floats) -> Floats:
        """Return the network's outputs for every record, before any link function."""
        sums = self.active.logits(own) + self.passive.logits(other)
        return self.rest.logits(activate(sums, self.activation))

    def scores(self, own: Floats, other: Floats) -> Floats:
        """Return the confidence scores, one column per class."""
        return link(self.logits(own, other))
