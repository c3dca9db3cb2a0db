"""Finished units on disk, so that an interrupted audit resumes where it stopped.

A unit's file is named by a hash of everything that determines it (spec, table, code,
federation, seed): a changed table or a changed programme never reuses old work.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from whatleaks.auditor.units import UnitResult
from whatleaks.codec import decode, encode
from whatleaks.errors import StoreError, WireError


class Workshop:
    """Keeps finished units in a folder; without a folder it keeps nothing."""

    def __init__(self, folder: Path | None, identity: dict[str, Any]) -> None:
        self._folder = folder
        self._identity = json.dumps(identity, sort_keys=True, default=str)
        if folder is not None:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(f"--out: cannot write to {folder}: {error.strerror}") from None

    def _path(self, federation: str, seed: int) -> Path | None:
        if self._folder is None:
            return None
        key = hashlib.sha256(f"{self._identity}\0{federation}\0{seed}".encode()).hexdigest()[:24]
        return self._folder / f"{federation}-{seed}-{key}.unit"

    def load(self, federation: str, seed: int) -> UnitResult | None:
        """Return a finished unit, or None; a damaged file is done again."""
        path = self._path(federation, seed)
        if path is None or not path.exists():
            return None
        try:
            unit = decode(path.read_bytes())
        except (WireError, OSError):
            return None
        return unit if isinstance(unit, UnitResult) else None

    def save(self, unit: UnitResult) -> None:
        """Write a finished unit atomically."""
        path = self._path(unit.federation, unit.seed)
        if path is None:
            return
        write_atomically(path, encode(unit), mode=0o600)

    def clear(self) -> None:
        """Remove the folder's units once the audit is complete."""
        if self._folder is not None:
            for path in self._folder.glob("*.unit"):
                path.unlink(missing_ok=True)
            if not any(self._folder.iterdir()):
                self._folder.rmdir()


def write_atomically(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a file whole or not at all, readable by those whom ``mode`` names."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise StoreError(f"--out: cannot write to {path.parent}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise StoreError(f"--out: cannot write {path}: {error.strerror}") from None
