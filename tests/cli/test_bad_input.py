"""Bad input: one clear line on standard error, exit code 2, nothing half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli_here import run_here

SOURCE = Path(__file__).resolve().parents[2] / "src"


# Of what can be wrong with the start itself, and one each of files, tables and flags.
INTERPRETERS = ("missing file", "missing values", "unknown flag", "plugin that does not load")


def whatleaks(*words: str, cwd: Path, apart: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user would, in an interpreter of its own if ``apart``."""
    if not apart:
        return run_here(*words, cwd=cwd, WHATLEAKS_DATA=str(cwd / "none"))
    return subprocess.run(
        [sys.executable, "-m", "whatleaks.cli", *words],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "WHATLEAKS_DATA": str(cwd / "none")},
        check=False,
    )


def good(rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((rows, 4)).round(6), columns=["a", "b", "c", "d"])
    frame["y"] = np.where(frame.a + frame.c + 0.2 * rng.normal(size=rows) > 1, "yes", "no")
    return frame


def with_column(name: str, values: object) -> pd.DataFrame:
    frame = good()
    frame.insert(0, name, values)
    return frame


def nan_at(column: str, value: float) -> pd.DataFrame:
    frame = good()
    frame.loc[[3, 5], column] = value
    return frame


TEXT = [f"a long remark number {i} that nobody else has written in this way" for i in range(60)]
BASE = ("--label", "y", "--passive", "c,d")

