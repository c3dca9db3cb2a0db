"""The library's messages name arguments; the same mistake on the command line names a flag."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import whatleaks
from whatleaks.cli.common import FLAGS
from whatleaks.data.location import locate
from whatleaks.data.registry import card
from whatleaks.data.sources import open_source
from whatleaks.errors import WhatleaksError, argument, choice, speak_of_flags
from whatleaks.runs.executors import choose

SOURCE = Path(whatleaks.__file__).parent


def table(**more: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((60, 4)), columns=["a", "b", "c", "d"])
    frame["y"] = np.where(frame.a + frame.c > 1, "yes", "no")
    return frame.assign(**more)


TEXT = [f"a long remark number {i} that nobody else has written in this way" for i in range(60)]
GAPS = np.where(np.arange(60) < 3, np.nan, np.linspace(0.0, 1.0, 60) ** 2)
# what is wrong with an audit, its arguments, how Python names it, how the command line does
AUDITS: dict[str, tuple[dict[str, Any], str, str]] = {
    "label": ({"label": "Y"}, "label 'Y'", "--label 'Y'"),
    "passive": ({"passive": ["q"]}, "passive 'q'", "--passive 'q'"),
    "drop": ({"drop": ["q"]}, "drop 'q'", "--drop 'q'"),
    "missing": ({"missing": "mean"}, "missing 'mean'", "--missing 'mean'"),
    "scale_on": ({"scale_on": "some"}, "scale_on 'some'", "--scale-on 'some'"),
    "gaps": ({"frame": table(a=GAPS)}, "missing='median'", "--missing median"),
    "constant": ({"frame": table(k=1.0)}, "drop_constant=True", "use --drop-constant"),
    "free text": ({"frame": table(t=TEXT)}, "drop=['t'] or encode_text=True", "--drop t or --enc"),
    "bins": ({"label": "a", "bins": 1}, "bins 1", "--bins 1"),
    "model": ({"model": "lrr"}, "model 'lrr'", "--model 'lrr'"),
    "seeds": ({"seeds": 0}, "seeds must", "--seeds must"),
    "steps": ({"inversion_steps": 0}, "inversion_steps must", "--inversion-steps must"),
    "hidden": ({"hidden": [3]}, "hidden has no meaning", "--hidden has no meaning"),
    "threat": (
        {"model": "network", "threats": "white-box-tree"},
        "threats white-box-tree",
        "--threat white-box-tree",
    ),
    "on": ({"on": "moon"}, "on 'moon'", "--on 'moon'"),
}


@pytest.fixture
def flags() -> Iterator[None]:
    speak_of_flags(FLAGS)
    yield
    speak_of_flags(None)


def refusal(choices: dict[str, Any]) -> str:
    asked = {"frame": table(), "label": "y", "passive": ["c", "d"], "progress": False, **choices}
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # as scikit-learn's errors are
        whatleaks.audit(**asked)
    assert isinstance(caught.value, WhatleaksError)
    return str(caught.value).splitlines()[0]


@pytest.mark.parametrize("case", AUDITS)
def test_the_library_names_arguments(case: str) -> None:
    choices, said, _ = AUDITS[case]
    told = refusal(choices)
    assert said in told
    assert "--" not in told


@pytest.mark.usefixtures("flags")
@pytest.mark.parametrize("case", AUDITS)
def test_the_command_line_names_flags(case: str) -> None:
    choices, _, said = AUDITS[case]
    assert said in refusal(choices)


CALLS = {
    "id": (lambda: open_source("t", None, (), (), "n"), "id_column", "--id"),
    "inner": (lambda: open_source("t", None, ("a",), (), None, True), "inner", "--inner"),
    "workers": (lambda: choose("local", -1), "workers", "--workers"),
    "address": (lambda: choose("local", 1, "h:1"), "on='ray'", "--on ray"),
    "home": (
        lambda: locate(card("bank-marketing"), Path("nowhere")),
        "home nowhere",
        "--data-home",
    ),
}


@pytest.mark.parametrize("case", CALLS)
def test_so_do_the_rooms_below(case: str) -> None:
    call, argued, flagged = CALLS[case]
    with pytest.raises(WhatleaksError, match=re.escape(argued)) as caught:
        call()
    assert "--" not in str(caught.value)
    speak_of_flags(FLAGS)
    try:
        with pytest.raises(WhatleaksError, match=re.escape(flagged)):
            call()
    finally:
        speak_of_flags(None)


def test_how_a_choice_is_written() -> None:
    assert argument("id_column") == "id_column"
    assert choice("drop", ["my column"]) == "drop=['my column']"
    speak_of_flags(FLAGS)
    try:
        assert argument("id_column") == "--id"
        assert argument("scale_on") == "--scale-on"
        assert choice("drop", ["my column"]) == "--drop 'my column'"
        assert choice("drop_constant", True) == "--drop-constant"
    finally:
        speak_of_flags(None)


COMMANDS = "whatleaks "  # a whole command may be quoted: it is what the reader would type


def spelled(path: Path) -> list[str]:
    """Return the texts of a file that spell a flag, docstrings and whole commands left out."""
    tree = ast.parse(path.read_text())
    prose = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    parts = {
        id(part): "".join(p.value for p in node.values if isinstance(p, ast.Constant))
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in prose
        and re.search(r"(^|[\s(`'])--[a-z]", node.value)
        and COMMANDS not in parts.get(id(node), node.value)
    ]


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(SOURCE.rglob("*.py")) if "cli" not in path.relative_to(SOURCE).parts],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_no_room_but_the_command_line_spells_a_flag(path: Path) -> None:
    assert spelled(path) == []
