"""``whatleaks protect``: what it prints, what it writes, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from whatleaks.auditor.protect import _error
from whatleaks.cli import main
from whatleaks.metrics.measurement import Measurement

ASK = ["protect", "wine", "--passive", "alcohol,ash,hue", "--targets", "30"]


def _run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["whatleaks", *words])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0)


def test_it_says_what_to_disclose_and_what_that_is_worth(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "weights.csv"
    assert _run(monkeypatch, *ASK, "--epsilon", "1", "--json", "--out", str(out)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["columns"] == ["alcohol", "ash", "hue"]
    assert told["distance"] == pytest.approx(1.0, rel=1e-5)
    assert told["after"]["predicted"] > told["before"]["predicted"]
    assert told["after"]["half_star"] > told["before"]["half_star"]
    assert told["before"]["knowing_the_scheme"] is None
    assert told["after"]["knowing_the_scheme"] < told["after"]["half_star"]
    written = pd.read_csv(out, index_col="column").to_numpy()
    assert np.abs(written - np.array(told["disclosed"])).max() < 1e-9
    change = np.array(told["disclosed"]) - np.array(told["weights"])
    assert (change**2).mean() == pytest.approx(1.0, rel=1e-5)


def test_what_cannot_be_had_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for words, part in (
        (("--epsilon", "1e9"), "out of reach"),
        (("--percent", "500"), "--percent is 0 to 400 percent"),
        (("--epsilon", "nan"), "--epsilon must be a number of at least 0"),
        (("--epsilon", "-1"), "--epsilon must be a number of at least 0"),
        (("--secret", "foo"), "--secret is epsilon or empty"),
        (("--secret", "sign"), "--secret sign protects nothing"),
        (("--out", str(tmp_path / "weights.txt")), "--out writes CSV"),
    ):
        assert _run(monkeypatch, *ASK, *words) == 2
        said = capsys.readouterr()
        assert part in said.err
        assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_no_error_lies_below_zero(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A few targets whose errors differ much: a t interval of their mean would reach below zero.
    ask = ["protect", "wine", "--passive", "alcohol", "--targets", "10", "--percent", "100"]
    assert _run(monkeypatch, *ask) == 0
    said = capsys.readouterr().out
    low = [float(line.split("[")[1].split(",")[0]) for line in said.splitlines() if "[" in line]
    assert len(low) >= 6
    assert min(low) >= 0.0
    wide = Measurement(0.1, -0.2, 0.4, 5, "mean squared error", "records")
    assert _error(wide) == Measurement(0.1, 0.0, 0.4, 5, "mean squared error", "records")


def test_the_table_is_never_written_over_and_folders_are_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((60, 3)), columns=["a", "b", "c"])
    frame["y"] = np.where(frame["a"] + frame["b"] > 1, "yes", "no")
    table = tmp_path / "t.csv"
    frame.to_csv(table, index=False)
    before = table.read_bytes()
    ask = ["protect", str(table), "--label", "y", "--passive", "b,c", "--targets", "20"]
    assert _run(monkeypatch, *ask, "--out", str(table)) == 2
    assert "is the table itself" in capsys.readouterr().err
    assert table.read_bytes() == before
    new = tmp_path / "not" / "yet" / "w.csv"
    assert _run(monkeypatch, *ask, "--out", str(new)) == 0
    assert list(pd.read_csv(new)["column"]) == ["b", "c"]


def test_it_reads_numbers_as_an_audit_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(80), "y": rng.integers(0, 2, 80)})
    frame["inc"] = [f"{n:,}".replace(",", ".") for n in rng.integers(500, 5000, 80)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    ask = ("protect", str(tmp_path / "t.csv"), "--label", "y", "--passive", "inc")
    assert _run(monkeypatch, *ask) == 2
    assert "--thousands . or --decimal . says which" in capsys.readouterr().err
    assert _run(monkeypatch, *ask, "--thousands", ".") == 0


def test_how_the_table_was_read_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((80, 3)), columns=["a", "b", "c"]).round(3)
    frame["rent"] = [f"{value:.2f}".replace(".", ",") for value in rng.uniform(300, 900, 80)]
    frame["age"] = np.where(np.arange(80) % 9 == 0, -999, np.arange(80) % 60 + 20)
    frame["y"] = np.arange(80) % 2
    frame.to_csv(tmp_path / "t.csv", index=False)
    ask = ["protect", str(tmp_path / "t.csv"), "--label", "y", "--passive", "rent,a"]
    assert _run(monkeypatch, *ask, "--percent", "10", "--targets", "30", "--json") == 0
    found = capsys.readouterr()
    json.loads(found.out)
    assert "note: column 'rent': numbers such as '999,99' were read with" in found.err
    assert "note: column 'age' has the value -999 in 9 of 80 rows" in found.err
