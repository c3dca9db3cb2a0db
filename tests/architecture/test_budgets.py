"""How large what ships may be: numbers that only fall.

``budgets.toml`` has a target and today's number for each. Above its target a number is held exactly:
more is refused, and less has to be written down, so that it cannot grow back.
``python tests/architecture/test_budgets.py`` writes down what has fallen.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUDGETS = Path(__file__).with_name("budgets.toml")
PACKAGES = {"core": ROOT / "src" / "whatleaks", "laboratory": ROOT / "src" / "whatleaks_lab"}
LOGIC = {".toml", ".html", ".css"}  # data files with rules or templates in them
NO_LOGIC = {".json", ".typed"}
LONG, MANY = 60, 8

Function = ast.FunctionDef | ast.AsyncFunctionDef


def parameters(function: Function) -> int:
    """Count what a caller can give: not ``self``, each ``*rest`` once."""
    given = function.args
    named = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    rest = (given.vararg is not None) + (given.kwarg is not None)
    return len(named) + rest - (named[:1] in (["self"], ["cls"]))


def measured(package: Path) -> dict[str, int]:
    """Count what ships of a package."""
    found: Counter[str] = Counter()
    for path in package.rglob("*"):
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        assert path.suffix in {".py", *LOGIC, *NO_LOGIC}, f"{path}: does it hold logic?"
        if path.suffix in LOGIC:
            found["data_lines"] += len(path.read_text("utf-8").splitlines())
        if path.suffix != ".py":
            continue
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
        lengths = [(one.end_lineno or one.lineno) - one.lineno + 1 for one in functions]
        taken = [parameters(one) for one in functions]
        names = [node.name for node in tree.body if isinstance(node, Function | ast.ClassDef)]
        private = sum(name.startswith("_") for name in names)
        found["lines"] += len(text.splitlines())
        found["files"] += 1
        found["functions"] += len(functions)
        found["functions_too_long"] += sum(length > LONG for length in lengths)
        found["functions_of_too_many_parameters"] += sum(count > MANY for count in taken)
        found["files_of_more_private_than_public_names"] += private > len(names) - private
        found["longest_function"] = max([found["longest_function"], *lengths])
        found["most_parameters"] = max([found["most_parameters"], *taken])
    return dict(found)


def complaint(name: str, now: int, target: int, held: int) -> str:
    """Say what is wrong with a number, or nothing."""
    if now > max(held, target):
        return (
            f"{name}: {now}, but no more than {max(held, target)} are allowed: take something out"
        )
    if now < held and held > target:
        return f"{name}: lower the budget to {max(now, target)}"
    return ""


def budgets() -> dict[str, dict[str, list[int]]]:
    return tomllib.loads(BUDGETS.read_text("utf-8"))


@pytest.mark.parametrize("package", PACKAGES)
def test_no_number_grows_and_what_has_fallen_is_written_down(package: str) -> None:
    now, allowed = measured(PACKAGES[package]), budgets()[package]
    assert now.keys() == allowed.keys()
    wrong = [complaint(f"{package} {name}", now[name], *allowed[name]) for name in sorted(now)]
    assert "\n".join(filter(None, wrong)) == ""


def test_every_package_that_ships_is_counted() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert {ROOT / folder for folder in shipped} == set(PACKAGES.values())
    assert set(PACKAGES.values()) == {path for path in (ROOT / "src").iterdir() if path.is_dir()}


def test_a_number_may_fall_and_not_rise() -> None:
    assert complaint("lines", 100, 50, 100) == ""
    assert complaint("lines", 101, 50, 100).startswith("lines: 101, but no more than 100")
    assert complaint("lines", 99, 50, 100) == "lines: lower the budget to 99"
    assert complaint("lines", 40, 50, 100) == "lines: lower the budget to 50"
    assert complaint("lines", 40, 50, 50) == ""
    assert complaint("lines", 51, 50, 50) != ""


def test_it_counts_what_is_there(tmp_path: Path) -> None:
    body = "    x = 1\n" * 60
    source = f"class A:\n    def b(self, c, /, *d, e, **f): ...\ndef _g():\n{body}def _h(): ...\n"
    (tmp_path / "a.py").write_text(source)
    (tmp_path / "rules.toml").write_text("[a]\nb = 1\n")
    assert measured(tmp_path) == {
        "data_lines": 2,
        "files": 1,
        "files_of_more_private_than_public_names": 1,
        "functions": 3,
        "functions_of_too_many_parameters": 0,
        "functions_too_long": 1,
        "lines": 64,
        "longest_function": 61,
        "most_parameters": 4,
    }


def write_down() -> None:
    """Put today's numbers where they are lower than those held; refuse to raise one."""
    text, allowed = BUDGETS.read_text("utf-8"), budgets()
    for package, folder in PACKAGES.items():
        head, part = text.split(f"[{package}]\n")
        for name, now in measured(folder).items():
            target, held = allowed[package][name]
            lower = max(target, min(now, held)) if held > target else held
            part = re.sub(rf"(?m)^{name} = .*$", f"{name} = [{target}, {lower}]", part, count=1)
            print(
                complaint(f"{package} {name}", now, target, lower) or f"{package} {name}: {lower}"
            )
        text = f"{head}[{package}]\n{part}"
    BUDGETS.write_text(text, "utf-8")


if __name__ == "__main__":
    write_down()
