"""All problems at once, numbers as people write them, and a call that would run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import whatleaks
from whatleaks.data.checking import Checked, check_table
from whatleaks.data.naming import chosen_names
from whatleaks.data.problems import DEFAULTS, TableProblems
from whatleaks.data.table import read_table
from whatleaks.data.written import read_written
from whatleaks.errors import UsageError

N = 60
# That a table goes through is asked here, not what is found in it: one threat says so.
QUICK: dict[str, Any] = {
    "quick": True, "threats": "agnostic", "targets": 20, "defenses": False, "progress": False,
}  # fmt: skip


def table(**more: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((N, 4)), columns=["a", "b", "c", "d"])
    frame["y"] = np.where(frame.a + frame.c > 1, "yes", "no")
    return frame.assign(**more)


def checked(frame: pd.DataFrame, **choices: Any) -> Checked:
    return check_table(frame, {"label": "y", "passive": ("c", "d"), **DEFAULTS, **choices})


def ugly() -> pd.DataFrame:
    numbers = [str(i * 7 % 501) for i in range(N)]
    numbers[3], numbers[9] = "unknown", "?"
    return table(
        who=range(N),
        remark=[f"remark number {i} that nobody else has written in this way" for i in range(N)],
        plan="basic",
        gaps=np.where(np.arange(N) % 9 == 0, np.nan, np.linspace(0, 1, N) ** 2),
        tags=[[i, i + 1] for i in range(N)],
        visits=numbers,
    )


def test_every_problem_is_a_line_that_names_its_column_and_the_ready_call_has_none() -> None:
    found = checked(ugly())
    for column in ("who", "remark", "plan", "gaps", "tags", "visits"):
        assert sum(f"'{column}'" in p.text for p in found.problems) == 1, column
    assert len(found.problems) == 6
    assert all("\n" not in problem.text for problem in found.problems)
    assert found.ready is not None
    assert set(found.ready["drop"]) == {"who", "remark", "tags"}
    assert found.ready["na"] == ("unknown", "?")
    again = check_table(ugly(), found.ready, thorough=True)
    assert again.problems == ()
    with pytest.raises(TableProblems) as caught:
        found.refuse()
    assert "This would run: whatleaks.audit(frame, label='y'" in str(caught.value)


def test_the_ready_call_runs() -> None:
    ready = checked(ugly()).ready
    assert ready is not None
    report = whatleaks.audit(ugly(), **ready, **QUICK)
    assert report.result.rows == N
    assert any("2 values 'unknown', '?' were read as missing" in n for n in report.result.notes)


def test_words_are_reported_without_the_rest_of_their_row() -> None:
    (problem,) = (p for p in checked(ugly()).problems if "'visits'" in p.text)
    assert "2 values that are words ('unknown', '?')" in problem.text
    assert "21" not in problem.text  # the visits of a neighbour


def test_codes_of_a_category_with_a_letter_are_no_numbers() -> None:
    grade = [["1", "2", "3", "4", "x"][i % 5] for i in range(N)]
    assert checked(table(grade=grade)).problems == ()


def written(words: list[str], **choices: Any) -> tuple[pd.DataFrame, tuple[str, ...], Any]:
    return read_written(pd.DataFrame({"v": words}), **choices)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["3,5", "12,25", "0,125"], [3.5, 12.25, 0.125]),
        (["1.234,5", "2.000,75"], [1234.5, 2000.75]),
        (["1,234.5", "2,000.75"], [1234.5, 2000.75]),
        (["1,234,567", "2,000"], [1234567.0, 2000.0]),
        (["1 234", "22 000"], [1234.0, 22000.0]),
        (["-3,5", None, "1,5e3"], [-3.5, np.nan, 1500.0]),
    ],
)
def test_what_reads_in_one_way_only_is_read(words: list[str], values: list[float]) -> None:
    frame, notes, problems = written(words)
    np.testing.assert_array_equal(frame["v"].to_numpy(float), values)
    assert problems == ()
    assert len(notes) == 1
    assert not any(digit in notes[0] for digit in "012345678")  # no value is shown


def test_seven_thousand_is_never_silently_seven_and_a_half() -> None:
    words = ["7,570", "1,200"]
    frame, _, (problem,) = written(words)
    assert frame["v"].tolist() == words
    assert "'9,999'" in problem.text
    assert written(words, thousands=",")[0]["v"].tolist() == [7570.0, 1200.0]
    assert written(words, decimal=",")[0]["v"].tolist() == [7.57, 1.2]
    # Another column shows what a comma means here.
    both = pd.DataFrame({"v": words, "w": ["3,5", "4,25"]})
    assert read_written(both)[0]["v"].tolist() == [7.57, 1.2]
    both = pd.DataFrame({"v": words, "w": [3.5, 4.25]})
    assert read_written(both)[0]["v"].tolist() == [7570.0, 1200.0]
    for bad in ({"decimal": "x"}, {"decimal": ",", "thousands": ","}):
        with pytest.raises(UsageError):
            written(words, **bad)


def test_points_that_mark_thousands_in_a_file_with_semicolons(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("price;rent\n7.570;3,5\n12.000;4,25\n950;1,0\n")
    frame, notes, problems = read_written(read_table(path))
    assert frame["price"].tolist() == [7570.0, 12000.0, 950.0]
    assert frame["rent"].tolist() == [3.5, 4.25, 1.0]
    assert problems == ()
    assert len(notes) == 2
    path.write_text("price;n\n7.570;3\n12.000;4\n950;1\n")  # nothing tells
    _, _, (problem,) = read_written(read_table(path))
    assert "'price'" in problem.text
    path.write_text("price;rent\n7.570;3.5\n12.000;4.25\n9.950;1.0\n")
    assert read_written(read_table(path))[0]["price"].tolist() == [7.57, 12.0, 9.95]
    path.write_text("price,rent\n7.570,3.5\n12.000,4.25\n9.950,1.0\n")
    assert read_written(read_table(path))[0]["price"].tolist() == [7.57, 12.0, 9.95]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["a,b"], ("a", "b")),
        (["a", "b"], ("a", "b")),
        (["a,b", "c"], ("a", "b", "c")),
        (["x,y"], ("x,y",)),
        (["a,x,y,b"], ("a", "x,y", "b")),
        (["a, b"], ("a", "b")),
        (["a,q"], ("a", "q")),
        (["a,,b,"], ("a", "b")),
    ],
)
def test_names_with_commas(words: list[str], names: tuple[str, ...]) -> None:
    assert chosen_names(words, ["a", "b", "c", "x,y"]) == names


def test_integer_names_and_several_parties() -> None:
    frame = pd.DataFrame(np.random.default_rng(1).random((N, 5)), columns=range(5))
    frame[5] = (frame[0] + frame[3] > 1).astype(int)
    one = whatleaks.audit(frame, 5, [3, 4], **QUICK).result
    assert {c.name for c in one.columns if c.owner == "passive"} == {"3", "4"}
    for several in ([[3], [4]], {"shop": [3], "bank": [4]}):
        two = whatleaks.audit(frame, 5, several, **QUICK).result
        assert {c.column for c in two.threats[0].findings[0].columns} == {"3", "4"}
        assert "passive-2 holds '4'" in two.notes
    assert "passive-2 stands for bank" in two.notes


def test_lists_records_and_maps_are_left_out_when_asked() -> None:
    odd = table(tags=[[i] for i in range(N)], who=[{"n": i} for i in range(N)], pair=[(1, 2)] * N)
    found = checked(odd)
    assert [("lists or records" in p.text) for p in found.problems] == [True] * 3
    assert found.ready is not None
    whatleaks.audit(odd, **found.ready, **QUICK)


def test_words_among_the_numbers_of_a_label_are_told_once_with_a_remedy() -> None:
    frame = pd.DataFrame({"v": np.arange(90.0) % 31, "own": np.arange(90.0) % 17})
    frame["y"] = [f"{i * 0.37:.2f}" if i % 30 else "unknown" for i in range(90)]
    found = check_table(frame, {**DEFAULTS, "label": "y", "passive": ("v",)}, thorough=True)
    (problem,) = found.problems
    assert "'unknown'" in problem.text
    assert found.ready is not None
    assert found.ready["na"] == ("unknown",)
