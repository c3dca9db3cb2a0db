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


def check(folder: Path, text: str, *flags: str) -> tuple[list[str], str]:
    """Check a table; return its problems and the command that would run."""
    (folder / "t.csv").write_text(text)
    done = command("check", "t.csv", *flags, cwd=folder)
    lines = done.stdout.splitlines()
    problems = [line.removeprefix("problem: ") for line in lines if line.startswith("problem: ")]
    assert done.returncode == (2 if problems else 0), done.stderr
    ready = [line for line in lines if line.startswith("This would run: ")]
    return problems, ready[0].removeprefix("This would run: ") if ready else ""


def test_check_alone_of_a_german_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        f"{v:.4f};{1000 * v + 1000:,.1f};{i % 2};{i}".translate(str.maketrans(",.", ".,"))
        for i, v in enumerate(rng.random(60))
    ]
    problems, ready = check(tmp_path, "\n".join(["quote;betrag;y;nr", *rows]))
    assert len(problems) == 3  # no label, no passive columns, and the number of the row
    assert problems[0].startswith("--label is missing")
    assert problems[1].startswith("--passive is missing")
    assert "'nr'" in problems[2]
    assert ready == "whatleaks audit t.csv --label y --passive quote --drop nr"


def german(rows: int = 60) -> str:
    """An export with decimal commas, postcodes, dates, a code for missing, units and a total."""
    rng = np.random.default_rng(0)
    amounts = (1000 * rng.random(rows)).round(2)
    lines = [
        f"{v:.2f}".replace(".", ",") + f";{i * 331 % 17:05d};{i % 28 + 1}.{i % 12 + 1}.1990;"
        f"{-999 if i % 9 == 0 else i * 7 % 61};{'ja' if v > 500 else 'nein'}"
        for i, v in enumerate(amounts)
    ]
    total = f"{amounts.sum():.2f}".replace(".", ",")
    return "\n".join(
        ["Betrag;PLZ;Tag;Größe;Kündigung", "EUR;;;cm;", *lines, f"{total};;;;", ";;;;"]
    )


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_check_of_an_export_as_it_comes_and_its_command(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(german().encode(encoding))
    told = json.loads(run_here("check", "t.csv", "--json", cwd=tmp_path).stdout)
    assert told["rows"] == 60
    assert {c["name"]: c["kind"] for c in told["columns"]} == {
        "Betrag": "number", "PLZ": "category", "Tag": "date", "Größe": "integer", "Kündigung": "category",
    }  # fmt: skip
    assert len(told["problems"]) == 2  # no label, no passive columns
    said = "\n".join(told["notes"])
    for words in (
        "units ('EUR', 'cm')",
        "a total",
        "'PLZ' holds",
        "'Tag': dates",
        "'Betrag': numbers",
    ):
        assert words in said
    assert "'Größe' has the value -999 in 7 of 60 rows" in said
    flags = shlex.split(told["command"])[2:]
    again = run_here(
        "check", *flags, "--na", "Größe=-999", "--missing", "median", "--json", cwd=tmp_path
    )
    assert again.returncode == 0, again.stdout
    assert "-999 in" not in again.stdout


def test_sheets_and_encodings_in_the_command(tmp_path: Path) -> None:
    people().to_excel(tmp_path / "t.xlsx", sheet_name="All loans", index=False)
    with pd.ExcelWriter(tmp_path / "t.xlsx", mode="a") as book:
        pd.DataFrame({"read": ["me"]}).to_excel(book, sheet_name="Notes", index=False)
    done = run_here("check", "t.xlsx", cwd=tmp_path)
    assert "several sheets ('All loans', 'Notes'): --sheet 'All loans' says" in done.stdout
    ready = done.stdout.splitlines()[-1].removeprefix("This would run: whatleaks audit ")
    assert ready.endswith("--sheet 'All loans'")
    assert run_here("check", *shlex.split(ready), cwd=tmp_path).returncode == 0
    refused = run_here("audit", "t.xlsx", "--label", "loan", "--passive", "age", cwd=tmp_path)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "--sheet 'All loans'" in refused.stderr
    (tmp_path / "t.csv").write_bytes(
        people().to_csv(index=False).replace("loan", "ссуда").encode("cp1251")
    )
    refused = run_here("check", "t.csv", cwd=tmp_path)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "--encoding says what it is" in refused.stderr
    done = run_here("check", "t.csv", "--encoding", "cp1251", cwd=tmp_path)
    assert "--label 'ссуда'" in done.stdout
    assert done.stdout.endswith("--encoding cp1251\n")
    wrong = run_here("check", "t.csv", "--sheet", "A", cwd=tmp_path)
    assert "--sheet belongs to an Excel file" in wrong.stderr


def test_check_lists_repeated_names_with_everything_else(tmp_path: Path) -> None:
    rows = [f"{i * i % 37 / 7:.4f},{i},{i * 7 % 11 / 3:.4f},7,{i % 2}" for i in range(60)]
    problems, ready = check(tmp_path, "\n".join(["a,p,p,k,y", *rows]), "--label", "y")
    assert problems[0] == "t.csv has more than one column 'p': rename them."
    assert [any(word in line for line in problems) for word in ("--passive", "'k'")] == [True] * 2
    assert any("'p' looks like an identifier" in line for line in problems)
    assert ready == ""


def test_check_of_a_table_with_one_column(tmp_path: Path) -> None:
    problems, ready = check(tmp_path, "\n".join(["a", *(str(i % 2) for i in range(60))]))
    assert sum("--passive" in line for line in problems) == 1
    assert ready == ""


def test_check_of_two_files_without_a_label(tmp_path: Path) -> None:
    frame = people()
    frame["id"], frame["plan"] = range(len(frame)), "basic"
    frame[["id", "deposit", "plan"]].to_csv(tmp_path / "bank.csv", index=False)
    own = frame[["id", "age", "job", "loan"]].to_csv(index=False)
    problems, ready = check(tmp_path, own, "--passive-file", "bank.csv", "--id", "id")
    assert ["--label" in problems[0], "'plan'" in problems[1], len(problems)] == [True, True, 2]
    assert ready.startswith("whatleaks audit t.csv --label loan --passive-file bank.csv --id id")


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


def test_where_the_time_goes_and_codes_for_missing_values_told_before(tmp_path: Path) -> None:
    frame = people()
    frame.loc[::9, "age"] = -999
    frame.to_csv(tmp_path / "t.csv", index=False)
    flags = ("--label", "loan", "--passive", "deposit", *QUICK, "--profile", "--out", "out")
    done = run_here("audit", "t.csv", *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Processor time: " in done.stdout
    assert "  limit " in done.stdout
    assert done.stderr.startswith("warning: column 'age' has the value -999 in")
    assert "--na age=-999 --missing median" in done.stderr
    notes = json.loads((tmp_path / "out" / "audit.json").read_text())["notes"]
    assert any("1 columns may hold a value that stands for a missing one" in n for n in notes)
    assert "-999" not in "".join(notes)  # no value of anybody's in a report


def test_two_columns_stay_two_in_the_command_where_both_names_are_one_column_too(
    tmp_path: Path,
) -> None:
    frame = people().rename(columns={"age": "a", "income": "b"})
    frame["a,b"], frame["plan"] = np.arange(len(frame)) % 7, "basic"
    frame.to_csv(tmp_path / "t.csv", index=False)
    flags = ("--label", "loan", "--passive", "a", "--passive", "b")
    for name in ("check", "audit"):
        done = run_here(name, "t.csv", *flags, cwd=tmp_path)
        assert done.returncode == 2
        last = [*done.stdout.splitlines(), *done.stderr.splitlines()][-1]
        assert last == (
            "This would run: whatleaks audit t.csv --label loan --passive a --passive b "
            "--drop-constant"
        )


def test_the_command_of_check_names_the_folder_of_the_data_sets(tmp_path: Path) -> None:
    done = run_here("check", "wine", "--data-home", ".", cwd=tmp_path)
    assert done.stdout.splitlines()[-1].endswith(" --data-home .")
