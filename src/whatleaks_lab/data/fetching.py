"""``fetch``: find a set's files, or download them from the publisher and check them."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from whatleaks.data.location import cache, content, find
from whatleaks.data.registry import Card, SourceFile, card
from whatleaks.errors import DataError, argument


def fetch(name: str, home: Path | None = None) -> list[Path]:
    """Return the files of a set, downloading them where they are not here yet.

    Downloads go to ``home`` or, without one, to the cache. Sets of scikit-learn need no file.
    """
    entry = card(name)
    if entry.embedded:
        return []
    if home is not None:
        home.mkdir(parents=True, exist_ok=True)
    located = find(entry, home)
    if located is not None:
        for file in located.paths:
            located.read(file)
        return list(located.paths.values())
    return download(entry, home or cache())


def download(entry: Card, home: Path) -> list[Path]:
    """Download the official files of a set into ``home``/name; each address is asked once."""
    files = entry.official or entry.files
    if not all(file.address for file in files):
        raise DataError(
            f"data set {entry.name!r} cannot be downloaded: whatleaks reads {entry.files[0].name}, "
            f"which has no public address of its own ({entry.page}). Put the file into a folder "
            f"{entry.name} and give its parent with {argument('home')}."
        )
    folder = home / entry.name
    paths = []
    with tempfile.TemporaryDirectory() as scratch:
        got: dict[str, bytes] = {}
        for file in files:
            if file.address not in got:
                got[file.address] = _get(entry, file.address, Path(scratch))
            paths.append(_keep(entry, file, got[file.address], folder))
    return paths


def _get(entry: Card, address: str, scratch: Path) -> bytes:
    """Download one address; whatever stops it becomes one line."""
    import pooch

    pooch.get_logger().setLevel("WARNING")  # the progress bar says enough
    try:
        path = pooch.retrieve(
            address,
            known_hash=None,  # the content is checked against the card, whatever its packing
            path=scratch,
            fname=hashlib.sha256(address.encode()).hexdigest(),
            downloader=pooch.HTTPDownloader(progressbar=_Progress(), timeout=30),
        )
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:  # requests' errors are OSErrors
        raise DataError(
            f"data set {entry.name!r} could not be downloaded from {address} "
            f"({type(error).__name__}): is there a network? Otherwise put its files into a folder "
            f"{entry.name} and give its parent with {argument('home')}."
        ) from None


def _keep(entry: Card, file: SourceFile, raw: bytes, folder: Path) -> Path:
    """Take a file out of its archive, check it, and keep it packed."""
    if file.member:
        found = _member(raw, file.member)
        if found is None:
            raise DataError(
                f"the archive of data set {entry.name!r} holds no {file.member}: "
                f"the publisher changed it ({file.address})."
            )
        raw = found
    if raw[:2] != b"\x1f\x8b" and file.name.endswith(".gz"):
        raw = gzip.compress(raw, 9, mtime=0)
    folder.mkdir(parents=True, exist_ok=True)
    arriving = folder / f"{file.name}.part"
    arriving.write_bytes(raw)
    try:
        content(entry, file, arriving)
    except DataError:
        arriving.unlink()
        raise DataError(
            f"what {file.address} gave for data set {entry.name!r} is not {file.name} as it was "
            "checked: its sha256 differs, and it was thrown away."
        ) from None
    return arriving.replace(folder / file.name)


def _member(raw: bytes, name: str) -> bytes | None:
    """Return the member of a zip with this file name, looking into zips inside it too."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(raw))
    except zipfile.BadZipFile:
        return None
    with archive:
        inner = [entry for entry in archive.namelist() if not entry.startswith("__MACOSX")]
        for entry in inner:
            if entry.rsplit("/", 1)[-1] == name:
                return archive.read(entry)
        for entry in inner:
            if entry.endswith(".zip"):
                found = _member(archive.read(entry), name)
                if found is not None:
                    return found
    return None


class _Progress:
    """The progress bar that pooch drives; rich draws it on stderr when that is a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import DownloadColumn, Progress, TransferSpeedColumn

        self.total: float = 0
        self._bar = Progress(
            *Progress.get_default_columns(),
            DownloadColumn(),
            TransferSpeedColumn(),
            console=Console(file=sys.stderr),
            disable=not sys.stderr.isatty(),
        )
        self._task: Any = None

    def update(self, size: int) -> None:
        """Take note of ``size`` more bytes."""
        if self._task is None:
            self._bar.start()
            self._task = self._bar.add_task("download", total=self.total or None)
        self._bar.update(self._task, advance=size)

    def reset(self) -> None:
        """Start again from nothing, as pooch does at the end to draw a full bar."""
        if self._task is not None:
            self._bar.reset(self._task)

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.stop()
