"""From a file's bytes to the table's: unpacked, and as UTF-8 whatever it was written in.

What a file is shows from its bytes. A wrong guess of the encoding can only spoil words: every
encoding that is tried writes digits, signs, separators and line ends as UTF-8 does.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from whatleaks.data.naming import listed
from whatleaks.errors import TableError, UsageError, argument, choice

WESTERN = "cp1252"  # Windows in the west; Latin-1 is the same but for signs that no text has
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_FOREIGN = re.compile(rb"[\x80-\xff]{3}")  # western words have no three such letters in a row


def unpacked(path: Path, raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return what a .gz or a .zip with one file in it holds, or the bytes as they are."""
    if raw[:2] == b"\x1f\x8b":
        try:
            return gzip.decompress(raw), ()
        except (OSError, EOFError, zlib.error):
            raise TableError(f"{path} is a damaged .gz file.") from None
    if raw[:4] == _OLD_OFFICE:
        raise TableError(
            f"{path} is an old or a locked Excel file: save it as .xlsx without a password, or as CSV."
        )
    if raw[:4] not in (b"PK\x03\x04", b"PK\x05\x06") or is_workbook(raw):
        return raw, ()
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            names = [entry.filename for entry in packed.infolist() if _is_table(entry)]
            if len(names) != 1:
                what = f"several files ({listed(names)})" if names else "no file"
                raise TableError(f"{path} holds {what}: unpack it and name one table.")
            return packed.read(names[0]), (f"{path.name} was unpacked: it holds {names[0]!r}",)
    except RuntimeError:  # how the library says that it needs a password
        raise TableError(f"{path} is locked with a password: unpack it first.") from None
    except (zipfile.BadZipFile, NotImplementedError, zlib.error, EOFError, OSError):
        raise TableError(f"{path} is a damaged .zip or Excel file.") from None


def is_workbook(raw: bytes) -> bool:
    """Say whether bytes are an Excel file: a zip with a workbook in it."""
    if raw[:4] != b"PK\x03\x04":
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            return "xl/workbook.xml" in packed.namelist()
    except (zipfile.BadZipFile, OSError):
        return False


def _is_table(entry: zipfile.ZipInfo) -> bool:
    """Leave out folders, and what file managers put beside the files."""
    path = PurePosixPath(entry.filename)
    return not (entry.is_dir() or path.name.startswith(".") or "__MACOSX" in path.parts)


def as_utf8(path: Path, raw: bytes, encoding: str | None) -> tuple[bytes, tuple[str, ...]]:
    """Return a text as UTF-8, and a note where it was written otherwise."""
    if encoding is not None:
        return _decoded(path, raw, encoding), ()
    marked = next((name for mark, name in _MARKS if raw.startswith(mark)), None)
    found = marked or _wide(raw)
    if found is None and b"\0" in raw:
        raise TableError(f"{path} is not a text table: save it as CSV in UTF-8, or as Parquet.")
    if found is None:
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as error:
            found = _western(path, raw, error.start)
        else:
            return raw, ()
    text = _decoded(path, raw, found)
    if marked is not None:
        return text, ()
    return text, (
        f"{path.name} is not UTF-8: it was read as {found} (numbers are the same in any case; if words "
        f"look wrong, {argument('encoding')} names another)",
    )


def _wide(raw: bytes) -> str | None:
    """Recognise UTF-16 without a mark: a comma, a digit or a line end has a zero byte beside it."""
    sample = raw[: 1 << 16]
    for name, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[::2])):
        if len(raw) % 2 == 0 and zeros.count(0) > len(zeros) / 2 and b"\0" in raw:
            try:
                return None if "\0" in raw.decode(name) else name
            except UnicodeDecodeError:
                return None
    return None


def _western(path: Path, raw: bytes, place: int) -> str:
    """Return the encoding of western Windows where it fits; else ask."""
    loose = raw.decode("utf-8", errors="surrogateescape")
    broken = sum("\udc80" <= char <= "\udcff" for char in loose)
    whole = sum(char > "\x7f" for char in loose) - broken
    row = raw.count(b"\n", 0, place) + 1
    said = f"{path} is not UTF-8 text (line {row})"
    if whole > broken:
        raise TableError(
            f"{said}, though most of it is: correct {broken} bytes, or {choice('encoding', WESTERN)} "
            "reads it letter by letter."
        )
    try:
        raw.decode(WESTERN)
    except UnicodeDecodeError:
        fits = False
    else:
        fits = _FOREIGN.search(raw) is None
    if not fits:
        raise TableError(
            f"{said}, nor western Windows: {argument('encoding')} says what it is, such as cp1251, "
            "shift_jis or gb18030, or save it as UTF-8."
        )
    return WESTERN


def _decoded(path: Path, raw: bytes, encoding: str) -> bytes:
    try:
        text = raw.decode(encoding)
    except LookupError:
        raise UsageError(
            f"{argument('encoding')} {encoding!r} is unknown: use a name such as utf-8, cp1252, "
            "utf-16 or shift_jis."
        ) from None
    except UnicodeError:
        raise TableError(
            f"{path} is not {encoding} text: {argument('encoding')} names another."
        ) from None
    if "\0" in text:
        raise TableError(f"{path} is not a text table in {encoding}.")
    try:
        return text.removeprefix("\ufeff").encode()
    except UnicodeEncodeError:
        raise TableError(
            f"{path} is not {encoding} text: {argument('encoding')} names another."
        ) from None
