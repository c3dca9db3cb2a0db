"""Searches of a moment ago: attacks that make different answers of one search share it.

A guess that is clipped or moved to possible values afterwards was searched for like the plain one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from whatleaks.arrays import Floats, sealed
from whatleaks.codec import encode

KEPT = 4  # searches that are remembered: an attack and its control, for two attacks

_found: dict[str, Floats] = {}


def searched_before(asked: tuple[Any, ...], search: Callable[[], Floats]) -> Floats:
    """Return what ``search`` finds; ``asked`` is all that it depends on, luck included."""
    key = hashlib.sha256(encode(asked)).hexdigest()
    if key not in _found:
        while len(_found) >= KEPT:
            _found.pop(next(iter(_found)))
        _found[key] = sealed(search())
    return _found[key]
