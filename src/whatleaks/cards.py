"""Lists of named parts: attacks, defenses, detectors. One way to look a part up by its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from whatleaks.errors import UsageError, nearest


class Named(Protocol):
    """A card with a name."""

    @property
    def name(self) -> str:
        """The name under which the part is listed."""
        ...


C = TypeVar("C", bound=Named)


def card_of(kind: str, cards: Sequence[C], name: str) -> C:
    """Return the card of this name; an unknown one is refused with the nearest."""
    for card in cards:
        if card.name == name:
            return card
    known = nearest(name, [card.name for card in cards])
    raise UsageError(f"unknown {kind} {name!r}.{known} `whatleaks {kind}s` lists them")
