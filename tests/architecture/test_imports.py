"""Imports point one way, and attacks import little: the one rule, checked on every file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "whatleaks"

BASE = {"arrays", "cards", "codec", "seeds", "errors"}
LOWER = {"models", "wire", "crypto", "data"}
MIDDLE = {"federation", "attacks", "defenses", "detectors", "metrics", "threat"}
LEVEL = (
    dict.fromkeys(BASE, 0)
    | dict.fromkeys(LOWER, 1)
    | dict.fromkeys(MIDDLE, 2)
    | {"auditor": 3, "papers": 4, "experiments": 4, "report": 5, "cli": 6}
)
# Rooms of one level that may look at each other, and why.
SIBLINGS = {
    ("attacks", "threat"),  # an attack's type is its view
    ("attacks", "federation.roles"),  # a hijacker plays the active role
    ("federation", "defenses.protocol"),  # a defense acts before a message is recorded
    ("federation", "detectors.protocol"),  # a detector lives in the passive party
    ("papers", "experiments"),  # claims are run as experiments
}
ATTACKS_MAY_IMPORT = (
    "cards",
    "arrays",
    "codec",
    "errors",
    "seeds",
    "models",
    "threat",
    "attacks",
    "federation.roles",
)


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Names below ``whatleaks.`` that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {n for n in names if n.startswith("whatleaks.")}
        elif isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError(f"{path}: relative imports hide the direction")
        elif isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.startswith("whatleaks.")}
    return {name.removeprefix("whatleaks.") for name in found}


def room(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def violations(importer: str, names: set[str]) -> list[str]:
    """Say which imports of a file in room ``importer`` point the wrong way."""
    wrong = []
    for name in sorted(names):
        target = name.split(".")[0]
        if target not in LEVEL or target == importer:
            continue
        sibling = any(
            importer == a and (name == b or name.startswith(b + ".") or b.startswith(name + "."))
            for a, b in SIBLINGS
        )
        if LEVEL[target] > LEVEL[importer] or (
            LEVEL[target] == LEVEL[importer] and LEVEL[importer] > 0 and not sibling
        ):
            wrong.append(f"{importer} -> {name}")
    return wrong


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path: Path) -> None:
    importer = room(path)
    if importer == "__init__":
        return  # the package's front door names its public entry points, late
    assert importer in LEVEL, f"{importer} is a room that the design does not know"
    assert violations(importer, imported(path)) == []


@pytest.mark.parametrize("path", [p for p in modules() if room(p) == "attacks"], ids=str)
def test_attacks_import_only_what_an_adversary_has(path: Path) -> None:
    for name in imported(path):
        allowed = any(
            name == a or name.startswith(a + ".") or a.startswith(name + ".")
            for a in ATTACKS_MAY_IMPORT
        )
        assert allowed, f"{path.name} imports {name}"


def test_the_walk_sees_a_violation() -> None:
    assert violations("attacks", {"auditor.evaluator"}) == ["attacks -> auditor.evaluator"]
    assert violations("attacks", {"data.table"}) == []  # downward, but the attack rule forbids it
    assert violations("attacks", {"federation.additive"}) == ["attacks -> federation.additive"]
    assert violations("models", {"wire.channel"}) == ["models -> wire.channel"]
    assert violations("wire", {"arrays"}) == []


def test_no_pickle_and_no_global_seed() -> None:
    for path in modules():
        text = path.read_text()
        assert "import pickle" not in text, path
        assert "np.random.seed" not in text, path
        assert "torch.manual_seed(" not in text, path
