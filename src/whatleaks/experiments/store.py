"""The results store: SQLite, one row per run, the whole record as JSON with its checksum.

Why SQLite: see docs/decisions/0003-results-store.md. Every record is one transaction in
write-ahead mode, so a killed process loses at most the runs in flight and several
processes may write. A record whose checksum does not match is named, moved to the table
``quarantine`` and forgotten, so its run is repeated.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from whatleaks.errors import StoreError, WhatleaksError
from whatleaks.experiments.record import Record

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    hash TEXT PRIMARY KEY, status TEXT NOT NULL, record BLOB NOT NULL, checksum TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS quarantine (
    hash TEXT NOT NULL, record BLOB NOT NULL, checksum TEXT NOT NULL,
    reason TEXT NOT NULL, found TEXT NOT NULL
);
"""
_WAIT = 30.0  # seconds for another process to finish its write
_AT_ONCE = 500  # names asked for in one query; SQLite's oldest limit is 999


@dataclass(frozen=True)
class SetAside:
    """A record that could not be trusted: its run is repeated."""

    hash: str
    reason: str

    def __str__(self) -> str:
        """Say on one line what happened."""
        return (
            f"record {self.hash[:12]} in the store is corrupt ({self.reason}): "
            "set aside in its table 'quarantine'; the run is repeated"
        )


class Store:
    """Records by hash. Open it, use it, close it (or use it in a ``with`` block)."""

    def __init__(self, path: Path) -> None:
        """Open the store at ``path``; the file is made if it is missing."""
        self.path = path
        with self._one_line("opened"):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(f"the folder of {path} cannot be made: {error.strerror}") from None
            self._db = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")
            self._db.executescript(_SCHEMA)

    def __enter__(self) -> Store:
        """Use the store in a ``with`` block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the store."""
        self.close()

    def close(self) -> None:
        """Close the file. What was written stays."""
        self._db.close()

    def put(self, record: Record) -> None:
        """Write one record, whole or not at all. An ok record is never replaced by a failed one."""
        data = record.to_json()
        with self._one_line("written"):
            self._db.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET "
                "status = excluded.status, record = excluded.record, checksum = excluded.checksum "
                "WHERE runs.status != 'ok' OR excluded.status = 'ok'",
                (record.hash, record.status, data, _checksum(data)),
            )

    def get(self, hashes: Iterable[str]) -> tuple[dict[str, Record], tuple[SetAside, ...]]:
        """Return the records under these names, failed ones included, and what was set aside."""
        wanted = list(hashes)
        rows: list[tuple[str, str, bytes, str]] = []
        with self._one_line("read"):
            for start in range(0, len(wanted), _AT_ONCE):
                some = wanted[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows += self._db.execute(f"SELECT * FROM runs WHERE hash IN ({marks})", some)
        return self._trusted(rows)

    def all(self) -> tuple[tuple[Record, ...], tuple[SetAside, ...]]:
        """Return every record, in the order of their names, and what was set aside."""
        with self._one_line("read"):
            rows = list(self._db.execute("SELECT * FROM runs ORDER BY hash"))
        records, bad = self._trusted(rows)
        return tuple(records.values()), bad

    def quarantined(self) -> tuple[SetAside, ...]:
        """Return all records that were ever set aside."""
        with self._one_line("read"):
            rows = self._db.execute("SELECT hash, reason FROM quarantine").fetchall()
        return tuple(SetAside(name, reason) for name, reason in rows)

    def _trusted(
        self, rows: Iterable[tuple[str, str, bytes, str]]
    ) -> tuple[dict[str, Record], tuple[SetAside, ...]]:
        good: dict[str, Record] = {}
        bad: list[SetAside] = []
        for name, status, data, checksum in rows:
            record, reason = _read(name, status, data, checksum)
            if record is None:
                self._set_aside(name, reason)
                bad.append(SetAside(name, reason))
            else:
                good[name] = record
        return good, tuple(bad)

    def _set_aside(self, name: str, reason: str) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._one_line("written"):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.execute(
                    "INSERT INTO quarantine SELECT hash, record, checksum, ?, ? FROM runs "
                    "WHERE hash = ?",
                    (reason, now, name),
                )
                self._db.execute("DELETE FROM runs WHERE hash = ?", (name,))
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    @contextmanager
    def _one_line(self, done: str) -> Iterator[None]:
        """Turn SQLite's errors into one line that says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be {done}: {_remedy(error, self.path)}") from None


def _read(name: str, status: str, data: bytes, checksum: str) -> tuple[Record | None, str]:
    """Read one row; the reason says why it cannot be trusted."""
    if not isinstance(data, bytes) or _checksum(data) != checksum:
        return None, "its checksum does not match"
    try:
        record = Record.from_json(data)
    except (ValueError, TypeError, KeyError, WhatleaksError) as error:
        return None, f"it does not read: {error}"
    if (record.hash, record.status) != (name, status):
        return None, "it belongs to another run"
    return record, ""


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _remedy(error: sqlite3.Error, path: Path) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return "the disk is full. What was stored stays readable: free some space and run again"
    if code == sqlite3.SQLITE_IOERR:
        return (
            "the disk refuses (full, over a quota or failing). What was stored stays readable: "
            "free some space and run again"
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return (
            "the file is damaged or is no results store. Move it away and run again, "
            f"or rescue its rows first with: sqlite3 {path} .recover"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"another process held it for {_WAIT:.0f} s. Run again when that one has finished"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        kind = "is a folder" if os.path.isdir(path) else "may not be written"
        return f"it {kind}. Choose another file"
    return str(error)
