"""The results store: SQLite, one row per run, the whole record as JSON with its checksum.

Why SQLite: see docs/decisions/0003-results-store.md. Every record is one transaction in
write-ahead mode, so a killed process loses at most the runs in flight and several
processes may write. A record whose checksum does not match is named, moved to the table
``quarantine`` and forgotten, so its run is repeated.

A record names the sources behind it by one hash. What is private (numbers record by record, from which values can be worked out)
is written only to a store that was opened with ``private=True``: it is its owner's alone.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from whatleaks.errors import StoreError, WhatleaksError
from whatleaks.runs.record import Record

_FORMAT = 2  # SQLite's user_version; 1 was never written down
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS runs (
    hash TEXT PRIMARY KEY, sources TEXT NOT NULL, status TEXT NOT NULL, record BLOB NOT NULL,
    checksum TEXT NOT NULL, private BLOB
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS quarantine (
    hash TEXT NOT NULL, record BLOB NOT NULL, checksum TEXT NOT NULL,
    reason TEXT NOT NULL, found TEXT NOT NULL
);
PRAGMA user_version = {_FORMAT};
COMMIT;
"""
_ROW = "hash, sources, status, record, checksum, private"
_Row = tuple[str, str, str, bytes, str, bytes | None]
_WAIT = 30.0  # seconds for another process to finish its write
_AT_ONCE = 500  # names asked for in one query; SQLite's oldest limit is 999


@dataclass(frozen=True)
class SetAside:
    """A record that is not handed out: damaged, or of a kind that nobody here can read."""

    hash: str
    reason: str
    damaged: bool = True

    def __str__(self) -> str:
        """Say on one line what happened."""
        if not self.damaged:
            return f"record {self.hash[:12]} in the store is left alone: {self.reason}"
        return (
            f"record {self.hash[:12]} in the store is corrupt ({self.reason}): "
            "set aside in its table 'quarantine'; the run is repeated"
        )


