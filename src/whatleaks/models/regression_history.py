"""What a party remembers of its own part in training a linear regression."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

from whatleaks.arrays import Floats, Ints
from whatleaks.codec import travels
from whatleaks.models.adam_roots import rounds_undone


@travels
@dataclass(frozen=True)
class OwnSteps:
    """Own columns, and own weights and gradient of each step, weights before it.

    A gradient is what the party stepped along: where the arbiter returned it under a mask,
    the party has taken its own mask off.

    ``batches`` holds the rows of every batch of an epoch, in order; they are the same in
    every epoch, so step ``k`` used ``batches[k % len(batches)]``. A residual is
    d = ``slope`` z + ``offset`` - y: 1 and 0 in a linear regression, 1/4 and 1/2 where the
    sigmoid is taken to first order.
    """

    columns: Floats
    weights: Floats
    gradients: Floats
    batches: tuple[Ints, ...]
    learning_rate: float
    alpha: float
    slope: float = 1.0
    offset: float = 0.0
    optimiser: str = "sgd"  # adam: what is called a gradient is the arbiter's direction

    def undone(self) -> Self:
        """Return the steps with gradients in place of directions: the rounds that can be undone."""
        if self.optimiser == "sgd":
            return self
        gradients, weights = rounds_undone(
            self.gradients, self.weights, self.columns, self.batches, self.alpha
        )
        return replace(self, gradients=gradients, weights=weights, optimiser="sgd")


@travels
@dataclass(frozen=True)
class RegressionHistory(OwnSteps):
    """The same of the party that holds the targets."""

    targets: Floats = field(kw_only=True)


@travels
@dataclass(frozen=True)
class DecryptedSteps:
    """What the arbiter's key opens of every step: the passive parties' gradients, the residuals.

    ``directions`` is what it returned: the gradients, or what its optimiser made of them.
    """

    gradients: Floats
    directions: Floats
    residuals: tuple[Floats, ...]
