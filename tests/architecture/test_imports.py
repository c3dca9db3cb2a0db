"""Imports point one way, and attacks import little: the one rule, checked on every file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "whatleaks"
LABORATORY = SOURCE.with_name("whatleaks_lab")

BASE = {"arrays", "catalog", "citations", "codec", "errors", "extras", "files", "seeds"}
LOWER = {"models", "wire", "crypto", "data", "stats"}
MIDDLE = {"federation", "attacks", "defenses", "detectors", "metrics", "threat"}
LEVEL = (
    dict.fromkeys(BASE, 0)
    | dict.fromkeys(LOWER, 1)
    | dict.fromkeys(MIDDLE, 2)
    | {"trial": 3, "runs": 4, "auditor": 5, "report": 6, "api": 7, "cli": 8}
)
FRONT_DOORS = {"__init__", "__main__"}  # they name public entry points, late
# Rooms of one level that may look at each other, and why.
SIBLINGS = {
    ("data", "models.grids"),  # what values a column can take is part of its schema
    ("data", "wire.parties"),  # who holds what: one vocabulary of names
    ("attacks", "threat"),  # an attack's type is its view
    ("attacks", "federation.roles"),  # a hijacker plays the active role
    ("federation", "defenses.protocol"),  # a defense acts before a message is recorded
    ("federation", "detectors.protocol"),  # a detector lives in the passive party
    ("defenses", "threat.grants"),  # a defense on parameters changes what is granted
    ("federation", "threat.grants"),  # a federation offers what could be granted
}
ATTACKS_MAY_IMPORT = (
    "arrays",
    "attacks",
    "catalog",
    "citations",
    "codec",
    "errors",
    "federation.roles",
    "models",
    "seeds",
    "threat",
    "wire.expected",  # what a hijacker's programme waits for
)


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Names below ``whatleaks.`` that a file imports, anywhere in it."""
    return {n.removeprefix("whatleaks.") for n in dotted(path) if n.startswith("whatleaks.")}


def dotted(path: Path) -> set[str]:
    """All names that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError(f"{path}: relative imports hide the direction")
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def room(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def within(name: str, allowed: str) -> bool:
    """Say whether a name is an allowed module, something in it, or a package on the way to it."""
    return name == allowed or name.startswith(allowed + ".") or allowed.startswith(name + ".")


def violations(importer: str, names: set[str]) -> list[str]:
    """Say which imports of a file in room ``importer`` point the wrong way."""
    wrong = []
    for name in sorted(names):
        target = name.split(".")[0]
        if target not in LEVEL or target == importer:
            continue
        sibling = any(importer == a and within(name, b) for a, b in SIBLINGS)
        level = LEVEL[importer]
        if LEVEL[target] > level or (LEVEL[target] == level > 0 and not sibling):
            wrong.append(f"{importer} -> {name}")
    return wrong


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path: Path) -> None:
    importer = room(path)
    if importer in FRONT_DOORS:
        return
    assert importer in LEVEL, f"{importer} is a room that the design does not know"
    assert violations(importer, imported(path)) == []


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_the_core_never_imports_the_laboratory(path: Path) -> None:
    assert not [name for name in dotted(path) if name.partition(".")[0] == LABORATORY.name]
    assert LABORATORY.name not in path.read_text(), "nor does it name the laboratory's modules"


@pytest.mark.parametrize("path", [p for p in modules() if room(p) == "attacks"], ids=str)
def test_attacks_import_only_what_an_adversary_has(path: Path) -> None:
    for name in imported(path):
        allowed = any(within(name, one) for one in ATTACKS_MAY_IMPORT)
        assert allowed, f"{path.name} imports {name}"


@pytest.mark.parametrize("path", [p for p in modules() if room(p) == "report"], ids=str)
def test_reports_do_not_compute(path: Path) -> None:
    for name in imported(path):
        assert not within(name, "runs.runner"), f"{path.name} imports {name}"
        assert not within(name, "auditor.audit"), f"{path.name} imports {name}"


def test_the_walk_sees_a_violation() -> None:
    assert violations("attacks", {"trial.evaluator"}) == ["attacks -> trial.evaluator"]
    assert violations("attacks", {"data.table"}) == []  # downward, but the attack rule forbids it
    assert violations("attacks", {"federation.split.run"}) == ["attacks -> federation.split.run"]
    assert violations("attacks", {"federation.roles.ActiveSeat"}) == []
    assert violations("threat", {"federation.roles"}) == ["threat -> federation.roles"]
    assert violations("models", {"wire.channel"}) == ["models -> wire.channel"]
    assert violations("data", {"wire.parties.ACTIVE"}) == []
    assert violations("data", {"wire.channel"}) == ["data -> wire.channel"]
    assert violations("trial", {"runs.store"}) == ["trial -> runs.store"]
    assert "whatleaks_lab.papers.check" in dotted(LABORATORY / "papers" / "ledger.py")
    assert violations("report", {"api"}) == ["report -> api"]
    assert violations("wire", {"arrays"}) == []
    assert violations("stats", {"arrays", "errors", "seeds"}) == []
    assert violations("stats", {"models.linear"}) == ["stats -> models.linear"]


def test_every_module_of_the_package_stands_in_a_room_that_exists() -> None:
    rooms = {room(path) for path in modules()} - FRONT_DOORS
    assert rooms == set(LEVEL), "a room of the design is gone, or a new one has no level"


def test_no_pickle_and_no_global_seed() -> None:
    for path in [*modules(), *LABORATORY.rglob("*.py")]:
        text = path.read_text()
        assert "import pickle" not in text, path
        assert "np.random.seed" not in text, path
        assert "torch.manual_seed(" not in text, path
