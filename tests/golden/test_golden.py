"""The cheapest golden cases, and that the comparison finds what moved. All cases: make golden."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

import golden

QUICK = [name for name, case in golden.CASES.items() if case.quick]


@pytest.mark.parametrize("name", QUICK)
def test_nothing_moved(name: str) -> None:
    try:
        moved = golden.compare(name)
    except golden.NotHere as reason:
        pytest.skip(str(reason))
    assert moved == []


def test_every_case_is_recorded_and_none_left_without_a_reason() -> None:
    rows = re.findall(r"^\| [\d-]{10} \| (.*?) \| (.*?) \|$", golden.CHANGES.read_text(), re.M)
    known: set[str] = set()
    for cases, reason in rows:
        assert reason.strip()
        for case in cases.split(", "):
            name, _, removed = case.partition(" ")
            (known.discard if removed else known.add)(name)
    assert known == set(golden.CASES)
    assert known == {path.stem for path in golden.HERE.glob("*.txt")}


def test_a_moved_figure_a_lost_one_and_a_new_one_are_found_by_their_place() -> None:
    tree = {
        "threats": [
            {"name": "white-box", "n": 3, "adds": {"value": 0.5, "low": 0.1, "high": 1.0, "n": 7}}
        ],
        "seconds": 4.0,
    }
    before = golden.leaves(tree)
    assert before["threats.white-box.adds"] == [0.5, 0.1, 1.0, 7]
    assert not any("seconds" in path for path in before)
    moved = {**before, "threats.white-box.adds": [0.5 + 1e-9, 0.1, 1.0, 7], "new": 1}
    del moved["threats.white-box.n"]
    found = {line.split(":")[0] for line in golden.differences(before, moved)}
    assert found == {"threats.white-box.n", "threats.white-box.adds", "new"}


@pytest.mark.parametrize(
    ("before", "after", "equal"),
    [
        (0.3, 0.1 + 0.2, True),
        (0.3, 0.3 + 1e-11, False),
        (1e-28, 3e-27, True),
        (3, 4, False),
        (1, True, False),
        ("high", "low", False),
        ([0.5, None, 3], [0.5, None, 3], True),
        ([0.5, None, 3], [0.5, 0.1, 3], False),
        (math.nan, math.nan, True),
    ],
)
def test_equal_but_for_the_order_of_sums(before: object, after: object, equal: bool) -> None:
    assert golden.same(before, after) is equal


def test_a_digest_notices_one_figure_among_many() -> None:
    many = {f"threats.black-box.findings.half.columns.c{i}.error": [0.1 * i, 3] for i in range(999)}
    held = golden.short(many)
    assert list(held) == ["threats.black-box.findings.half.digest"]
    path = "threats.black-box.findings.half.columns.c7.error"
    assert golden.short({**many, path: [0.7 + 1e-9, 3]}) != held
    assert golden.short({**many, path: [0.1 * 7, 4]}) != held


def test_a_command_that_is_gone_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = golden.Case(golden.printed, ("no-such-command",))
    monkeypatch.setitem(golden.CASES, "help", gone)
    (line,) = golden.compare("help")
    assert "it no longer runs" in line
    assert "no-such-command" in line


def test_texts_differ_by_their_lines() -> None:
    assert golden.differences(["a", "b", "c"], ["a", "c", "d"]) == ["-b", "+d"]


def test_pages_hold_no_time_and_no_machine(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "stdout").write_text("made 2026-11-19T23:25:04+00:00 in 17.1 s by 0.1.0\n")
    for name in ("report.html", "signoff.html"):
        (tmp_path / "out" / name).write_text("<style>p {}</style><p>Leaks: <b>95 %</b></p>")
    assert golden.pages(tmp_path) == [
        "== terminal",
        "made DATE in TIME by VERSION",
        *("== report.html", "Leaks:", "95 %"),
        *("== signoff.html", "Leaks:", "95 %"),
    ]
