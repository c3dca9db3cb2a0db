"""The view of the active party in an encrypted regression who knows some of the records that train."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.codec import travels
from whatleaks.models.residuals import turns
from whatleaks.threat.grants import Grant, KnownPeople
from whatleaks.threat.views.encrypted import EncryptedLinearView
from whatleaks.threat.views.split import AuxiliaryView


@travels
@dataclass(frozen=True)
class EncryptedKnownView(AuxiliaryView):
    """Own gradients of the training, and complete records of some people who were in it.

    ``places`` says where the records under attack stand among those that trained; those of the
    known people are in ``auxiliary``.
    """

    needs: ClassVar[tuple[type[Grant], ...]] = ()

    training: EncryptedLinearView
    places: Ints
    auxiliary: KnownPeople = field(kw_only=True)

    def exchanged(self, order: Ints) -> Self:
        """Return the view with every target's outputs taken from another target.

        A gradient is of a whole batch, so the gradients are made that exchanged outputs give.
        """
        held = self.training
        z = held.outputs()
        z[self.places] = z[self.places[order]]
        gradients = np.array(held.gradients)
        for rows, steps, columns in turns(held.batches, len(gradients), len(held.own)):
            d = held.residuals(z[rows, columns], rows, steps)
            gradients[steps] = d.T @ held.own[rows] + held.alpha * held.weights[steps]
        return replace(self, training=replace(held, gradients=sealed(gradients)))

    def evidence(self) -> Floats:
        """Return one row per target with all that is seen about it."""
        return np.concatenate([self.own, self.training.evidence()[self.places]], axis=1)