# what is wrong, the file's bytes or frame, the flags, what the line must name
CASES = {
    "missing file": (None, BASE, ["t.csv"]),
    "empty file": (b"", BASE, ["t.csv", "empty"]),
    "header only": (b"a,b,y\n", BASE, ["no rows"]),
    "not a table": (bytes(range(256)) * 9, BASE, ["t.csv"]),
    "ragged": (b"a,b\n1,2\n1,2,3,4\n", BASE, ["t.csv"]),
    "label missing": (good(), ("--passive", "c"), ["--label"]),
    "label not a column": (good(), ("--label", "Y", "--passive", "c"), ["--label", "'Y'", "'y'"]),
    "label with one class": (
        with_column("z", "same"),
        ("--label", "z", "--passive", "c"),
        ["--label", "'z'"],
    ),
    "passive missing": (good(), ("--label", "y"), ["--passive"]),
    "passive not a column": (good(), ("--label", "y", "--passive", "c,dd"), ["--passive", "'dd'"]),
    "passive covers everything": (good(), ("--label", "y", "--passive", "a,b,c,d"), ["--passive"]),
    "passive holds the label": (good(), ("--label", "y", "--passive", "c,y"), ["--passive", "'y'"]),
    "passive twice": (good(), ("--label", "y", "--passive", "c,c"), ["--passive", "'c'"]),
    "duplicate columns": (b"a,b,b,y\n" + b"1,2,3,x\n4,5,6,z\n" * 20, BASE, ["'b'"]),
    "constant column": (with_column("k", 7), BASE, ["'k'", "--drop-constant"]),
    "free text": (with_column("remark", TEXT), BASE, ["'remark'", "--encode-text"]),
    "missing values": (nan_at("c", np.nan), BASE, ["'c'", "2", "--missing"]),
    "infinities": (nan_at("b", np.inf), BASE, ["'b'", "2"]),
    "too few rows": (good(8), BASE, ["8", "20"]),
    "unknown model": (good(), (*BASE, "--model", "lrr"), ["--model", "'lrr'"]),
    "unknown threat": (good(), (*BASE, "--threat", "white-bx"), ["'white-bx'", "'white-box'"]),
    "impossible threat": (
        good(),
        (*BASE, "--model", "network", "--threat", "agnostic"),
        ["agnostic"],
    ),
    "no seeds": (good(), (*BASE, "--seeds", "0"), ["--seeds"]),
    "seeds not a number": (good(), (*BASE, "--seeds", "three"), ["--seeds"]),
    "unknown flag": (good(), (*BASE, "--labell", "y"), ["--labell"]),
    "threshold out of range": (good(), (*BASE, "--fail-above", "1.5"), ["--fail-above"]),
    "id without file": (good(), (*BASE, "--id", "a"), ["--id", "--passive-file"]),
    "unknown missing rule": (good(), (*BASE, "--missing", "mean"), ["--missing"]),
    "no such plugin": (good(), (*BASE, "--plugin", "mine.py"), ["--plugin", "mine.py"]),
    "plugin that does not load": (good(), (*BASE, "--plugin", "t.csv"), ["t.csv"]),
    "nowhere to run": (good(), (*BASE, "--on", "moon"), ["--on", "'moon'"]),
    "fewer than no workers": (good(), (*BASE, "--workers", "-1"), ["--workers"]),
    "an address for nobody": (good(), (*BASE, "--address", "h:1"), ["--address", "--on ray"]),
    "drop not a column": (good(), (*BASE, "--drop", "q"), ["--drop", "'q'"]),
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_line_exit_two_nothing_written(case: str, tmp_path: Path) -> None:
    content, flags, named = CASES[case]
    if isinstance(content, bytes):
        (tmp_path / "t.csv").write_bytes(content)
    elif content is not None:
        content.to_csv(tmp_path / "t.csv", index=False)
    before = sorted(p.name for p in tmp_path.iterdir())
    apart = case in INTERPRETERS
    done = whatleaks("audit", "t.csv", *flags, "--out", "report", cwd=tmp_path, apart=apart)
    assert done.returncode == 2, done.stderr
    lines = done.stderr.strip().splitlines()
    if lines[-1].startswith("This would run: whatleaks audit t.csv "):
        lines.pop()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("whatleaks: ")
    for word in named:
        assert word in lines[0], lines[0]
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    assert done.stdout == ""


def two_files(folder: Path, left_ids: list[int], right_ids: list[int]) -> None:
    frame = good(60)
    left = frame[["a", "b", "y"]].iloc[: len(left_ids)].assign(id=left_ids)
    right = frame[["c", "d"]].iloc[: len(right_ids)].assign(id=right_ids)
    left.to_csv(folder / "left.csv", index=False)
    right.to_csv(folder / "right.csv", index=False)


@pytest.mark.parametrize(
    ("left", "right", "named"),
    [
        ([0, 0, *range(2, 60)], list(range(60)), ["id", "0"]),
        (list(range(60)), list(range(1, 61)), ["id", "--inner"]),
    ],
    ids=["duplicate ids", "ids that do not match"],
)
def test_two_files(left: list[int], right: list[int], named: list[str], tmp_path: Path) -> None:
    two_files(tmp_path, left, right)
    flags = ("--label", "y", "--passive-file", "right.csv", "--id", "id", "--out", "report")
    done = whatleaks("audit", "left.csv", *flags, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    for word in named:
        assert word in done.stderr
    assert not (tmp_path / "report").exists()


def test_a_report_folder_that_cannot_be_written(tmp_path: Path) -> None:
    good().to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "report").write_text("a file where the folder should be")
    for out in ("report", "/proc/nope/x"):  # root may write to /proc, say its bits
        done = whatleaks("audit", "t.csv", *BASE, "--out", out, cwd=tmp_path)
        assert done.returncode == 2
        assert f"--out: cannot write to {out}" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report", "t.csv"]


def test_a_data_set_that_is_not_at_hand_says_how_to_get_it(tmp_path: Path) -> None:
    done = whatleaks("audit", "credit-card-default", cwd=tmp_path)
    assert done.returncode == 2
    assert "whatleaks data fetch" in done.stderr
    done = whatleaks("audit", "brest-cancer", cwd=tmp_path)
    assert done.returncode == 2
    assert "'breast-cancer'" in done.stderr
