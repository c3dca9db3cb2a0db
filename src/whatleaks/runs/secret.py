"""A secret that stays with the user: whatever is hashed with it tells nobody else anything.

It lies in the user's state folder (``WHATLEAKS_STATE``, else ``XDG_STATE_HOME/whatleaks``, else
``~/.local/state/whatleaks``), readable by its owner alone, and is made when it is first needed.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from whatleaks.errors import StoreError
from whatleaks.files import write_atomically

_BYTES = 32


def own_secret() -> bytes:
    """Return the user's secret; where it cannot be kept, one for this run alone."""
    try:
        path = _folder() / "secret"
        kept = path.read_bytes() if path.is_file() else b""
        if len(kept) != _BYTES:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomically(path, secrets.token_bytes(_BYTES), mode=0o600)
            kept = path.read_bytes()  # of whoever came last, if two were at it
    except (OSError, StoreError, RuntimeError):  # RuntimeError: there is no home
        return secrets.token_bytes(_BYTES)
    return kept


def _folder() -> Path:
    given = os.environ.get("WHATLEAKS_STATE")
    if given:
        return Path(given)
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "whatleaks"
