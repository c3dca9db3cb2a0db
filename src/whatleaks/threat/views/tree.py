"""Views on the releases of joint trees: the class, or the votes, with the whole model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.codec import travels
from whatleaks.models.forest import Forest
from whatleaks.models.tree import Tree


@travels
@dataclass(frozen=True)
class WhiteBoxTreeView:
    """Own columns, the released class (a score of one for it, zero for the others), the tree.

    U section III-B: the adversary is given the model, the prediction and its own columns.
    """

    own: Floats
    released: Floats
    unknown: int
    model: Tree

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.released], axis=1)


@travels
@dataclass(frozen=True)
class WhiteBoxForestView:
    """Own columns, the released vote fractions, the forest."""

    own: Floats
    released: Floats
    unknown: int
    model: Forest

    def evidence(self) -> Floats:
        """Return one row per record with all that is seen about it."""
        return np.concatenate([self.own, self.released], axis=1)
