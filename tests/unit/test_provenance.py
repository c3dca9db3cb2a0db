"""The sources behind a run: what its modules can reach, and what of it has changed."""

from __future__ import annotations

import ast
import sys
import time
from pathlib import Path

import pytest

import whatleaks
from whatleaks.runs.provenance import changed, code, environment, sources_of

HOME = Path(whatleaks.__file__).parent


def own_modules() -> tuple[str, ...]:
    parts = [path.relative_to(HOME).with_suffix("").parts for path in HOME.rglob("*.py")]
    names = [".".join(("whatleaks", *some)).removesuffix(".__init__") for some in parts]
    return tuple(sorted(name for name in names if name != "whatleaks"))


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that is not ours and has never been imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    package = tmp_path / "somebody"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "attack.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "from somebody import near\n"
        "from . import beside\n"
        "import numpy\n"
        "if TYPE_CHECKING:\n"
        "    from whatleaks.threat.grants import Grant\n"
        "def late():\n"
        "    from whatleaks.arrays import Floats\n"
        "NAME = 'whatleaks.codec'\n"
    )
    for name in ("near", "beside", "far"):
        (package / f"{name}.py").write_text("")
    return package


def test_a_module_reaches_what_it_imports_and_no_more(outside: Path) -> None:
    reached = set(sources_of(("somebody.attack",)).files)
    assert reached == {
        "somebody",
        "somebody.attack",
        "somebody.near",
        "somebody.beside",
        "whatleaks.arrays",
    }
    assert "somebody" not in sys.modules  # read, not run


def test_a_change_is_seen_in_the_same_process_and_named(outside: Path) -> None:
    before = sources_of(("somebody.attack",))
    (outside / "far.py").write_text("X = 1\n")  # nobody imports it
    assert sources_of(("somebody.attack",)) == before
    (outside / "near.py").write_text("X = 1\n")
    after = sources_of(("somebody.attack",))
    assert after.digest != before.digest
    assert changed(before.files, after.files) == ("somebody.near",)
    (outside / "beside.py").unlink()
    gone = sources_of(("somebody.attack",))
    assert changed(after.files, gone.files) == ("somebody.beside",)


def test_a_single_file_on_the_path_is_a_module_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "alone_in_a_file.py").write_text("import whatleaks.arrays\n")
    assert set(sources_of(("alone_in_a_file",)).files) == {"alone_in_a_file", "whatleaks.arrays"}


def test_what_has_no_file_is_never_trusted_again() -> None:
    assert sources_of(("__never__",)).digest != sources_of(("__never__",)).digest


def test_the_closure_is_that_of_a_slow_walk() -> None:
    """Every module of ours against a reference that walks whole trees and knows no cache."""
    names = set(own_modules())
    direct: dict[str, set[str]] = {}
    for name in names:
        place = HOME.joinpath(*name.split(".")[1:])
        path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        direct[name] = _imports(ast.parse(path.read_text())) & names
    for start in sorted(names)[::7]:
        above = [start.rsplit(".", k)[0] for k in range(start.count(".") + 1)]
        reached, waiting = set(), set(above) & names  # packages are run before their modules
        while waiting:
            name = waiting.pop()
            reached.add(name)
            waiting |= direct[name] - reached
        assert set(sources_of((start,)).files) == reached


def _imports(tree: ast.AST) -> set[str]:
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for kept in node.body
        for inner in ast.walk(kept)
    }
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return {".".join(name.split(".")[:k]) for name in found for k in range(1, 9)}


def test_the_whole_package_is_hashed_quickly() -> None:
    names = own_modules()
    start = time.process_time()
    found = sources_of(names)
    assert set(found.files) == set(names)
    assert time.process_time() - start < 5.0  # about 0.25 s on a quiet core
    start = time.process_time()
    assert sources_of(names) == found
    assert time.process_time() - start < 2.0  # about 0.02 s


def test_the_environment_names_versions_and_no_place() -> None:
    told = environment()
    assert {"python", "platform", "whatleaks", "cores", "packages"} == set(told)
    assert "numpy" in told["packages"]
    assert str(Path.home()) not in str(told)
    assert set(code()) == {"version", "sha256"}
