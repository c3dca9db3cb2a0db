"""Writing a file whole or not at all, into a folder that nobody else writes to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from whatleaks.errors import StoreError, UsageError, argument


def write_atomically(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a file whole or not at all, readable by those whom ``mode`` names.

    Until it has its name it is the owner's alone. What a killed process left is taken away by
    the next write to the same file.
    """
    if not path.name or path.is_dir():
        raise UsageError(f"{path} is a folder: give the name of a file to write")
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        handle = os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    except OSError as error:
        raise StoreError(f"cannot write to {path.parent}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            os.chmod(partial, 0o600)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        os.chmod(path, mode)
        _settle(path.parent)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise StoreError(f"cannot write {path}: {error.strerror}") from None


def check_writable(folder: Path) -> None:
    """Refuse an output folder that cannot be written before any work is done."""
    at = folder
    while not at.exists() and at != at.parent:
        at = at.parent
    try:
        with TemporaryDirectory(dir=at):  # what can be written is not always what its mode says
            pass
    except OSError as error:
        raise UsageError(
            f"{argument('out')}: cannot write to {folder} ({error.strerror}): choose another folder"
        ) from None


@contextmanager
def alone_in(folder: Path | None) -> Iterator[None]:
    """Hold a folder while results are made for it, and refuse one that another process holds.

    Of two audits into one folder the slower would replace the other's result. A lock goes with its
    process, so a killed one leaves none. Where a system has no such locks nothing is held.
    """
    if folder is None or sys.platform == "win32":
        yield
        return
    import fcntl

    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise StoreError(f"cannot write to {folder}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"{argument('out')}: another audit is writing to {folder}: wait for it, or choose "
                "another folder"
            ) from None
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(handle)


def _sweep(path: Path) -> None:
    """Remove what processes that are gone left of this file."""
    for left in path.parent.iterdir():
        if not (left.name.startswith(f".{path.name}.") and left.name.endswith(".partial")):
            continue
        writer = left.name.removeprefix(f".{path.name}.").removesuffix(".partial")
        if writer.isdigit() and not _alive(int(writer)):
            left.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _settle(folder: Path) -> None:
    """Have the new name on the disk, too, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
