"""``whatleaks audit --model-file``: a model as it was trained, or one clear line."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from cli_here import run_here
from given_tables import NUMBERS, columns, mixed, numbers

SOURCE = Path(__file__).resolve().parents[2] / "src"


def audit(folder: Path, *words: str, apart: bool = True) -> subprocess.CompletedProcess[str]:
    """Audit t.csv as a user would, in an interpreter of its own if ``apart``."""
    base = ("audit", "t.csv", "--label", "y", "--passive", "income", "--quick")
    words = (*base, "--no-defenses", "--out", "out", *words)
    if not apart:
        return run_here(*words, cwd=folder, COLUMNS="80")
    path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "whatleaks", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "80"},
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table, a fitted model in a safe format, and some that cannot be audited."""
    skops = pytest.importorskip("skops.io")
    frame = numbers(1).assign(trained=[i % 2 for i in range(120)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    held = pd.read_csv(tmp_path / "t.csv")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(held[NUMBERS], held.y)
    skops.dump(model, tmp_path / "m.skops")
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(model))
    strange = make_pipeline(StandardScaler(), PolynomialFeatures(), LogisticRegression())
    skops.dump(strange.fit(held[NUMBERS], held.y), tmp_path / "strange.skops")
    two = LogisticRegression().fit(held[NUMBERS], held.y == "low")
    skops.dump(two, tmp_path / "two.skops")
    other = mixed(1)[["age", "y"]].assign(height=1.0)
    skops.dump(LogisticRegression().fit(other[columns(other)[:1]], other.y), tmp_path / "one.skops")
    return tmp_path


def test_a_model_file_is_audited_as_it_is(folder: Path) -> None:
    words = ("--model-file", "m.skops", "--training-rows", "trained", "--threat", "white-box")
    done = audit(folder, *words, "--inversion-steps", "2")
    assert done.returncode == 0, done.stderr
    assert "COMPLETE" in done.stdout
    told = " ".join(done.stdout.split())
    assert "The model was trained elsewhere (sklearn StandardScaler > LogisticReg" in told
    result = json.loads((folder / "out" / "audit.json").read_text())
    assert result["spec"]["model"] == "given-linear"
    assert len(result["spec"]["given"]) == 64
    assert result["training_rows"] == 60


WRONG = {
    "pickle": (("--model-file", "m.pkl"), "--model-file m.pkl is a pickle"),
    "absent": (("--model-file", "none.onnx"), "--model-file none.onnx cannot be read"),
    "a table": (("--model-file", "t.csv"), "no model that can be read"),
    "step": (("--model-file", "strange.skops"), "step PolynomialFeatures is not supported"),
    "classes": (("--model-file", "two.skops", "--drop", "trained"), "knows 2 classes"),
    "more columns": (("--model-file", "m.skops"), "does not take column 'trained': use --drop"),
    "fewer columns": (("--model-file", "m.skops", "--drop", "age"), "takes column 'age'"),
    "model too": (("--model-file", "m.skops", "--model", "tree"), "exclude each other"),
    "no such rows": (
        ("--model-file", "m.skops", "--training-rows", "trainde"),
        "--training-rows 'trainde' is no column of the table. Did you mean 'trained'?",
    ),
    "no model": (("--training-rows", "trained"), "--training-rows belongs to a model"),
    "threat": (
        ("--model-file", "m.skops", "--drop", "trained", "--threat", "split-hijack"),
        "does not look at the model that is given",
    ),
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_bad_input_gives_one_line_and_exit_code_2(folder: Path, name: str) -> None:
    words, line = WRONG[name]
    done = audit(folder, *words, apart=name == "pickle")
    assert done.returncode == 2, done.stdout + done.stderr
    assert line in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (folder / "out" / "report.html").exists()
