"""Tables as they are: check, names with commas, several files, odd file names; compare and sign."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_commands import command, people

from cli_here import run_here

QUICK = ("--quick", "--no-defenses", "--targets", "30")


def ugly(rows: int = 160) -> pd.DataFrame:
    frame = people(rows)
    frame.insert(0, "number", range(rows))
    frame["plan"] = "basic"
    frame["rent, cold"] = [f"{v:.2f}".replace(".", ",") for v in np.linspace(300, 900, rows)]
    frame["visits"] = [str(i * 7 % 101) for i in range(rows)]
    frame.loc[3, "visits"] = "unknown"
    frame.loc[5, "age"] = np.nan
    return frame


def test_check_lists_all_problems_and_its_command_runs(tmp_path: Path) -> None:
    ugly().to_csv(tmp_path / "t.csv", index=False)
    before = sorted(p.name for p in tmp_path.iterdir())
    flags = ("--label", "loan", "--passive", "rent, cold", "--passive", "deposit,income")
    done = command("check", "t.csv", *flags, cwd=tmp_path)
    assert done.returncode == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    problems = [line for line in done.stdout.splitlines() if line.startswith("problem: ")]
    assert len(problems) == 4
    for column in ("number", "plan", "visits", "age"):
        assert sum(f"'{column}'" in line for line in problems) == 1
    assert "'rent, cold': numbers such as '999,99'" in done.stdout
    refused = run_here("audit", "t.csv", *flags, *QUICK, cwd=tmp_path)
    assert refused.returncode == 2
    assert len([x for x in refused.stderr.splitlines() if x.startswith("whatleaks: ")]) == 4
    ready = refused.stderr.splitlines()[-1].removeprefix("This would run: whatleaks ")
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    done = run_here(*shlex.split(ready), "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    audit = json.loads((tmp_path / "out" / "audit.json").read_text())
    passive = {c["name"] for c in audit["columns"] if c["owner"] == "passive"}
    assert passive == {"rent, cold", "deposit", "income"}  # repeated flags add up
    clean = run_here("check", "t.csv", *shlex.split(ready)[2:-4], "--json", cwd=tmp_path)
    assert json.loads(clean.stdout)["problems"] == []


def test_check_alone_suggests_a_command(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "t.csv", index=False)
    done = run_here("check", "t.csv", "--json", cwd=tmp_path)
    assert done.returncode == 2
    told = json.loads(done.stdout)
    assert len(told["problems"]) == 2
    assert "--label loan --passive" in told["command"]


def test_two_partners_with_a_file_each_a_shared_name_and_a_file_name_that_is_no_text(
    tmp_path: Path,
) -> None:
    frame = people()
    frame["id"] = range(len(frame))
    own = os.fsdecode(b"bank\xff.csv")
    frame[["id", "age", "job", "loan"]].to_csv(tmp_path / own, index=False)
    frame[["id", "income", "age"]].to_csv(tmp_path / "shop.csv", index=False)
    frame[["id", "deposit"]].iloc[::-1].to_parquet(tmp_path / "fund.parquet")
    files = ("--passive-file", "shop.csv", "--passive-file", "fund.parquet", "--id", "id")
    done = command("audit", own, "--label", "loan", *files, *QUICK, "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    audit = json.loads((tmp_path / "out" / "audit.json").read_text())
    passive = [c["name"] for c in audit["columns"] if c["owner"] == "passive"]
    assert passive == ["income", "passive.age", "deposit"]
    assert audit["spec"]["parties"] == [["income", "passive.age"], ["deposit"]]
    assert "passive-2 holds 'deposit'" in audit["notes"]
    again = run_here("compare", "out", "out/audit.json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "The same table, the same code, the same settings." in again.stdout
    signed = run_here("signoff", "out", cwd=tmp_path)
    assert signed.returncode == 0, signed.stderr
    assert "signature" in (tmp_path / "out" / "signoff.html").read_text()


@pytest.mark.parametrize("name", ["attacks", "threats", "federations", "datasets"])
def test_listings_as_json(name: str, tmp_path: Path) -> None:
    done = run_here(name, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) > 3
    assert all(row["name"] for row in rows)


def test_where_the_time_goes(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "t.csv", index=False)
    flags = ("--label", "loan", "--passive", "deposit", *QUICK, "--profile")
    done = run_here("audit", "t.csv", *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Processor time: " in done.stdout
    assert "  limit " in done.stdout
