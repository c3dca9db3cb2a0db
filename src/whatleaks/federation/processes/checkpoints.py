"""What a party needs to go on after an epoch, a round or a tree, in its own folder.

A file is a checksum and the encoded state. It reaches the disk before its name does; one that
is damaged all the same is named and left out, so that the party goes on from the one before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whatleaks.codec import decode, encode, travels
from whatleaks.errors import UsageError, WhatleaksError, argument
from whatleaks.files import write_atomically

_MAGIC = b"WLC2"
_START = len(_MAGIC) + hashlib.sha256().digest_size


@travels
@dataclass(frozen=True)
class Checkpoint:
    """The state of one party after ``epoch`` epochs of the plan with digest ``plan``.

    ``data`` digests the party's own table, its columns and its seed. A regression keeps its
    weights; SecureBoost, whose epoch is a tree, its splits, and the active party its trees and
    margins besides.
    """

    plan: str
    party: str
    data: str
    epoch: int
    state: Any


class Checkpoints:
    """The last two epochs are kept: when a party dies the others are at most one apart."""

    def __init__(self, folder: Path, plan: str, party: str, data: str) -> None:
        self._folder = folder
        self._identity = (plan, party, data)
        make_private(folder)

    def _file(self, epoch: int) -> Path:
        return self._folder / f"epoch-{epoch:06d}.checkpoint"

    def save(self, epoch: int, state: Any) -> None:
        """Write an epoch's state whole or not at all, and drop those before the last two."""
        encoded = encode(Checkpoint(*self._identity, epoch, state))
        data = _MAGIC + hashlib.sha256(encoded).digest() + encoded
        write_atomically(self._file(epoch), data, mode=0o600)
        for old in self._folder.glob("epoch-*.checkpoint"):
            if old not in (self._file(epoch), self._file(epoch - 1)):
                old.unlink()

    def load(self, tell: Callable[[str], None] = print) -> dict[int, Any]:
        """Return the states by epoch.

        Files of another plan, party or table are refused; damaged ones are named and left out.
        """
        found = {}
        for path in sorted(self._folder.glob("epoch-*.checkpoint")):
            saved = _read(path)
            if saved is None:
                tell(f"{path.name} is damaged: going on from the one before it")
                continue
            if (saved.plan, saved.party, saved.data) != self._identity:
                raise UsageError(
                    f"{path} belongs to another plan, party or table: leave {argument('resume')} "
                    "out, or use another own.state"
                )
            found[saved.epoch] = saved.state
        return found


def make_private(folder: Path) -> None:
    """Make a party's own folder, which only its owner can enter."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise UsageError(f"own.state: cannot make {folder}: {error.strerror}") from None


def _read(path: Path) -> Checkpoint | None:
    """Read one file, or None if it is not whole."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    start, body = data[:_START], data[_START:]
    if start != _MAGIC + hashlib.sha256(body).digest():
        return None
    try:
        saved = decode(body)
    except WhatleaksError:
        return None
    return saved if isinstance(saved, Checkpoint) else None
