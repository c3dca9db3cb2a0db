"""Results as a table: one row per measurement, failed runs with their reason."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from test_store import record

from run_doubles import Double
from whatleaks.errors import StoreError
from whatleaks.runs.frame import frame, to_parquet


def test_the_table_has_one_row_per_measurement(tmp_path: Path) -> None:
    import pandas as pd

    mixed = replace(record(3), work=Double(columns="all"))  # type: ignore[arg-type]
    table = frame([record(1), record(2, "failed"), mixed])
    assert len(table) == 4 + 1 + 4
    error = table[(table["quantity"] == "error") & (table["seed"] == 1)].iloc[0]
    assert (error["value"], error["low"], error["high"], error["n"]) == (0.1, 0.05, 0.2, 100)
    assert error["columns"] == 2
    half = table[(table["role"] == "baseline") & (table["seed"] == 1)].iloc[0]
    assert half["value"] == 1 / 12
    curve = table[(table["quantity"] == "curve") & (table["seed"] == 1)].iloc[0]
    assert json.loads(curve["text"]) == [0.5, 0.25]
    failed = table[table["status"] == "failed"].iloc[0]
    assert failed["error"] == "ValueError: no"
    assert pd.isna(failed["value"])

    assert to_parquet([record(1), record(2, "failed"), mixed], tmp_path / "r.parquet") == 9
    again = pd.read_parquet(tmp_path / "r.parquet")
    assert list(again["value"].dropna()) == list(table["value"].dropna())
    assert not list(tmp_path.glob("*.part"))


def test_an_empty_store_gives_an_empty_table(tmp_path: Path) -> None:
    import pandas as pd

    assert to_parquet([], tmp_path / "r.parquet") == 0
    assert len(pd.read_parquet(tmp_path / "r.parquet")) == 0


def test_a_wrong_place_for_the_table_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        to_parquet([record(1)], tmp_path / "folder.parquet")
