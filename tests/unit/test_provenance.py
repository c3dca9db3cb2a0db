"""The sources behind a run: what its modules can reach, and what of it has changed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

import whatleaks
from whatleaks.runs.provenance import code, environment, packages_of, sources_of

HOME = Path(whatleaks.__file__).parent


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that is not ours and has never been imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    package = tmp_path / "somebody"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "attack.py").write_text("from somebody import near\n")
    (package / "near.py").write_text("")
    return package


def test_a_change_anywhere_in_the_package_is_seen_in_the_same_process(outside: Path) -> None:
    packages = packages_of(("somebody.attack", "whatleaks.arrays"))
    assert packages == ("somebody", "whatleaks")
    before = sources_of(packages)
    assert sources_of(packages) == before
    (outside / "near.py").write_text("X = 1\n")
    changed = sources_of(packages)
    assert changed != before
    (outside / "near.py").rename(outside / "beside.py")
    assert sources_of(packages) not in (before, changed)
    assert "somebody" not in sys.modules  # read, not run
    assert sources_of() == sources_of()  # nothing of theirs is in ours


def test_a_single_file_on_the_path_is_a_module_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "alone_in_a_file.py"
    path.write_text("X = 1\n")
    before = sources_of(("alone_in_a_file",))
    assert sources_of(("alone_in_a_file",)) == before
    path.write_text("X = 1.0\n")
    assert sources_of(("alone_in_a_file",)) != before


def test_what_has_no_file_is_never_trusted_again() -> None:
    assert sources_of(("__never__",)) != sources_of(("__never__",))


def test_files_edited_since_they_were_read_are_not_trusted_here(outside: Path) -> None:
    assert sources_of(("somebody",), here=True) == sources_of(("somebody",), here=True)
    (outside / "near.py").write_text("X = 2\n")
    assert sources_of(("somebody",), here=True) != sources_of(("somebody",), here=True)
    assert sources_of(("somebody",)) == sources_of(("somebody",))


def test_the_whole_package_is_hashed_quickly() -> None:
    sources_of()
    start = time.process_time()
    sources_of()
    assert time.process_time() - start < 1.0  # about 0.01 s


def test_the_environment_names_versions_and_no_place() -> None:
    told = environment()
    assert {"python", "platform", "whatleaks", "cores", "packages"} == set(told)
    assert "numpy" in told["packages"]
    assert str(Path.home()) not in str(told)
    assert set(code()) == {"version", "sha256"}
