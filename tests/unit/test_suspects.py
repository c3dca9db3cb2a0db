"""Numbers that may stand for a missing value, and dates that are written as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from whatleaks.data.checking import check_table
from whatleaks.data.preparation import prepare
from whatleaks.data.problems import DEFAULTS
from whatleaks.data.suspects import day_and_month, digits_as_dates, missing_codes, words_as_dates
from whatleaks.data.written import read_written

N = 60
AGES = np.arange(N) * 7 % 61 + 18.0  # 18 to 78


def with_codes(*codes: float, times: int = 3, base: Any = AGES) -> Any:
    values = np.array(base, dtype=np.float64)
    for k, code in enumerate(codes):
        values[k * times : (k + 1) * times] = code
    return values


@pytest.mark.parametrize(
    "codes",
    [
        (-1.0,), (-9.0,), (-99.0,), (-999.0,), (-9999.0,), (999.0,), (9999.0,), (99999.0,),
        (-7.0, -8.0, -9.0), (997.0, 998.0, 999.0), (-999.0, 9999.0), (777.0, 888.0, 999.0), (-1.0, 999.0),
        (32767.0,), (2147483647.0,),
    ],
)  # fmt: skip
def test_codes_are_found_and_counted(codes: tuple[float, ...]) -> None:
    assert missing_codes(with_codes(*codes)) == dict.fromkeys(codes, 3)


def test_a_code_is_found_beside_true_negatives() -> None:
    assert missing_codes(with_codes(-999.0, base=AGES - 40.0)) == {-999.0: 3}


@pytest.mark.parametrize(
    "values",
    [
        AGES,
        AGES - 40.0,
        with_codes(99.0),  # somebody is 99
        with_codes(-1.0, times=1),
        np.arange(N) * 170.0,  # to 10,030, with 9,999 in it
        with_codes(9999.0, base=np.arange(N) * 165.0),
        np.arange(N) % 2 * 2.0 - 1.0,  # -1 and 1
        np.arange(N) % 3 - 1.0,  # -1, 0 and 1
        with_codes(1234.0),
        np.full(N, -999.0),
        np.full(N, np.nan),
        np.where(np.arange(N) % 2, -999.0, 5.0),
    ],
)
def test_other_values_are_no_codes(values: Any) -> None:
    assert missing_codes(values) == {}


def table(**more: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((N, 3)), columns=["a", "b", "c"])
    frame["y"] = np.where(frame.a + frame.c > 1, "yes", "no")
    return frame.assign(**more)


CHOSEN = {**DEFAULTS, "label": "y", "passive": ("c",)}


def test_a_code_is_said_with_arguments_that_read_it_as_missing_in_its_column_only() -> None:
    frame = table(income=with_codes(-999.0), other=with_codes(-999.0, base=AGES - 3000.0))
    found = check_table(frame, CHOSEN)
    (said,) = found.doubts
    assert "column 'income' has the value -999 in 3 of 60 rows" in said
    assert "na=['income=-999'] missing='median'" in said
    assert found.problems == ()
    chosen = {**CHOSEN, "na": ("income=-999",), "missing": "median"}
    again = check_table(frame, chosen, thorough=True)
    assert (again.doubts, again.problems) == ((), ())
    assert again.frame["income"].isna().sum() == 3
    assert again.frame["other"].isna().sum() == 0
    assert check_table(frame, {**CHOSEN, "drop": ("income",)}).doubts == ()


def test_a_code_in_the_label_leaves_rows_out() -> None:
    frame = table(income=with_codes(9999.0))
    (said,) = check_table(frame, {**CHOSEN, "label": "income"}).doubts
    assert said.endswith("na=['income=9999'] missing='drop-rows'")


@pytest.mark.parametrize("day", ["9999-12-31", "1900-01-01"])
def test_a_day_that_nobody_means(day: str) -> None:
    days = pd.to_datetime([day if i < 4 else f"2020-{i % 12 + 1:02d}-01" for i in range(N)])
    frame = table(until=days)
    (said,) = check_table(frame, CHOSEN).doubts
    assert f"has the value {day} in 4 of 60 rows" in said
    read, (note,), _ = read_written(frame, na=(f"until={day}",))
    assert read["until"].isna().sum() == 4
    assert note.startswith("4 values")


def test_a_word_with_an_equal_sign_that_names_no_column_is_a_word() -> None:
    frame, (note,), _ = read_written(pd.DataFrame({"v": ["x=1", "a", "b"]}), na=("x=1",))
    assert frame["v"].isna().tolist() == [True, False, False]
    assert note == "1 values 'x=1' were read as missing"


def test_days_and_months_are_asked_about_unless_the_user_says_that_they_are_numbers() -> None:
    frame = table(day=[i % 28 + 1 + (i % 12 + 1) / 100 for i in range(N)])
    _, _, (problem,) = read_written(frame)
    assert "'day'" in problem.text
    assert read_written(frame, decimal=".")[1:] == ((), ())


@pytest.mark.parametrize(
    "numbers",
    [
        np.random.default_rng(1).integers(0, 3200, N) / 100,
        np.random.default_rng(2).integers(0, 60, N) / 100,  # shares below 0.6
        np.repeat([1.05, 2.1, 3.05, 4.1, 5.05, 6.1], 10),  # prices
        np.random.default_rng(3).integers(0, 24, N) + np.tile([0.0, 0.25, 0.5, 0.05], N // 4),
        np.arange(N) % 24.0,
        np.full(N, np.nan),
    ],
)
def test_other_numbers_are_no_days_or_hours(numbers: Any) -> None:
    assert day_and_month(numbers) == ""


def test_dates_in_digits() -> None:
    days = [20200101 + 100 * (i % 12) + i % 28 for i in range(N)]
    dates = digits_as_dates(pd.Series(days))
    assert dates is not None
    assert dates.iloc[13] == pd.Timestamp("2020-02-14")
    for other in ([20201301, *days[1:]], [20200230, *days[1:]], [1_500_000, *days[1:]], days[:15]):
        assert digits_as_dates(pd.Series(other)) is None
    frame = table(v=days)
    assert read_written(frame)[0]["v"].dtype.kind == "M"
    read, notes, _ = read_written(frame, decimal=".")
    assert read["v"].dtype.kind == "i"
    assert notes == ()


@pytest.mark.parametrize(
    ("words", "day", "how"),
    [
        (["31.12.2020", "1.2.2021", None], "2021-02-01", "day, month, year"),
        (["3.12.2020", "1.2.2021"], "2021-02-01", "day, month, year"),
        (["12/31/2020", "1/2/2021"], "2021-01-02", "month, day, year"),
        (["31/12/2020", "1/2/2021"], "2021-02-01", "day, month, year"),
        (["2020/12/31", "2021/2/1"], "2021-02-01", "year, month, day"),
    ],
)
def test_dates_in_words(words: list[Any], day: str, how: str) -> None:
    dates, said = words_as_dates(pd.Series(words, dtype="object"))
    assert said == how
    assert dates is not None
    assert dates.iloc[1] == pd.Timestamp(day)
    assert dates.isna().sum() == words.count(None)


@pytest.mark.parametrize(
    "words", [["1/2/2020", "3/4/2021"], ["1.2.20", "3.4.21"], ["31/12/2020", "12/31/2020"]]
)
def test_dates_that_leave_it_open(words: list[str]) -> None:
    dates, said = words_as_dates(pd.Series(words))
    assert dates is None
    assert said.endswith(("fit", "fits all"))


def test_numbers_with_words_among_them_in_a_frame_are_told_as_in_a_file() -> None:
    mixed: list[Any] = [i * 1.125 for i in range(N)]
    mixed[3] = "unknown"
    frame = table(v=pd.Series(mixed, dtype="object"))
    _, _, (problem,) = read_written(frame)
    assert "1 value that are words ('unknown')" in problem.text
    read, _, problems = read_written(frame, na=("unknown",))
    assert problems == ()
    assert read["v"].iloc[1] == 1.125


def test_spellings() -> None:
    six = ["yes", "No", "TRUE", "false", "1", "n"] * 10
    blanks = ["m", "m ", "f"] * 20
    capitals = ["Male", "male", "female"] * 20
    codes = ["A", "B", "O"] * 20
    frame, notes, _ = read_written(table(six=six, blanks=blanks, capitals=capitals, codes=codes))
    assert frame["six"].tolist()[:6] == [True, False, True, False, True, False]
    assert set(frame["blanks"]) == {"m", "f"}
    assert frame["capitals"].nunique() == 3
    assert [note.split("'")[1] for note in notes] == ["six", "blanks", "capitals"]


def test_times_in_words() -> None:
    frame, (note,), _ = read_written(pd.DataFrame({"t": ["8:30", None, "17:05:09"]}))
    assert frame["t"].tolist()[::2] == [30600.0, 61509.0]
    assert np.isnan(frame["t"].iloc[1])
    assert "'t'" in note
    assert read_written(pd.DataFrame({"t": ["8:30", "25:00"]}))[0]["t"].tolist() == [
        "8:30",
        "25:00",
    ]


def test_rows_without_a_label_are_left_out_where_other_gaps_are_filled() -> None:
    frame = table(v=np.where(np.arange(N) % 3, np.arange(N) / 7, np.nan))
    frame.loc[:4, "y"] = None
    found = check_table(frame, CHOSEN)
    assert len(found.problems) == 2
    assert found.ready is not None
    assert found.ready["missing"] == "median"
    made = prepare(frame, "y", ["c"], rng=np.random.default_rng(0), missing="median")
    assert made.rows.tolist() == list(range(5, N))
    assert "5 of 60 rows with a missing label were left out" in made.notes


@pytest.mark.parametrize(
    ("words", "day"),
    [
        (["23-Feb-2017", "1-MAR-2018"], "2017-02-23"),
        (["23 February 2017", "1 May 2018"], "2017-02-23"),
        (["Feb 23, 2017", "Mar 1, 2018"], "2017-02-23"),
        (["February 23, 2017", "May 1, 2018"], "2017-02-23"),
        (["23Feb2017", "01MAR2018"], "2017-02-23"),
    ],
)
def test_dates_with_the_month_in_letters(words: list[str], day: str) -> None:
    frame, (note,), problems = read_written(pd.DataFrame({"d": words * 20}))
    assert problems == ()
    assert str(frame["d"].iloc[0].date()) == day
    assert "month in letters" in note


@pytest.mark.parametrize("date", ["2017-02-{:02d}", "{:02d}.02.2017", "2017-02-{:02d}T08:30:00"])
def test_words_among_dates_are_told_with_a_remedy(date: str) -> None:
    days = [date.format(i % 28 + 1) if i % 9 else "unknown" for i in range(90)]
    _, _, (problem,) = read_written(pd.DataFrame({"d": days}))
    assert "'d' holds dates and 10 values that are words ('unknown')" in problem.text
    assert problem.remedy == {"na": ("unknown",), "missing": "median"}
    _, _, problems = read_written(pd.DataFrame({"d": days}), na=("unknown",))
    assert problems == ()


def test_a_few_dates_among_words_are_words() -> None:
    days = ["2017-02-01" if i % 9 == 0 else f"plan {'abc'[i % 3]}" for i in range(90)]
    assert read_written(pd.DataFrame({"d": days}))[1:] == ((), ())