class Store:
    """Records by hash. Open it, use it, close it (or use it in a ``with`` block)."""

    def __init__(self, path: Path, private: bool = False) -> None:
        """Open the store at ``path``; the file is made if it is missing.

        ``private``: keep what is private too. The file and its journals are then readable by
        their owner only, and so is the folder if it has to be made. Such a store is for work that
        resumes after it was killed; whether the disk has it before a power cut is not waited for.
        """
        self.path = path
        self.keeps_private = private
        with self._one_line("opened"):
            try:
                path.parent.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(f"the folder of {path} cannot be made: {error.strerror}") from None
            if private:
                self._close_to_others()
            self._db = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
            try:
                if private:  # megabytes a row: larger pages are written in half the time
                    self._db.execute("PRAGMA page_size = 65536")
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute(f"PRAGMA synchronous = {'OFF' if private else 'FULL'}")
                self._make_tables()
            except BaseException:
                self._db.close()
                raise

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

    def remove(self) -> None:
        """Close and delete the file and its journals, and the folder if that leaves it empty."""
        self.close()
        try:
            for path in (self.path, *self._journals()):
                path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be removed: {error.strerror}") from None
        with suppress(OSError):  # something else lies there
            self.path.parent.rmdir()

    def put(self, record: Record, private: bytes = b"") -> None:
        """Write one record, whole or not at all. An ok record is never replaced by a failed one.

        ``private`` is dropped unless the store was opened to keep it.
        """
        data = record.to_json()
        kept = private if self.keeps_private else None
        row = (record.hash, record.sources, record.status, data, _checksum(data, kept), kept)
        with self._one_line("written"), self._whole():
            self._db.execute(
                f"INSERT INTO runs ({_ROW}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE "
                "SET sources = excluded.sources, status = excluded.status, "
                "record = excluded.record, checksum = excluded.checksum, "
                "private = excluded.private WHERE runs.status != 'ok' OR excluded.status = 'ok'",
                row,
            )

    def get(self, hashes: Iterable[str]) -> tuple[dict[str, Record], tuple[SetAside, ...]]:
        """Return the records under these names, failed ones included, and what was set aside."""
        return self._trusted(self._rows(list(hashes)))

    def all(self) -> tuple[tuple[Record, ...], tuple[SetAside, ...]]:
        """Return every record, in the order of their names, and what was set aside."""
        with self._one_line("read"):
            rows = list(self._db.execute(f"SELECT {_ROW} FROM runs ORDER BY hash"))
        records, bad = self._trusted(rows)
        return tuple(records.values()), bad

    def private(self, name: str) -> bytes | None:
        """Return what is private to one run; None if it was not kept or cannot be trusted."""
        for row in self._rows([name]):
            if isinstance(_read(row), Record):
                return row[-1]
        return None

    def quarantined(self) -> tuple[SetAside, ...]:
        """Return all records that were ever set aside."""
        with self._one_line("read"):
            rows = self._db.execute("SELECT hash, reason FROM quarantine").fetchall()
        return tuple(SetAside(name, reason) for name, reason in rows)

    def _rows(self, wanted: list[str]) -> list[_Row]:
        rows: list[_Row] = []
        with self._one_line("read"):
            for start in range(0, len(wanted), _AT_ONCE):
                some = wanted[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                rows += self._db.execute(f"SELECT {_ROW} FROM runs WHERE hash IN ({marks})", some)
        return rows

    def _trusted(self, rows: Iterable[_Row]) -> tuple[dict[str, Record], tuple[SetAside, ...]]:
        good: dict[str, Record] = {}
        bad: list[SetAside] = []
        for row in rows:
            read = _read(row)
            if isinstance(read, Record):
                good[read.hash] = read
                continue
            if read.damaged:
                self._set_aside(read)
            bad.append(read)
        return good, tuple(bad)

    def _set_aside(self, bad: SetAside) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._one_line("written"), self._whole():
            self._db.execute(
                "INSERT INTO quarantine SELECT hash, record, checksum, ?, ? FROM runs "
                "WHERE hash = ?",
                (bad.reason, now, bad.hash),
            )
            self._db.execute("DELETE FROM runs WHERE hash = ?", (bad.hash,))

    def _make_tables(self) -> None:
        """Make the tables in a new file; refuse a file with tables of an older kind."""
        if self._format() == _FORMAT:
            return
        if self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'runs'").fetchone():
            if self._format() == _FORMAT:  # another process has just made them
                return
            raise StoreError(
                f"{self.path} was written by another version of whatleaks, which kept its runs in "
                "another form. Move it away or choose another file: its runs are made again"
            )
        self._db.executescript(_SCHEMA)

    def _format(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def _journals(self) -> tuple[Path, ...]:
        return tuple(self.path.with_name(self.path.name + end) for end in ("-wal", "-shm"))

    def _close_to_others(self) -> None:
        """Make the file before SQLite does: its journals take over who may read it."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
            for path in (self.path, *self._journals()):
                if path.exists():
                    path.chmod(0o600)
        except OSError as error:
            kind = "it is a folder" if self.path.is_dir() else error.strerror
            raise StoreError(f"{self.path} cannot be opened: {kind}. Choose another file") from None

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Write all of it or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
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


def _read(row: _Row) -> Record | SetAside:
    """Read one row, or say why it cannot be trusted."""
    name, sources, status, data, checksum, private = row
    if not isinstance(data, bytes) or _checksum(data, private) != checksum:
        return SetAside(name, "its checksum does not match")
    try:
        record = Record.from_json(data)
    except WhatleaksError as error:  # intact, but made by something that is not here
        return SetAside(name, str(error), damaged=False)
    except (ValueError, TypeError, KeyError) as error:
        return SetAside(name, f"it does not read: {error}")
    if (record.hash, record.sources, record.status) != (name, sources, status):
        return SetAside(name, "it belongs to another run")
    return record


def _checksum(data: bytes, private: bytes | None) -> str:
    """Hash a record together with what is private to it: neither can be exchanged alone."""
    total = hashlib.sha256(data)
    if private is not None:
        total.update(b"\0" + private)
    return total.hexdigest()


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
