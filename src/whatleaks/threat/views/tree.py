"""Views on the releases of joint trees: the class, or the votes, alone or with the whole model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.codec import travels
from whatleaks.models.forest import Forest
from whatleaks.models.tree import Tree
from whatleaks.threat.grants import ForestModel, Grant, Ranges, Schema, TreeModel


@travels
@dataclass(frozen=True)
class VotesView:
    """Own columns and what was released: the vote fractions, of one tree a one for its class."""

    needs: ClassVar[tuple[type[Grant], ...]] = ()

    own: Floats
    released: Floats
    unknown: int
    ranges: Ranges | None = field(default=None, kw_only=True)
    schema: Schema | None = field(default=None, kw_only=True)

    def exchanged(self, order: Ints) -> Self:
        """Return the view with every record's release taken from another; own columns stay."""
        return replace(self, released=sealed(self.released[order]))

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.released], axis=1)


@travels
@dataclass(frozen=True)
class WhiteBoxTreeView(VotesView):
    """The same, and the tree.

    U section III-B: the adversary is given the model, the prediction and its own columns.
    """

    needs: ClassVar[tuple[type[Grant], ...]] = (TreeModel,)

    model: Tree


@travels
@dataclass(frozen=True)
class WhiteBoxForestView(VotesView):
    """The same, and the forest."""

    needs: ClassVar[tuple[type[Grant], ...]] = (ForestModel,)

    model: Forest
