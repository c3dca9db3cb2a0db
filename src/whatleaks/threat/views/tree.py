"""Views on the releases of joint trees: the class, or the votes, with the whole model."""

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
class WhiteBoxTreeView:
    """Own columns, the released class (a score of one for it, zero for the others), the tree.

    U section III-B: the adversary is given the model, the prediction and its own columns.
    """

    needs: ClassVar[tuple[type[Grant], ...]] = (TreeModel,)

    own: Floats
    released: Floats
    unknown: int
    model: Tree
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
class WhiteBoxForestView:
    """Own columns, the released vote fractions, the forest."""

    needs: ClassVar[tuple[type[Grant], ...]] = (ForestModel,)

    own: Floats
    released: Floats
    unknown: int
    model: Forest
    ranges: Ranges | None = field(default=None, kw_only=True)
    schema: Schema | None = field(default=None, kw_only=True)

    def exchanged(self, order: Ints) -> Self:
        """Return the view with every record's release taken from another; own columns stay."""
        return replace(self, released=sealed(self.released[order]))

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.released], axis=1)
