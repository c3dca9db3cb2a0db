"""The error tree: one line that names the column or flag and says what to do.

Every error that a user can cause derives from ``WhatleaksError``; the CLI prints its
message on one line and leaves with ``exit_code``. Anything else is a bug of ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class WhatleaksError(Exception):
    """Something the user can put right; the message says how."""

    exit_code = 2


class UsageError(WhatleaksError):
    """A flag or argument is wrong."""


class TableError(WhatleaksError):
    """The table cannot be audited as it is."""


class DataError(WhatleaksError):
    """A named data set cannot be found, fetched or trusted."""


class GrantError(WhatleaksError):
    """An attack needs knowledge that its threat model does not grant."""


class WireError(WhatleaksError):
    """A message is not what the protocol expects."""


class PeerLost(WireError):
    """Another party is gone, refused us, or stopped; ``lost`` and the message name it."""

    lost = ""

    exit_code = 3


class AttackError(WhatleaksError):
    """An attack cannot run on this view."""


class CryptoError(WhatleaksError):
    """A key, an encoding or a ciphertext is not acceptable."""


class SpecError(WhatleaksError):
    """An experiment's declaration is wrong."""


class StoreError(WhatleaksError):
    """A result cannot be written or read."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the closest known word, or an empty string."""
    spelled = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), list(spelled), n=1, cutoff=0.5)
    return f" Did you mean {spelled[close[0]]!r}?" if close else ""
