"""Claims and sweeps from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_commands import command, people

from cli_here import run_here
from whatleaks_lab.papers.ledger import STORED

SWEEP = """
title = "two shares"
dataset = "iris"
targets = 30
attacks = ["half-star"]
measures = ["bounds"]
model_options.steps = 50
[sweep]
share = [0.3, 0.6]
seed = [0, 1, 2]
"""


def test_a_sweep_runs_once_and_exports(tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    first = command("run", "sweep.toml", "--workers", "1", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "6 ok (0 of them stored before)" in first.stderr
    again = run_here("run", "sweep.toml", "--workers", "1", cwd=tmp_path)
    assert "6 ok (6 of them stored before)" in again.stderr
    done = run_here("results", "--to", "all.parquet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(pd.read_parquet(tmp_path / "all.parquet")) == 6 * 10  # six trials, ten numbers each


def test_a_figure_needs_a_share_and_draws_every_error(tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    done = run_here("run", "sweep.toml", "--workers", "1", "--figure", "s.svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / "s.svg").read_text()
    assert all(name in drawn for name in ("half-star", "uniform", "gaussian", "half"))
    assert "bound" not in drawn
    (tmp_path / "sweep.toml").write_text(SWEEP.replace("share = [0.3, 0.6]", "unknown = [1, 2]"))
    done = run_here("run", "sweep.toml", "--workers", "1", "--figure", "s.svg", cwd=tmp_path)
    assert done.returncode == 2
    assert "the sweep varies no share" in done.stderr


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (SWEEP.replace("targets", "tragets"), ["'tragets'", "'targets'"]),
        (SWEEP.replace("half-star", "half-sta"), ["'half-sta'", "'half-star'"]),
        ("dataset = [", ["sweep.toml"]),
        (
            'dataset = "iris"\nthreat = "black-box"\nattacks = ["equality-solving"]\nshare = 0.5\n',
            ["equality-solving", "black-box"],
        ),
        (
            'dataset = "iris"\nmodel = "network"\nattacks = ["equality-solving"]\nshare = 0.5\n',
            ["equality-solving", "network"],
        ),
    ],
    ids=["typo", "unknown attack", "not toml", "missing grant", "wrong model"],
)
def test_a_bad_sweep_is_refused_before_anything_runs(
    text: str, named: list[str], tmp_path: Path
) -> None:
    (tmp_path / "sweep.toml").write_text(text)
    done = run_here("run", "sweep.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    for word in named:
        assert word in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["sweep.toml"]


def test_claims_lists_all_84_and_never_claims_without_results(tmp_path: Path) -> None:
    done = run_here("claims", "--json", cwd=tmp_path, WHATLEAKS_RESULTS=str(tmp_path / "none"))
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    assert len(listed) == 84
    assert len({entry["id"] for entry in listed}) == 84
    assert {entry["verdict"] for entry in listed} == {"not-run"}


def test_a_claim_runs_is_judged_stored_and_reported(tmp_path: Path) -> None:
    home = {"WHATLEAKS_RESULTS": str(tmp_path / "results")}
    done = run_here("claims", "run", "U02", "--json", "--workers", "1", cwd=tmp_path, **home)
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads(done.stdout)
    assert (entry["id"], entry["verdict"], entry["n"]) == ("U02", "holds", 1)
    listed = json.loads(run_here("claims", "--json", cwd=tmp_path, **home).stdout)
    assert {e["id"]: e["verdict"] for e in listed}["U02"] == "holds"
    pages = run_here("claims", "report", "--out", "pages", cwd=tmp_path, **home)
    assert pages.returncode == 0, pages.stderr
    page = (tmp_path / "pages" / "U.html").read_text()
    assert "whatleaks claims run U02" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_a_claim_is_checked_against_its_stored_fast_numbers(tmp_path: Path) -> None:
    home = {"WHATLEAKS_RESULTS": str(tmp_path), "WHATLEAKS_DATA": str(tmp_path)}

    def checked(*ids: str) -> tuple[int, list[str]]:
        done = run_here("claims", "check", *ids, "--workers", "1", cwd=tmp_path, **home)
        return done.returncode, done.stdout.splitlines()

    (tmp_path / "fast").mkdir()
    for name in ("U02", "A05"):
        (tmp_path / "fast" / f"{name}.json").write_text(
            (STORED / "fast" / f"{name}.json").read_text()
        )
    assert checked("U02", "U01") == (
        0,
        ["U02  its numbers come out again", "U01  not checked: no fast runs are stored"],
    )
    assert checked("A05") == (1, ["A05  not checked: 1 of 1 runs failed"])  # no data set here
    stored = (tmp_path / "fast" / "U02.json").read_text()
    (tmp_path / "fast" / "U02.json").write_text(stored.replace("8011.8", "9011.8"))
    code, (line,) = checked("U02")
    assert code == 1
    assert line.startswith("U02  stale: ")


@pytest.mark.parametrize(
    ("words", "named"),
    [(["U99"], "'U99'"), (["U02", "--profile", "quick"], "--profile")],
)
def test_bad_claims(words: list[str], named: str, tmp_path: Path) -> None:
    done = run_here("claims", "run", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert named in done.stderr
    assert not list(tmp_path.iterdir())


OWN = """
dataset = "people.csv"
data.label = "loan"
targets = 20
attacks = ["half-star"]
model_options.steps = 50
share = 0.5
[sweep]
seed = [0, 1]
"""


def test_a_sweep_over_a_table_of_one_s_own(tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(OWN)
    done = run_here("run", "sweep.toml", "--workers", "1", cwd=tmp_path)
    assert done.returncode == 2
    assert "people.csv" in done.stderr
    people().to_csv(tmp_path / "people.csv", index=False)
    done = run_here("run", "sweep.toml", "--workers", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 ok" in done.stderr
    people(seed=4).to_csv(tmp_path / "people.csv", index=False)  # another table: other runs
    done = run_here("run", "sweep.toml", "--workers", "1", cwd=tmp_path)
    assert "2 ok (0 of them stored before)" in done.stderr


def test_one_error_is_told_once_and_data_home_is_where_the_sets_are(tmp_path: Path) -> None:
    sweep = SWEEP.replace("iris", "bank-marketing").replace("targets", "data.rows = 300\ntargets")
    (tmp_path / "sweep.toml").write_text(sweep)
    (tmp_path / "empty").mkdir()
    empty = ("--data-home", "empty")
    done = run_here("run", "sweep.toml", "--workers", "1", *empty, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("is not here") == 2  # the first, and how often it came again
    assert "5 more runs failed with" in done.stderr
    done = run_here("run", "sweep.toml", "--data-home", "nowhere", cwd=tmp_path)
    assert done.returncode == 2
    assert "--data-home" in done.stderr


def test_a_sweep_says_once_how_a_table_of_one_s_own_was_read(tmp_path: Path) -> None:
    frame = people()
    frame["deposit"] = [f"{v:.2f}".replace(".", ",") for v in np.linspace(300, 900, len(frame))]
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "sweep.toml").write_text(OWN)
    done = run_here("run", "sweep.toml", "--workers", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("note: people.csv: ")]
    assert len(said) == 1
    assert "'deposit': numbers such as '999,99' were read with" in said[0]
