"""Views on boosted trees: which side every record takes at the partner's nodes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.codec import travels
from whatleaks.threat.grants import Grant, KnownPeople, Probes, Ranges
from whatleaks.threat.views.split import AuxiliaryView


@travels
@dataclass(frozen=True)
class RoutingView:
    """Own columns, the sides of the targets (``bits``: records x nodes, 1 left), public ranges."""

    needs: ClassVar[tuple[type[Grant], ...]] = ()

    own: Floats
    unknown: int
    bits: Floats
    ranges: Ranges

    def exchanged(self, order: Ints) -> Self:
        """Return the view with every record's sides taken from another; own columns stay."""
        return replace(self, bits=sealed(self.bits[order]))

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.bits], axis=1)


@travels
@dataclass(frozen=True)
class ProbedView(RoutingView):
    """The same, and the sides that made-up records take (L section 5.2)."""

    needs: ClassVar[tuple[type[Grant], ...]] = (Probes,)

    probes: Probes


@travels
@dataclass(frozen=True)
class KnownRoutingView(AuxiliaryView):
    """Sides of the targets, and complete records of some people with their sides."""

    needs: ClassVar[tuple[type[Grant], ...]] = ()

    bits: Floats
    known_bits: Floats
    ranges: Ranges = field(kw_only=True)
    auxiliary: KnownPeople = field(kw_only=True)

    def exchanged(self, order: Ints) -> Self:
        """Return the view with every record's sides taken from another; own columns stay."""
        return replace(self, bits=sealed(self.bits[order]))

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.bits], axis=1)
