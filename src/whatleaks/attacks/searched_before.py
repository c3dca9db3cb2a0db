"""Searches of a moment ago: attacks that make different answers of one search share it.

A guess that is clipped or moved to possible values afterwards was searched for like the plain one;
weights that were unblurred and people who were left out serve several attacks alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from whatleaks.arrays import Floats, sealed
from whatleaks.codec import encode

KEPT = 16  # searches that are remembered: a defense may change nothing of what an attack sees

_found: dict[str, dict[str, Floats]] = {}


def searched_before(
    asked: tuple[Any, ...], search: Callable[[], Floats], most: int = KEPT
) -> Floats:
    """Return what ``search`` finds; ``asked`` is all that it depends on, luck included.

    ``asked`` begins with the name of the search: the last ``most`` of each are remembered.
    """
    found = _found.setdefault(str(asked[0]), {})
    key = hashlib.sha256(encode(asked)).hexdigest()
    if key not in found:
        while len(found) >= most:
            found.pop(next(iter(found)))
        found[key] = sealed(search())
    return found[key]
