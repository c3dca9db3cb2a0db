"""Claims and sweeps from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from test_commands import command

SWEEP = """
title = "two baselines"
task = "uniform-data"
targets = 50
[sweep]
attack = ["uniform", "half"]
seed = [0, 1, 2]
"""


def test_a_sweep_runs_once_and_exports(tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    first = command("run", "sweep.toml", "--workers", "1", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "6 ok (0 of them stored before)" in first.stderr
    again = command("run", "sweep.toml", "--workers", "1", cwd=tmp_path)
    assert "6 ok (6 of them stored before)" in again.stderr
    done = command("results", "--to", "all.parquet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(pd.read_parquet(tmp_path / "all.parquet")) == 12  # an error and a baseline each


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (SWEEP.replace("targets", "tragets"), ["'tragets'", "'targets'"]),
        (SWEEP.replace("uniform-data", "uniform-dat"), ["'uniform-dat'", "'uniform-data'"]),
        ("task = [", ["sweep.toml"]),
        (
            'task = "score-attack"\ndataset = "iris"\nmodel = "lr"\nthreat = "black-box"\n'
            'attack = "equality-solving"\nshare = 0.5\n',
            ["equality-solving", "the whole trained model", "black-box"],
        ),
        (
            'task = "score-attack"\ndataset = "iris"\nmodel = "network"\nthreat = "white-box"\n'
            'attack = "equality-solving"\nshare = 0.5\n',
            ["equality-solving", "network"],
        ),
    ],
    ids=["typo", "unknown task", "not toml", "missing grant", "wrong model"],
)
def test_a_bad_sweep_is_refused_before_anything_runs(
    text: str, named: list[str], tmp_path: Path
) -> None:
    (tmp_path / "sweep.toml").write_text(text)
    done = command("run", "sweep.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    for word in named:
        assert word in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["sweep.toml"]


def test_claims_lists_all_84_and_never_claims_without_results(tmp_path: Path) -> None:
    done = command("claims", "--json", cwd=tmp_path, WHATLEAKS_RESULTS=str(tmp_path / "none"))
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    assert len(listed) == 84
    assert len({entry["id"] for entry in listed}) == 84
    assert {entry["verdict"] for entry in listed} == {"not-run"}


def test_a_claim_runs_is_judged_stored_and_reported(tmp_path: Path) -> None:
    home = {"WHATLEAKS_RESULTS": str(tmp_path / "results")}
    done = command("claims", "run", "U02", "--json", "--workers", "1", cwd=tmp_path, **home)
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads(done.stdout)
    assert (entry["id"], entry["verdict"], entry["n"]) == ("U02", "holds", 1)
    listed = json.loads(command("claims", "--json", cwd=tmp_path, **home).stdout)
    assert {e["id"]: e["verdict"] for e in listed}["U02"] == "holds"
    pages = command("claims", "report", "--out", "pages", cwd=tmp_path, **home)
    assert pages.returncode == 0, pages.stderr
    page = (tmp_path / "pages" / "U.html").read_text()
    assert "whatleaks claims run U02" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


@pytest.mark.parametrize(
    ("words", "named"),
    [(["U99"], "'U99'"), (["U02", "--profile", "quick"], "--profile"), (["Y17"], "Y17")],
)
def test_bad_claims(words: list[str], named: str, tmp_path: Path) -> None:
    done = command("claims", "run", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert named in done.stderr
    assert not list(tmp_path.iterdir())
