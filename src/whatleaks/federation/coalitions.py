"""Who is against whom: the parties of a coalition, and those whose columns it wants."""

from __future__ import annotations

from whatleaks.data.holdings import Holdings
from whatleaks.errors import UsageError
from whatleaks.wire.parties import ACTIVE, HELPERS


def victims(holdings: Holdings, coalition: tuple[str, ...]) -> tuple[str, ...]:
    """Return the passive parties outside a coalition, which the active party must lead."""
    for party in coalition:
        if party not in holdings.columns and party not in HELPERS:
            raise UsageError(f"{party!r} is no party here: use {', '.join(holdings.columns)}")
    if ACTIVE not in coalition:
        raise UsageError(
            f"a coalition needs the {ACTIVE} party: it is the one that is sent results"
        )
    found = holdings.victims(coalition)
    if not found:
        raise UsageError("every party is in the coalition: nobody is left to learn about")
    return found
