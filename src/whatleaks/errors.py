"""The error tree: one line that names the column or argument and says what to do.

Every error that a user can cause derives from ``WhatleaksError``; the CLI prints its
message on one line and leaves with ``exit_code``. Anything else is a bug of ours.
"""

from __future__ import annotations

import math
import operator
import shlex
from collections.abc import Iterable, Mapping
from difflib import get_close_matches


class WhatleaksError(ValueError):
    """Something the user can put right; the message says how."""

    exit_code = 2


class UsageError(WhatleaksError):
    """A flag or argument is wrong."""


class ExtraError(UsageError):
    """What was asked for needs an extra of the package that is not installed."""


class TableError(WhatleaksError):
    """The table cannot be audited as it is."""


class DataError(WhatleaksError):
    """A named data set cannot be found, fetched or trusted."""


class GrantError(WhatleaksError):
    """An attack needs knowledge that its threat model does not grant."""


class WireError(WhatleaksError):
    """A message is not what the protocol expects."""


class AttackError(WhatleaksError):
    """An attack cannot run on this view."""


class IsolationError(WhatleaksError):
    """A part that had to run by itself did not come back with an answer."""


class CryptoError(WhatleaksError):
    """A key, an encoding or a ciphertext is not acceptable."""


class SpecError(WhatleaksError):
    """An experiment's declaration is wrong."""


class AuditError(WhatleaksError):
    """A trial of an audit failed."""


class StoreError(WhatleaksError):
    """A result cannot be written or read."""


_flags: Mapping[str, str] | None = None


def speak_of_flags(names: Mapping[str, str] | None) -> None:
    """Have messages name the command line's flags instead of arguments; the command line calls it.

    ``names`` are the flags that are not simply their argument with dashes; None: speak of
    arguments again.
    """
    global _flags
    _flags = names


def speaks_of_flags() -> bool:
    """Say whether messages name flags: whether the command line is talking."""
    return _flags is not None


def argument(name: str) -> str:
    """Name an argument as the user knows it: ``scale_on``, or ``--scale-on`` on the command line."""
    if _flags is None:
        return name
    return f"--{_flags.get(name, name).replace('_', '-')}"


def choice(name: str, value: str | Iterable[str] | bool) -> str:
    """Write an argument with its value as the user would: ``drop=['a']`` or ``--drop a``."""
    if _flags is None:
        return f"{name}={value!r}"
    if isinstance(value, bool):
        return argument(name)
    words = value if isinstance(value, str) else ",".join(value)
    return f"{argument(name)} {shell_word(words)}"


def whole(name: str, value: object, least: int | None = None) -> int:
    """Return an argument as a whole number, or refuse it in words."""
    try:
        if isinstance(value, bool):
            raise TypeError
        found = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise UsageError(f"{argument(name)} must be a whole number, got {value!r}") from None
    if least is not None and found < least:
        raise UsageError(f"{argument(name)} must be at least {least}, got {found}")
    return found


def positive(name: str, value: object) -> float:
    """Return an argument as a number above zero, or refuse it in words."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0.0 < float(value) < math.inf:  # type: ignore[arg-type]
        raise UsageError(f"{argument(name)} must be a positive number, got {value!r}")
    return float(value)  # type: ignore[arg-type]


def shell_word(word: str) -> str:
    """Quote a word for a shell, on one line whatever it holds."""
    return shlex.quote(word) if word.isprintable() else f"${word!r}"


def printable(text: object, most: int = 200) -> str:
    """Return what another party wrote as one short line: no control characters reach a terminal."""
    line = "".join(c if c.isprintable() else "?" for c in str(text)[: most + 1])
    return line if len(line) <= most else f"{line[:most]}..."


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` for the closest known word, or an empty string."""
    spelled = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), list(spelled), n=1, cutoff=0.5)
    return f" Did you mean {spelled[close[0]]!r}?" if close else ""
