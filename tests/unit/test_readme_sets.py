"""What README's two commands need is in the package's dependencies: no network, no download."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from whatleaks.data.loading import load

ROOT = Path(__file__).resolve().parents[2]


def test_make_audit_names_a_set_that_ships_with_scikit_learn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = re.search(r"whatleaks audit (\S+)", (ROOT / "Makefile").read_text())
    assert found is not None

    def refused(*_: object) -> None:
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setenv("WHATLEAKS_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    dataset = load(found.group(1))
    assert dataset.card.embedded
    assert len(dataset.frame) == dataset.card.rows
