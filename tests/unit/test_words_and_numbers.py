"""No number becomes a word, and no code a number, without a line about it."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from whatleaks.data.checking import Checked, check_table
from whatleaks.data.problems import DEFAULTS
from whatleaks.data.schema import read
from whatleaks.data.table import from_frame, read_table
from whatleaks.errors import TableError

N = 60


def table(values: list[Any]) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    own = {"w": rng.normal(size=N), "y": rng.choice(["a", "b"], N)}
    return pd.DataFrame({"v": [values[i % len(values)] for i in range(N)], **own})


def checked(frame: pd.DataFrame, **flags: Any) -> Checked:
    chosen = {**DEFAULTS, "label": "y", "passive": ("v",), **flags}
    return check_table(from_frame(frame), chosen, thorough=True)


def kinds(found: Checked) -> dict[str, str]:
    return {column.name: column.kind for column in found.columns}


@pytest.mark.parametrize(
    "unit", [" years", " km/h", " °C", " mg/dL", " (ml)", "°", " Jahre", " sq. ft."]
)
def test_numbers_with_a_long_unit_are_numbers(unit: str) -> None:
    """Few and repeated, they were categories in the order of the alphabet: 10 before 9."""
    found = checked(table([f"{i}{unit}" for i in range(3, 15)]))
    assert kinds(found)["v"] == "integer"
    assert any("without" in note for note in found.notes)


@pytest.mark.parametrize(
    "words",
    [
        ["< 1 year", "1 year", "2 years", "10+ years"],
        [f"{i}0 to {i}9" for i in range(1, 14)],
        [f"Rs. {i},500/-" for i in range(3, 15)],
        [str(i) for i in range(3, 15)],
    ],
)
def test_other_words_that_begin_with_numbers_are_told(words: list[str]) -> None:
    found = checked(table(words))
    assert kinds(found)["v"] == "category"
    assert any("'v'" in note and "were read as" in note for note in found.notes)


def test_words_of_which_some_begin_with_numbers_are_none() -> None:
    assert checked(table(["A4", "5B", "C11"])).notes == ()
    assert checked(table(["01067", "80331"])).notes[0].count("zeros in front") == 1


def test_26E8_may_be_a_code(tmp_path: Path) -> None:
    """It was the number 2,600,000,000 without a word, and every other code nothing beside it."""
    codes = [f"{i * 7 % 90 + 10}E{i % 9}" if i % 3 else str(1000 + i) for i in range(N)]
    frame = table(codes)
    frame.to_csv(tmp_path / "t.csv", index=False)
    for one in (frame, read_table(tmp_path / "t.csv")):
        found = checked(one)
        assert "'99E9', which are codes or numbers" in found.problems[0].text
        assert kinds(checked(one, decimal="."))["v"] == "integer"
        words = checked(one, encode_text=True)
        assert words.frame["v"].tolist() == codes
        assert not words.problems or "identifier" in words.problems[0].text
    science = table([f"{i}.5E{i % 9}" for i in range(N)])
    science.to_csv(tmp_path / "t.csv", index=False)
    assert not checked(read_table(tmp_path / "t.csv")).problems


def test_a_row_of_names_under_names_of_groups_is_refused(tmp_path: Path) -> None:
    rows = [f"{i},{i * i % 17},{i % 5},{i % 7},{'ab'[i % 2]}" for i in range(30)]
    text = "\n".join(["income,,age,,y", "mean,max,mean,max,", *rows])
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(TableError, match=r"columns without a name \('max', 'max'\).*row above"):
        read_table(tmp_path / "t.csv")


def test_check_says_that_a_number_is_cut_into_classes() -> None:
    frame = table([1.5, 2.5, 7.25]).assign(y=np.random.default_rng(1).normal(size=N))
    assert any("cut at its quantiles into 4 classes" in note for note in checked(frame).notes)
    assert not any("quantiles" in note for note in checked(frame, bins=3).notes)


def test_words_among_dates_of_a_frame_are_asked_about() -> None:
    days = [date(2020, 1, 1) + timedelta(days=i) for i in range(N)]
    found = checked(table([*days[:50], *["unknown"] * 10]))
    assert "holds dates and 10 values that are words" in found.problems[0].text
    assert kinds(checked(table(days), na=("unknown",)))["v"] == "date"


def test_numbers_as_categories_are_in_their_order() -> None:
    assert read("v", pd.Series(pd.Categorical([10, 9, 2] * 20))).vocabulary == ("2", "9", "10")


def test_a_polars_column_that_pandas_cannot_hold_gives_one_line() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"v": polars.Series([1, 2, 3], dtype=polars.Int128)})
    with pytest.raises(TableError, match="cast it before"):
        from_frame(frame)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_lines_may_end_as_on_old_macs(separator: str, tmp_path: Path) -> None:
    """Only commas were seen between cells there."""
    frame = table([1.5, 2.5, 7.25])
    frame.to_csv(tmp_path / "t.csv", index=False, sep=separator, lineterminator="\r")
    assert list(read_table(tmp_path / "t.csv").columns) == ["v", "w", "y"]


def test_rows_between_two_open_quotes_are_not_lost(tmp_path: Path) -> None:
    """Thirteen records were one cell, without a word."""
    rows = [f"{i},{chr(34) if i in (7, 20) else ''}T{i % 3},{'ab'[i % 2]}" for i in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["v,t,y", *rows]))
    with pytest.raises(TableError, match="quote at or before line 22"):
        read_table(tmp_path / "t.csv")
    rows[20] = '20,T",a'  # a quote that seems to end the cell
    (tmp_path / "t.csv").write_text("\n".join(["v,t,y", *rows]))
    with pytest.raises(TableError, match="quote at or before line 22"):
        read_table(tmp_path / "t.csv")
    whole = [f'{i},"T{i % 3}\n""x"", 5"" y",{"ab"[i % 2]}' for i in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["v,t,y", *whole]))
    assert read_table(tmp_path / "t.csv")["t"][0] == 'T0\n"x", 5" y'
