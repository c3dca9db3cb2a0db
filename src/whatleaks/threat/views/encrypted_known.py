"""The view of the active party in an encrypted regression who knows some of the records that train."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.codec import travels
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
        """Return the view with every target's outputs taken from another target."""
        z = self.training.outputs()
        z[self.places] = z[self.places[order]]
        return replace(self, training=self.training.with_outputs(z))

    def evidence(self) -> Floats:
        """Return one row per target with all that is seen about it."""
        return np.concatenate([self.own, self.training.evidence()[self.places]], axis=1)
