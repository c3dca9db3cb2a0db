"""Numbers as people write them: thousands, currency, percent, signs, and what only a person knows."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from whatleaks.data.table import read_table
from whatleaks.data.written import read_written
from whatleaks.errors import UsageError

MIXED = ["4.925", "788", "1.322", "12.000"]
THOUSANDS = [4925.0, 788.0, 1322.0, 12000.0]
DECIMALS = [4.925, 788.0, 1.322, 12.0]


def saved(folder: Path, how: str, **columns: list[str]) -> pd.DataFrame:
    """Write words in one of the ways that a table arrives in, and read it."""
    frame = pd.DataFrame(columns)
    if how == "frame":
        return frame
    if how == "parquet":
        frame.to_parquet(folder / "t.parquet")
        return read_table(folder / "t.parquet")
    separator, quoting = how
    frame.to_csv(folder / "t.csv", index=False, sep=separator, quoting=quoting)
    return read_table(folder / "t.csv")


WAYS = [
    "frame",
    "parquet",
    *((separator, quoting) for separator in ",;\t|" for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)),
]  # fmt: skip


@pytest.mark.parametrize("how", WAYS, ids=repr)
def test_thousands_beside_whole_numbers_are_asked_about_and_the_flag_decides(
    how: Any, tmp_path: Path
) -> None:
    table = saved(tmp_path, how, inc=MIXED, a=["0.525", "-0.851", "1.250", "2.125"])
    frame, notes, (problem,) = read_written(table)
    assert "'inc'" in problem.text
    assert "'9.999'" in problem.text
    assert problem.remedy == {"thousands": "."}
    assert frame["inc"].tolist() == MIXED
    for flags in ({"thousands": "."}, {"decimal": ","}, {"thousands": ".", "decimal": ","}):
        frame, notes, problems = read_written(table, **flags)
        assert frame["inc"].tolist() == THOUSANDS
        assert frame["a"].astype(float).tolist() == [0.525, -0.851, 1.25, 2.125]
        assert problems == ()
        assert any("'inc'" in note for note in notes)
    for flags in ({"decimal": "."}, {"thousands": ","}, {"thousands": "'"}, {"thousands": " "}):
        frame, _, problems = read_written(table, **flags)
        assert frame["inc"].tolist() == DECIMALS, flags
        assert problems == ()


@pytest.mark.parametrize("how", WAYS, ids=repr)
def test_three_decimals_throughout_are_a_number(how: Any, tmp_path: Path) -> None:
    table = saved(tmp_path, how, a=["0.125", "12.500", "3.375"], b=["1.5", "2.25", "3"])
    frame, notes, problems = read_written(table)
    assert frame["a"].tolist() == [0.125, 12.5, 3.375]
    assert (notes, problems) == ((), ())


def test_three_decimals_that_may_be_thousands_are_never_taken_without_a_word(
    tmp_path: Path,
) -> None:
    words = ["68.808", "45.217", "12.000"]
    frame, (note,), problems = read_written(
        saved(tmp_path, (",", 0), inc=words, a=["1.5", "2.25", "3"])
    )
    assert frame["inc"].tolist() == [68.808, 45.217, 12.0]
    assert problems == ()
    assert "'inc'" in note
    assert "thousands='.'" in note
    _, _, (problem,) = read_written(saved(tmp_path, (",", 0), inc=words, n=["1", "2", "3"]))
    assert "'inc'" in problem.text


def test_commas_beside_whole_numbers_are_asked_about_too(tmp_path: Path) -> None:
    words = [word.replace(".", ",") for word in MIXED]
    table = saved(tmp_path, (";", 0), inc=words, a=["0,5", "1,25", "3,75", "2,5"])
    _, _, (problem,) = read_written(table)
    assert problem.remedy == {"thousands": ","}
    assert read_written(table, thousands=",")[0]["inc"].tolist() == THOUSANDS
    assert read_written(table, decimal=",")[0]["inc"].tolist() == DECIMALS


@pytest.mark.parametrize("mark", ["'", "\u2019", " ", "\u00a0", "\u202f"])
def test_other_marks_between_thousands(mark: str, tmp_path: Path) -> None:
    words = [word.replace(".", mark) for word in MIXED]
    table = saved(tmp_path, (",", 0), inc=words)
    for flags in ({}, {"thousands": mark}):
        frame, (note,), problems = read_written(table, **flags)
        assert frame["inc"].tolist() == THOUSANDS
        assert problems == ()
        assert f"thousands {mark!r}" in note


def test_a_flag_that_changes_no_column_says_so() -> None:
    table = pd.DataFrame({"a": [1.5, 2.0]})
    (note,) = read_written(table, thousands=".")[1]
    assert note == "thousands '.' changes nothing: no column of words holds numbers written so"
    with pytest.raises(UsageError, match="thousands 'x' is unknown"):
        read_written(table, thousands="x")


@pytest.mark.parametrize(
    ("words", "values", "unit"),
    [
        (["€4,925", "€788", "-€12,000"], [4925.0, 788.0, -12000.0], "€"),
        (["4.925,50 €", "788,00 €"], [4925.5, 788.0], "€"),
        (["$5", "$7", "$-9"], [5.0, 7.0, -9.0], "$"),
        (["49.2%", "7.9 %", "100%"], [49.2, 7.9, 100.0], "%"),
        (["CHF 4'925", "CHF 788"], [4925.0, 788.0], "CHF"),
    ],
)
def test_currency_and_percent_are_numbers(words: list[str], values: list[float], unit: str) -> None:
    frame, notes, problems = read_written(pd.DataFrame({"v": words, "w": [0.5] * len(words)}))
    if unit == "€" and problems:
        raise AssertionError(problems)
    assert frame["v"].tolist() == values
    assert problems == ()
    assert any(f"without {unit!r}" in note for note in notes)


def test_two_currencies_in_one_column_are_no_numbers() -> None:
    words = ["€5", "$7", "€9"]
    frame, _, _ = read_written(pd.DataFrame({"v": words}))
    assert frame["v"].tolist() == words


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["+5", "-7", "9"], [5.0, -7.0, 9.0]),
        (["\u22125", "7", "\u22129.5"], [-5.0, 7.0, -9.5]),
        (["1e5", "2E-3", "4"], [1e5, 2e-3, 4.0]),
        ([" 12 ", "7", " 9.5"], [12.0, 7.0, 9.5]),
        ([str(i * 3) for i in range(30)], [i * 3.0 for i in range(30)]),
    ],
)
@pytest.mark.parametrize("how", ["frame", (",", 0), (";", 1)], ids=repr)
def test_signs_exponents_and_blanks(
    how: Any, words: list[str], values: list[float], tmp_path: Path
) -> None:
    frame, _, problems = read_written(saved(tmp_path, how, v=words, k=["x"] * len(words)))
    np.testing.assert_array_equal(frame["v"].to_numpy(float), values)
    assert problems == ()


@pytest.mark.parametrize(
    "words", [["1/2", "3/4", "1/8"], ["1.2.3", "13.11.2", "7.5.1"], ["007", "012", "100"]]
)
def test_fractions_versions_and_codes_stay_words(words: list[str]) -> None:
    assert read_written(pd.DataFrame({"v": words}))[0]["v"].tolist() == words
