"""Downloads against a real HTTP server on this machine."""

from __future__ import annotations

import gzip
import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from whatleaks.data.location import find
from whatleaks.data.registry import Card, SourceFile
from whatleaks.errors import DataError
from whatleaks_lab.data.fetching import download, fetch

TEXT = b"a;b;y\n1;2;no\n3;4;yes\n"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    folder = tmp_path / "published"
    folder.mkdir()
    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{http.server_address[1]}", folder
    http.shutdown()
    http.server_close()


def _card(*files: SourceFile) -> Card:
    return Card("toy", "Toy", "http://example.org", "MIT", 2, 2, "y", "classification", files=files)


def _source(address: str, text: bytes = TEXT, member: str = "") -> SourceFile:
    content = hashlib.sha256(text).hexdigest()
    return SourceFile("toy.csv.gz", "0" * 64, content=content, address=address, member=member)


def _zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize("packing", ["plain", "gzip", "zip", "zip in zip"])
def test_a_file_is_fetched_checked_and_found_again(
    packing: str, server: tuple[str, Path], tmp_path: Path
) -> None:
    address, folder = server
    inner = _zip({"deep/toy.csv": TEXT, "__MACOSX/deep/toy.csv": b"junk"})
    published = {
        "plain": TEXT,
        "gzip": gzip.compress(TEXT, 1),
        "zip": inner,
        "zip in zip": _zip({"other.txt": b"", "toy.zip": inner}),
    }[packing]
    (folder / "file").write_bytes(published)
    # The address of a zip ends so only on the cards; the server does not care.
    card = _card(_source(f"{address}/file", member="toy.csv" if "zip" in packing[:3] else ""))
    (path,) = download(card, tmp_path / "home")
    assert gzip.decompress(path.read_bytes()) == TEXT
    located = find(card, tmp_path / "home")
    assert located is not None
    assert located.read("toy.csv.gz") == TEXT
    assert [file.name for file in path.parent.iterdir()] == ["toy.csv.gz"]


def test_a_wrong_file_is_thrown_away(server: tuple[str, Path], tmp_path: Path) -> None:
    address, folder = server
    (folder / "file").write_bytes(TEXT + b"5;6;no\n")
    with pytest.raises(DataError, match=r"toy\.csv\.gz.*sha256 differs"):
        download(_card(_source(f"{address}/file")), tmp_path / "home")
    assert not list((tmp_path / "home" / "toy").iterdir())


def test_an_archive_without_the_file_is_refused(server: tuple[str, Path], tmp_path: Path) -> None:
    address, folder = server
    (folder / "file").write_bytes(_zip({"readme": b""}))
    with pytest.raises(DataError, match=r"holds no toy\.csv"):
        download(_card(_source(f"{address}/file", member="toy.csv")), tmp_path)


@pytest.mark.parametrize("address", ["{}/nothing-here", "http://127.0.0.1:9/closed"])
def test_a_failed_download_is_one_line(
    address: str, server: tuple[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=r"'toy' could not be downloaded.*with home") as caught:
        download(_card(_source(address.format(server[0]))), tmp_path)
    assert "\n" not in str(caught.value)


def test_the_official_file_is_preferred_for_download_where_there_is_one(
    server: tuple[str, Path], tmp_path: Path
) -> None:
    address, folder = server
    (folder / "whole").write_bytes(TEXT)
    official = SourceFile("whole.csv.gz", "", address=f"{address}/whole")
    card = replace(_card(replace(_source(""), name="part.csv.gz")), official=(official,))
    (path,) = download(card, tmp_path)
    assert path.name == "whole.csv.gz"
    located = find(card, tmp_path)
    assert located is not None
    assert located.official
    assert located.read("whole.csv.gz") == TEXT


def test_a_set_without_an_address_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WHATLEAKS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(DataError, match=r"'cifar10' cannot be downloaded.*with home"):
        fetch("cifar10", tmp_path)


def test_embedded_sets_have_nothing_to_fetch() -> None:
    assert fetch("breast-cancer") == []
