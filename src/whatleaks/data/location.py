"""Where the files of a data set lie on this machine, and whether they are the right ones.

The order: the folder given (``home``), the folder in ``WHATLEAKS_DATA``, the cache
that ``whatleaks data fetch`` fills. In each, a set has a folder of its own name.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

from whatleaks.data.registry import Card, SourceFile
from whatleaks.errors import DataError, argument


@dataclass(frozen=True)
class Located:
    """The files of one set, found; ``official`` says that they are the publisher's own."""

    card: Card
    paths: dict[str, Path]
    official: bool

    def read(self, name: str) -> bytes:
        """Return what a file holds, unpacked; a wrong checksum is refused."""
        files = self.card.official if self.official else self.card.files
        source = next(file for file in files if file.name == name)
        return content(self.card, source, self.paths[name])

    def __contains__(self, name: str) -> bool:
        """Say whether a file of this name was found."""
        return name in self.paths


def cache() -> Path:
    """Return the folder that downloads go to."""
    import pooch

    return Path(pooch.os_cache("whatleaks"))


def places(home: Path | None) -> tuple[Path, ...]:
    """Return the folders to look in, in order; a folder given that is none is refused."""
    if home is not None and not home.is_dir():
        raise DataError(f"{argument('home')} {home} is not a folder.")
    set_by_user = os.environ.get("WHATLEAKS_DATA")
    return tuple(
        place for place in (home, Path(set_by_user) if set_by_user else None, cache()) if place
    )


def find(card: Card, home: Path | None) -> Located | None:
    """Return the first place that holds every file of the set, or nothing."""
    for official, files in ((False, card.files), (True, card.official)):
        for place in places(home):
            paths = {file.name: _existing(place / card.name / file.name) for file in files}
            found = {name: path for name, path in paths.items() if path is not None}
            if files and len(found) == len(files):
                return Located(card, found, official)
    return None


def locate(card: Card, home: Path | None) -> Located:
    """Return the files of a set; where there are none, say where they were looked for."""
    located = find(card, home)
    if located is None:
        looked = ", ".join(str(place / card.name) for place in places(home))
        wanted = card.files[0].name
        more = f" and {len(card.files) - 1} more" if len(card.files) > 1 else ""
        raise DataError(
            f"data set {card.name!r} is not here: no {wanted}{more} in {looked}. "
            f"Run 'whatleaks data fetch {card.name}' or give the folder with {argument('home')} or WHATLEAKS_DATA."
        )
    return located


def content(card: Card, source: SourceFile, path: Path) -> bytes:
    """Read one file, check it against the card and unpack it.

    A copy that was packed again has another checksum but the same content: that is enough.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    trusted = not source.sha256 or _sha256(raw) == source.sha256
    if raw[:2] == b"\x1f\x8b" and source.name.endswith(".gz"):
        try:
            raw = gzip.decompress(raw)
        except (OSError, EOFError, zlib.error):
            raise DataError(f"{path} (data set {card.name!r}) is a damaged .gz file.") from None
    if not trusted and not (source.content and _sha256(raw) == source.content):
        raise DataError(
            f"{path} is not the file that data set {card.name!r} was checked with: its sha256 "
            f"differs. Delete it and run 'whatleaks data fetch {card.name}'."
        )
    return raw


def _existing(path: Path) -> Path | None:
    """Return the file as named, or unpacked (without .gz), or nothing."""
    unpacked = path.with_name(path.name.removesuffix(".gz"))
    return next((candidate for candidate in (path, unpacked) if candidate.is_file()), None)


def _sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()
