"""Answers kept where values can be: few known people extrapolate badly, and anybody can see it.

A regression on five people may answer 30 for a column that is known to lie between 0 and 1. As a
bar such an answer is too low, and whatever is compared with it looks better than it is.
"""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.threat.views.split import AuxiliaryView


def kept_in_range(values: Floats, view: AuxiliaryView) -> Floats:
    """Move answers into the public ranges; where none are granted, into the known people's."""
    if view.ranges is not None:
        return np.clip(values, view.ranges.low, view.ranges.high)
    known = view.auxiliary.passive
    return np.clip(values, known.min(axis=0), known.max(axis=0))
