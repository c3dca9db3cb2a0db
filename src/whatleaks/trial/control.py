"""The control: the same attack with the messages exchanged between records.

Its own columns stay in place, so what the control still follows the attacker knew without
the message. What joining adds is the difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whatleaks.arrays import Ints

SUFFIX = " control"


def exchanged_view(view: Any, records: int, rng: np.random.Generator) -> Any | None:
    """Return the view with every record's messages taken from another record.

    None where the view says that its messages cannot be exchanged, or does not say how.
    """
    exchange = getattr(view, "exchanged", None)
    return None if exchange is None or records < 2 else exchange(derangement(records, rng))


def derangement(count: int, rng: np.random.Generator) -> Ints:
    """Return an order in which nobody keeps its place: one cycle through all of them."""
    cycle = rng.permutation(count)
    order = np.empty(count, dtype=np.int64)
    order[cycle] = np.roll(cycle, -1)
    return order
