"""The commands as a user runs them: audit, listings, claims, sweeps; Python in three lines."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pytest

import whatleaks
from cli_here import run_here
from whatleaks.auditor.plan import threats_of
from whatleaks.errors import UsageError

SOURCE = Path(__file__).resolve().parents[2] / "src"
QUICK = {"quick": True, "targets": 40, "inversion_steps": 50}
QUICK_FLAGS = ("--quick", "--targets", "40", "--inversion-steps", "50")


def command(
    *words: str, cwd: Path, module: str = "whatleaks.cli", **extra: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *words],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **extra},
        check=False,
    )


def people(rows: int = 160, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "job": rng.choice(["clerk", "driver", "nurse"], rows),
            "income": rng.lognormal(7, 0.4, rows).round(2),
            "deposit": rng.gamma(2.0, 3000.0, rows).round(2),
        }
    )
    score = frame.age / 90 + frame.deposit / 20000 + 0.2 * rng.normal(size=rows)
    frame["loan"] = np.where(score > score.median(), "yes", "no")
    return frame


@pytest.fixture(scope="module")
def audited(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("audit")
    people().to_csv(folder / "people.csv", index=False)
    done = command(
        "audit",
        "people.csv",
        "--label",
        "loan",
        "--passive",
        "deposit",
        *QUICK_FLAGS,
        "--out",
        "out",
        cwd=folder,
    )
    return folder, done


def test_audit_finds_the_one_column_exactly_and_says_so(audited) -> None:
    folder, done = audited
    assert done.returncode == 0, done.stderr
    assert "COMPLETE" in done.stdout
    result = json.loads((folder / "out" / "audit.json").read_text())
    assert result["headline"]["column"] == "deposit"
    assert result["headline"]["level"] == "complete"
    solved = next(
        f for t in result["threats"] for f in t["findings"] if f["name"] == "equality-solving"
    )
    assert solved["error"]["value"] < 1e-20  # binary, one unknown: theory says exact


def test_audit_json_holds_all_that_is_needed_to_run_it_again(audited) -> None:
    folder, _ = audited
    result = json.loads((folder / "out" / "audit.json").read_text())
    assert len(result["table"]["hmac_sha256"]) == 64
    assert len(result["code"]["sha256"]) == 64
    assert result["seeds"] == [0]
    assert result["spec"]["passive"] == ["deposit"]
    assert {t["name"] for t in result["threats"]} == set(threats_of("lr"))
    for threat in result["threats"]:
        assert threat["grants"] is not None
        roles = {f["role"] for f in threat["findings"]}
        assert {"baseline", "limit", "alone"} <= roles
    assert result["environment"]["packages"]["numpy"]
    assert result["spec"]["command"].startswith("whatleaks audit people.csv")


def test_no_raw_value_of_the_passive_party_is_written(audited) -> None:
    folder, _ = audited
    text = (folder / "out" / "report.html").read_text() + (
        folder / "out" / "audit.json"
    ).read_text()
    values = [f"{value}" for value in people().deposit if len(f"{value}") >= 6]
    assert len(values) > 100
    assert not [value for value in values if value in text]
    assert json.loads((folder / "out" / "audit.json").read_text())["samples"] == []


def test_nothing_unfinished_is_left_behind(audited) -> None:
    folder, _ = audited
    assert sorted(p.name for p in (folder / "out").iterdir()) == ["audit.json", "report.html"]


def test_values_are_shown_only_when_asked_for() -> None:
    choices = {**QUICK, "defenses": False, "threats": "white-box"}
    asked = {"label": "loan", "passive": ["deposit"], **choices}
    report = whatleaks.audit(people(), show_values=True, **asked)
    assert len(report.result.samples) > 0
    pair = report.result.samples[0]
    assert pair.truth == pytest.approx(pair.guess, abs=1e-9)
    assert whatleaks.audit(people(), **asked).result.samples == ()


def test_fail_above(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "t.csv", index=False)
    flags = (
        "audit",
        "t.csv",
        "--label",
        "loan",
        "--passive",
        "deposit",
        "--no-defenses",
        "--threat",
        "white-box",
        *QUICK_FLAGS,
    )
    assert command(*flags, "--fail-above", "0.5", cwd=tmp_path).returncode == 1
    assert run_here(*flags, "--fail-above", "1", cwd=tmp_path).returncode == 0


def test_two_files_joined_by_an_id(tmp_path: Path) -> None:
    frame = people().assign(id=np.arange(160))
    frame[["id", "age", "job", "loan"]].to_csv(tmp_path / "bank.csv", index=False)
    frame[["id", "income", "deposit"]].sample(frac=1, random_state=0).to_parquet(
        tmp_path / "shop.parquet"
    )
    done = run_here(
        "audit", "bank.csv", "--label", "loan", "--passive-file", "shop.parquet", "--id", "id",
        "--no-defenses", *QUICK_FLAGS, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "audit-report" / "audit.json").read_text())
    owners = {c["name"]: c["owner"] for c in result["columns"]}
    assert owners["deposit"] == owners["income"] == "passive"
    assert owners["age"] == "active"


def test_three_lines_of_python_with_pandas_and_polars(tmp_path: Path) -> None:
    choices = {**QUICK, "defenses": False, "threats": ["agnostic", "black-box-known"]}
    asked = {"label": "loan", "passive": ["deposit", "income"], **choices}
    report = whatleaks.audit(people(), **asked)
    again = whatleaks.audit(pl.from_pandas(people()), **asked)
    assert "What leaks" in report.summary()
    assert report.to_html(tmp_path / "r.html").stat().st_size > 10_000
    first, second = (r.result.threats[0].findings[0].error for r in (report, again))
    assert first == second  # the same table, seed and code give the same numbers


def test_isolated_attacks_give_the_same_numbers() -> None:
    choices = {**QUICK, "defenses": False, "threats": ["agnostic"]}
    here = whatleaks.audit(people(), label="loan", passive=["deposit", "income"], **choices)
    apart = whatleaks.audit(
        people(), label="loan", passive=["deposit", "income"], isolated=True, **choices
    )
    attack = apart.result.threats[0].of("attack")[0]
    assert attack.isolated
    assert attack.error == here.result.threats[0].of("attack")[0].error


def test_the_api_refuses_what_it_does_not_know() -> None:
    with pytest.raises(TypeError, match="'models'"):  # keyword arguments are typed and named
        whatleaks.audit(people(), label="loan", passive=["deposit"], models="lr")  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="passive must be a list of column names"):
        whatleaks.audit(people(), label="loan", passive="deposit")


def kept(store: Path) -> set[str]:
    """Name the finished trials in the private store of an audit."""
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as held:
            return {name for (name,) in held.execute("SELECT hash FROM runs WHERE status = 'ok'")}
    except sqlite3.OperationalError:  # not made yet
        return set()


def test_an_interrupted_audit_resumes(tmp_path: Path) -> None:
    people(400).to_csv(tmp_path / "t.csv", index=False)
    words = [
        sys.executable, "-m", "whatleaks.cli", "audit", "t.csv", "--label", "loan", "--passive", "deposit,income",
        "--no-defenses", "--seeds", "40", "--targets", "40", "--model", "tree", "--out", "out",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    running = subprocess.Popen(
        words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    )
    unfinished = tmp_path / "out" / "unfinished"
    deadline = time.monotonic() + 120
    while not kept(unfinished / "trials.db") and time.monotonic() < deadline:
        assert running.poll() is None, "the audit ended before it could be interrupted"
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 130, errors
    assert "again to resume" in errors
    before = kept(unfinished / "trials.db")
    assert before
    for path in (unfinished, *unfinished.iterdir()):
        assert not path.stat().st_mode & 0o077, f"others may read {path}"
    assert not (tmp_path / "out" / "report.html").exists()
    resumed = subprocess.run(
        words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert resumed.returncode == 0, resumed.stderr
    assert f" runs: {len(before)} stored already" in resumed.stderr
    assert (tmp_path / "out" / "report.html").exists()
    assert not unfinished.exists()


def numbers(path: Path) -> dict[str, Any]:
    """Read an audit without what differs between any two runs of it."""
    tree = json.loads(path.read_text())
    for name in ("created", "seconds", "spec", "phases"):
        tree.pop(name)
    for threat in tree["threats"]:
        for found in threat["findings"]:
            found.pop("seconds")
    return tree


def test_two_workers_give_the_numbers_of_one(audited, tmp_path: Path) -> None:
    folder, _ = audited
    people().to_csv(tmp_path / "people.csv", index=False)
    flags = ("--label", "loan", "--passive", "deposit", *QUICK_FLAGS, "--workers", "2")
    done = command("audit", "people.csv", *flags, "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert numbers(tmp_path / "out" / "audit.json") == numbers(folder / "out" / "audit.json")


MINE = """
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.prediction import PredictionView


