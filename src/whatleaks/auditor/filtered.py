"""Staging the correlation filter: the table without the columns that it leaves out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.data.preparation import Prepared
from whatleaks.defenses.collaboration_check import CorrelationFilter


def without_close_columns(prepared: Prepared, rule: CorrelationFilter) -> Prepared | str:
    """Leave out the passive columns that go too closely with the partner's.

    A column of the table goes as a whole, even if only one of its encoded parts is too close.
    Where that is none or every column, a sentence says so instead.
    """
    names, sources = prepared.passive_columns, prepared.sources
    within = rule.keep(prepared.active, prepared.passive)
    out = {sources.get(n, n) for n, kept in zip(names, within, strict=True) if not kept}
    kept = np.array([sources.get(name, name) not in out for name in names])
    if not out:
        return f"{rule.name}: none of your columns goes that closely with one of the partner's."
    if not kept.any():
        return f"{rule.name}: it would leave out every column of yours, and nothing to join for."
    return replace(
        prepared,
        passive=sealed(prepared.passive[:, kept]),
        passive_columns=tuple(name for name, k in zip(names, kept, strict=True) if k),
    )
