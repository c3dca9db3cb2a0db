"""A random path: the baseline of path restriction (Luo et al. 2021, section VI-A)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.path_restriction import path_bounds
from whatleaks.catalog import baseline
from whatleaks.citations import LUO
from whatleaks.codec import travels
from whatleaks.threat.guess import BranchGuess
from whatleaks.threat.views.tree import WhiteBoxTreeView


@baseline("random-path", title="A path drawn at random", paper=LUO, needs="the whole tree")
@travels
@dataclass(frozen=True)
class RandomPath:
    """Any path of the whole tree with the same chance: of the view only the tree is used."""

    name: str = "random-path"

    def infer(self, view: WhiteBoxTreeView, rng: np.random.Generator) -> BranchGuess:
        """Choose a leaf for every record with equal chances."""
        low, high = path_bounds(view.model, view.unknown)
        leaves = view.model.leaf_nodes
        chosen = rng.integers(len(leaves), size=len(view.own))
        return BranchGuess(
            sealed_ints(leaves[chosen]),
            sealed_ints(np.full(len(chosen), len(leaves))),
            sealed(low[chosen]),
            sealed(high[chosen]),
        )