@attack("mine", title="Mine", paper="mine", needs="nothing")
@travels
@dataclass(frozen=True)
class Mine:
    name: str = "mine"

    def infer(self, view: PredictionView, rng: np.random.Generator) -> ValueGuess:
        return ValueGuess(sealed(rng.random((len(view.own), view.unknown))))
"""


def test_a_plugin_file_is_listed_and_tried_by_every_worker(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    people().to_csv(tmp_path / "t.csv", index=False)
    assert "mine" in command("attacks", "--plugin", "mine.py", cwd=tmp_path).stdout.split()
    flags = ("--label", "loan", "--passive", "deposit", "--threat", "black-box", *QUICK_FLAGS)
    both = ("--plugin", "mine.py", "--workers", "2", "--isolated")
    done = command("audit", "t.csv", *flags, *both, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "audit-report" / "audit.json").read_text())
    assert "mine" in [found["name"] for found in result["threats"][0]["findings"]]


@pytest.mark.parametrize(
    "name", ["attacks", "defenses", "detectors", "threats", "federations", "datasets"]
)
def test_listings(name: str, tmp_path: Path) -> None:
    run = command if name == "attacks" else run_here
    done = run(name, cwd=tmp_path, COLUMNS="200")
    assert done.returncode == 0, done.stderr
    expected = {
        "attacks": [
            "equality-solving",
            "gradient-inversion-kl",
            "agnostic",
            "gram-inversion",
            "fsha",
        ],
        "defenses": ["rounding-1", "label-only"],
        "detectors": ["splitguard"],
        "threats": ["white-box", "black-box", "agnostic", "encrypted", "split-hijack"],
        "federations": ["additive", "joint-network", "tree, forest", "split", "encrypted"],
        "datasets": ["breast-cancer", "bank-marketing", "tiny-imagenet"],
    }[name]
    for word in expected:
        assert word in done.stdout


def test_help_loads_no_heavy_library() -> None:
    programme = "import sys, whatleaks.cli; print([m for m in ('torch', 'pandas', 'sklearn', 'scipy', 'matplotlib', 'numpy') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", programme],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_version(tmp_path: Path) -> None:
    told = f"whatleaks {whatleaks.__version__}"
    assert command("--version", cwd=tmp_path).stdout.strip() == told
    assert command("--version", cwd=tmp_path, module="whatleaks").stdout.strip() == told


def test_a_table_from_a_file_is_held_once_while_trials_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trials read it packed; the frame that was read is let go before."""
    rows = np.random.default_rng(0).normal(size=(30_000, 10))
    frame = pd.DataFrame(rows, columns=[f"c{j}" for j in range(10)])
    frame.assign(y=(rows[:, 0] > 0).astype(int)).to_csv(tmp_path / "t.csv", index=False)
    before, held = pyarrow.total_allocated_bytes(), []

    def trials(*_: object, **__: object) -> None:
        held.append(pyarrow.total_allocated_bytes() - before)
        raise UsageError("far enough")

    monkeypatch.setattr("whatleaks.auditor.audit.run_trials", trials)
    told = ("audit", "t.csv", "--label", "y", "--passive", "c1,c2", "--quick", "--no-defenses")
    done = run_here(*told, cwd=tmp_path)
    assert "far enough" in done.stderr
    assert held[0] < rows.nbytes / 4
