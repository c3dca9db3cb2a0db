"""Views on the releases of joint trees of an adversary who knows some of the shared people."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.codec import travels
from whatleaks.threat.grants import ForestModel, Grant, KnownPeople, Schema, TreeModel
from whatleaks.threat.views.split import AuxiliaryView
from whatleaks.threat.views.tree import WhiteBoxForestView, WhiteBoxTreeView


@travels
@dataclass(frozen=True)
class KnownVotesView(AuxiliaryView):
    """Own columns, the released classes or votes, and some people with theirs; no tree."""

    needs: ClassVar[tuple[type[Grant], ...]] = ()

    auxiliary: KnownPeople
    released: Floats
    schema: Schema | None = field(default=None, kw_only=True)

    def exchanged(self, order: Ints) -> Self:
        """Return the view with every record's release taken from another; own columns stay."""
        return replace(self, released=sealed(self.released[order]))

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.released], axis=1)


@travels
@dataclass(frozen=True)
class KnownTreeView(WhiteBoxTreeView, KnownVotesView):
    """The same, and the tree."""

    needs: ClassVar[tuple[type[Grant], ...]] = (TreeModel,)


@travels
@dataclass(frozen=True)
class KnownForestView(WhiteBoxForestView, KnownVotesView):
    """The same, and the forest."""

    needs: ClassVar[tuple[type[Grant], ...]] = (ForestModel,)
