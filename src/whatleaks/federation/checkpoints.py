"""What a party needs to go on after an epoch, a round or a tree, in its own folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whatleaks.codec import decode, encode, travels
from whatleaks.errors import UsageError, WireError


@travels
@dataclass(frozen=True)
class Checkpoint:
    """The state of one party after ``epoch`` epochs of the plan with digest ``plan``.

    A regression keeps its weights; SecureBoost, whose epoch is a tree, its splits, and the
    active party its trees and margins besides.
    """

    plan: str
    party: str
    epoch: int
    state: Any


class Checkpoints:
    """The last two epochs are kept: when a party dies the others are at most one apart."""

    def __init__(self, folder: Path, plan: str, party: str) -> None:
        self._folder = folder
        self._plan = plan
        self._party = party
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise UsageError(f"own.state: cannot make {folder}: {error.strerror}") from None

    def _file(self, epoch: int) -> Path:
        return self._folder / f"epoch-{epoch:06d}.checkpoint"

    def save(self, epoch: int, state: Any) -> None:
        """Write an epoch's state whole or not at all, and drop those before the last two."""
        encoded = encode(Checkpoint(self._plan, self._party, epoch, state))
        partial = self._folder / "checkpoint.partial"
        partial.touch(mode=0o600)
        partial.write_bytes(encoded)
        os.replace(partial, self._file(epoch))
        for old in self._folder.glob("epoch-*.checkpoint"):
            if old not in (self._file(epoch), self._file(epoch - 1)):
                old.unlink()

    def load(self) -> dict[int, Any]:
        """Return the states by epoch; files of another plan or party are refused."""
        found = {}
        for path in sorted(self._folder.glob("epoch-*.checkpoint")):
            saved = decode(path.read_bytes())
            if not isinstance(saved, Checkpoint):
                raise WireError(f"{path} is not a checkpoint: delete it")
            if (saved.plan, saved.party) != (self._plan, self._party):
                raise UsageError(
                    f"{path} belongs to another plan or party: leave --resume out, or use "
                    "another own.state"
                )
            found[saved.epoch] = saved.state
        return found
