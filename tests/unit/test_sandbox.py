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
from whatleaks.wire import sandbox, walls

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


def worked(table: Path, port: int, how: str) -> set[str]:
    """Return the cheats that worked in an interpreter isolated so."""
    attack, view = Cheating(str(table), port), ShapeView(2, len(CHEATS))
    done = commit(attack, view, np.random.default_rng(0), isolated=bool(how))
    assert done.isolated == how
    return {name for name, found in zip(CHEATS, done.guess.values[0], strict=True) if found}


@needs_namespaces
def test_every_cheat_fails_in_the_sandbox(table: Path, port: int) -> None:
    assert worked(table, port, "sandbox") == set()


def test_packages_of_another_environment_are_inside_and_nothing_else_of_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, mine = tmp_path / "lib" / "site-packages", tmp_path / "project"
    for folder in (shared, mine):
        folder.mkdir(parents=True)
        monkeypatch.syspath_prepend(str(folder))
    assert str(shared) in walls.needed()
    assert str(mine) not in walls.needed()


def test_the_cheats_work_where_there_are_no_walls_and_the_result_says_so(
    table: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "WALLS", False)
    eight = set(list(CHEATS)[:8])
    assert worked(table, port, "process") >= eight
    assert worked(table, port, "") >= {"table", "network", "store"}


def test_the_routines_that_round_here_round_behind_the_walls_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Other routines of the same library give other last digits, and the numbers shall be the same."""
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    monkeypatch.setenv("SECRET_OF_OURS", "income")
    told = sandbox.environment()
    assert told["OPENBLAS_CORETYPE"] == "Haswell"
    assert told["OPENBLAS_NUM_THREADS"] == "1"
    assert "SECRET_OF_OURS" not in told
