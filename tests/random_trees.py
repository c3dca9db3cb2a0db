"""Random trees for property tests: six columns, the first three active unless told otherwise."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.models.tree import Tree


def random_tree(
    rng: np.random.Generator, depth: int = 4, columns: int = 6, active: int = 3, classes: int = 3
) -> Tree:
    """Grow a tree at random: every inner node tests any column at any threshold in (0, 1)."""
    feature, threshold, left, right = [], [], [], []

    def grow(level: int) -> int:
        node = len(feature)
        inner = level < depth and (level == 0 or rng.random() < 0.75)
        feature.append(int(rng.integers(columns)) if inner else -1)
        threshold.append(float(rng.random()) if inner else 0.0)
        left.append(-1)
        right.append(-1)
        if inner:
            left[node] = grow(level + 1)
            right[node] = grow(level + 1)
        return node

    grow(0)
    value = rng.random((len(feature), classes))
    return Tree(
        sealed_ints(feature),
        sealed(threshold),
        sealed_ints(left),
        sealed_ints(right),
        sealed(value),
        active,
    )
