"""The control: the same attack with the messages exchanged between records.

Its own columns stay in place, so what the control still follows the attacker knew without
the message. What joining adds is the difference. Where a message is of a whole batch, as a gradient
is, the federation trains again with the victims' records exchanged instead (``Stage.replayed``). An
attacker who holds the label of every record under attack knows that too, and a message goes with
the label: there messages are exchanged between people of the same label.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whatleaks.arrays import Ints

SUFFIX = " control"


def exchanged_view(
    view: Any,
    records: int,
    rng: np.random.Generator,
    alike: Ints | None = None,
    replayed: Callable[[Ints], Any] | None = None,
) -> Any | None:
    """Return the view with every record's messages taken from another record, one ``alike`` if told.

    A view that does not say how is ``replayed`` in that order. None where the view says that its
    messages cannot be exchanged, or nobody can say how.
    """
    exchange = getattr(view, "exchanged", replayed)
    if exchange is None or records < 2:
        return None
    return exchange(derangement(records, rng) if alike is None else within(alike, rng))


def derangement(count: int, rng: np.random.Generator) -> Ints:
    """Return an order in which nobody keeps its place: one cycle through all of them."""
    cycle = rng.permutation(count)
    order = np.empty(count, dtype=np.int64)
    order[cycle] = np.roll(cycle, -1)
    return order


def within(alike: Ints, rng: np.random.Generator) -> Ints:
    """Return an order in which nobody keeps its place and all but loners stay among their like.

    Who is the only one of a kind joins the largest group.
    """
    kinds, place, counts = np.unique(alike, return_inverse=True, return_counts=True)
    group = np.where(counts[place] > 1, place, counts.argmax())
    if counts.max() == 1:  # nobody has a like
        group = np.zeros(len(alike), dtype=np.int64)
    order = np.empty(len(alike), dtype=np.int64)
    for one in range(len(kinds)):
        members = np.flatnonzero(group == one)
        if len(members):
            order[members] = members[derangement(len(members), rng)]
    return order
