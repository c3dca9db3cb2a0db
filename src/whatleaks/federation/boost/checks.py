"""What a party of SecureBoost refuses: numbers, nodes and sums that no honest partner sends."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats, Ints
from whatleaks.crypto.fixed_point import BigInts
from whatleaks.crypto.packing import unpaired
from whatleaks.errors import WireError
from whatleaks.models.boosted_trees import FRACTION


def possible(table: BigInts, here: Ints, slots: int, shift: int) -> tuple[Ints, Ints]:
    """Take sums apart; refuse what the node's records cannot add up to: |g| and h are at most 1."""
    most = np.bincount(here[here >= 0], minlength=slots)[:, None] << FRACTION
    refused = WireError("a party sent a sum that these records cannot have: it is refused")
    if (abs(table) > (int(most.max()) + 1) << shift).any():
        raise refused
    g, h = unpaired(table, shift)
    if (abs(g) > most).any() or (h > most).any():
        raise refused
    return g, h


def check_nodes(before: Ints, slot: Ints, count: int, level: int) -> None:
    """Refuse nodes that do not come from splitting the level above.

    They are numbered without gaps; below the root two neighbours have exactly the records of
    one node of the level above. ``before`` and ``slot``: every record's node there and here.
    """
    here = slot >= 0
    if count > 2**level or not np.array_equal(np.unique(slot[here]), np.arange(count)):
        raise WireError(f"the nodes of a level must be 0, 1, ..., at most {2**level} here")
    if not level:
        return
    pairs = np.unique(np.stack([slot[here] // 2, before[here]]), axis=1)
    split = np.isin(before, pairs[1]) & (before >= 0)
    if count % 2 or pairs.shape[1] != count // 2 or not np.array_equal(split, here):
        raise WireError("two nodes of a level must share out the records of one node above")


def whole(values: Floats, most: int, what: str, least: int = -1) -> Ints:
    """Read whole numbers from ``least`` to ``most``; anything else is refused by name."""
    numbers: Ints = values.astype(np.int64)
    if values.ndim != 1 or (numbers != values).any():
        raise WireError(f"{what} must be a list of whole numbers")
    if numbers.size and (int(numbers.min()) < least or int(numbers.max()) > most):
        raise WireError(f"{what} must lie in {least}..{most}")
    return numbers
