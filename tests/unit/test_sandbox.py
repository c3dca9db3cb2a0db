"""The walls around an attack: what it can reach is its view, and nothing else."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cheating import CHEATS, Cheating
from whatleaks.attacks.baselines import ShapeView
from whatleaks.trial.isolation import commit
from whatleaks.wire import sandbox

ON_LINUX = sys.platform.startswith("linux")


def namespaces() -> bool:
    tried = ["unshare", "-Urnpf", "--mount-proc", "true"]
    try:
        return subprocess.run(tried, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


needs_namespaces = pytest.mark.skipif(
    not (ON_LINUX and namespaces()), reason="needs user namespaces: a container may forbid them"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("age,income\n41,1200\n")
    (tmp_path / "unfinished").mkdir()
    (tmp_path / "unfinished" / "trials.db").write_bytes(b"private")
    return path


@pytest.fixture
def port() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


@needs_namespaces
@pytest.mark.parametrize("cheat", sorted(CHEATS))
def test_every_cheat_fails_in_the_sandbox(cheat: str, table: Path, port: int) -> None:
    attack = Cheating(cheat, str(table), port)
    done = commit(attack, ShapeView(2, 3), np.random.default_rng(0), isolated=True)
    assert done.isolated == "sandbox"
    assert not done.guess.values.any(), f"{cheat} worked"


def test_a_cheat_works_where_there_are_no_walls_and_the_result_says_so(
    table: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "WALLS", False)
    attack = Cheating("table", str(table), port)
    done = commit(attack, ShapeView(2, 3), np.random.default_rng(0), isolated=True)
    assert done.isolated == "process"
    assert done.guess.values.all()
    here = commit(attack, ShapeView(2, 3), np.random.default_rng(0))
    assert here.isolated == ""
