"""How many more people one guess names exactly than another: of all columns at once.

A squared correlation cannot tell a guess that comes close from one that is right: beside a rival that
follows 96 % of the differences, reading every value adds 4 %. So people are counted too.
"""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Bools, Floats
from whatleaks.metrics.association import LEVEL
from whatleaks.metrics.column_association import Gained, joined_ends


def names_more(one: Bools, other: Bools) -> Gained:
    """Return by how much the share of people named grows from ``other`` to ``one``, by column.

    Both name the same people, so the interval is Newcombe's for paired shares: it joins Wilson's of
    either share, less what both have in common. ``chance``: how often luck alone shows as much, by the
    exact test on the people whom only one of the two names (McNemar); one-sided.
    """
    from scipy.special import bdtrc

    n = len(one)
    first, second, joint = (
        np.count_nonzero(part, axis=0) / n for part in (one, other, one & other)
    )
    both = joint - first * second
    sizes = first * (1.0 - first) * second * (1.0 - second)
    shared = np.where(sizes > 0.0, both / np.sqrt(np.where(sizes > 0.0, sizes, 1.0)), 0.0)
    (low_one, high_one), (low_other, high_other) = _ends(first, n), _ends(second, n)
    value = first - second
    only_one = np.count_nonzero(one & ~other, axis=0)
    apart = np.count_nonzero(one ^ other, axis=0)
    luck = bdtrc(only_one - 1, np.maximum(apart, 1), 0.5)  # at least so many of those apart
    return Gained(
        value,
        value - joined_ends(first - low_one, high_other - second, shared),
        value + joined_ends(high_one - first, second - low_other, shared),
        np.where(only_one > 0, luck, 1.0),
        n,
    )


def _ends(share: Floats, n: int) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's interval for every share of ``n``."""
    from scipy.special import ndtri

    z = float(ndtri(0.5 + LEVEL / 2))
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return np.minimum(middle - half, share), np.maximum(middle + half, share)
