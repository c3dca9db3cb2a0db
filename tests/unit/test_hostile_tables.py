"""Tables as a hostile user brings them: read rightly, or one line that names the column and a remedy."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from whatleaks.data.checking import Checked, check_table
from whatleaks.data.problems import DEFAULTS
from whatleaks.data.table import read_table

N = 60
RNG = np.random.default_rng(0)
BASE = pd.DataFrame(RNG.random((N, 3)).round(4), columns=["a", "b", "c"])
BASE["y"] = np.where(BASE.a + BASE.c > 1, "yes", "no")
NUMBERS = [f"{50 * x:.2f}" for x in RNG.random(N)]


def looked(folder: Path, column: Sequence[object] = NUMBERS, **flags: Any) -> Checked:
    """Write a table with this column as CSV, read and check it."""
    BASE.assign(v=list(column)).to_csv(folder / "t.csv", index=False)
    return checked(folder / "t.csv", **flags)


def checked(path: Path, **flags: Any) -> Checked:
    chosen = {**DEFAULTS, "label": "y", "passive": ("v", "c"), **flags}
    return check_table(read_table(path), chosen, thorough=True)


def kind(found: Checked) -> str:
    return next(column.kind for column in found.columns if column.name == "v")


READ = {
    "1e5": ([f"{i + 1}e{i % 5}" for i in range(N)], "integer"),
    "1_000": ([f"{i + 1}_000" for i in range(N)], "integer"),
    "blanks around": ([f" {x} " for x in NUMBERS], "number"),
    "signs": ([f"{'+-'[i % 2]}{i * i}" for i in range(N)], "integer"),
    "a typeset minus": ([f"{'−' * (i % 2)}{i * i}" for i in range(N)], "integer"),
    "a unit": ([f"{x} km" for x in NUMBERS], "number"),
    "yes and no": (["yes", "no"] * (N // 2), "category"),
    "true and false": (["true", "FALSE"] * (N // 2), "boolean"),
    "a cell over two lines": (["x\ny", "z"] * (N // 2), "category"),
    "dates": ([f"2020-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(N)], "date"),
    "d.m.y": ([f"{i % 28 + 1}.{i % 12 + 1}.{1990 + i % 30}" for i in range(N)], "date"),
    "d.m.y with small days": (
        [f"{i % 9 + 1}.{i % 12 + 1}.{1990 + i % 30}" for i in range(N)],
        "date",
    ),
    "m/d/y": ([f"{i % 12 + 1}/{i % 28 + 1}/{1990 + i % 30}" for i in range(N)], "date"),
    "y/m/d h:m": (
        [f"{1990 + i % 30}/{i % 12 + 1}/{i % 28 + 1} 08:3{i % 9}" for i in range(N)],
        "date",
    ),
    "yyyymmdd": ([f"{1990 + i % 30}{i % 12 + 1:02d}{i % 28 + 1:02d}" for i in range(N)], "date"),
    "times": ([f"{i % 24:02d}:{i * 7 % 60:02d}" for i in range(N)], "integer"),
    "times with one digit": ([f"{i % 24}:{i * 7 % 60:02d}" for i in range(N)], "integer"),
    "padded": ([f"{i % 12 + 1:02d}" for i in range(N)], "category"),
    "fractions": (["1/2", "3/4", "1/8"] * (N // 3), "category"),
    "yes and no in many ways": (["yes", "No", "TRUE", "n", "1", "0"] * (N // 6), "boolean"),
    "ranges": (["18-25", "26-35", "36-50"] * (N // 3), "category"),
}


@pytest.mark.parametrize("case", READ)
def test_what_can_be_read_is_read(case: str, tmp_path: Path) -> None:
    column, expected = READ[case]
    found = looked(tmp_path, column)
    assert found.problems == ()
    assert kind(found) == expected


LONG = "another value in every row"
ASKED = {
    "d/m or m/d": ([f"{i % 12 + 1}/{i % 11 + 1}/{1990 + i % 30}" for i in range(N)], "2020-12-31", "drop"),
    "few of them": ([f"1/{i % 3 + 1}/2020" for i in range(N)], "2020-12-31", "drop"),
    "d.m.yy": ([f"{i % 28 + 1}.{i % 12 + 1}.{10 + i % 30}" for i in range(N)], "2020-12-31", "drop"),
    "dates with a word": ([f"{i % 28 + 1}.{i % 12 + 1}.1990" if i else "31.02.1990" for i in range(N)], "no order", "drop"),
    "d.m": ([f"{i % 28 + 1}.{i % 12 + 1:02d}" for i in range(N)], "days and months", "drop"),
    "hours.minutes": ([f"{i % 24}.{i * 7 % 60:02d}" for i in range(N)], "hours and minutes", "drop"),
    "ids of 19 digits": ([9007199254740993000 + i for i in range(N)], LONG, "drop"),
    "ids of 30 digits": (["9" * 28 + f"{i:02d}" for i in range(N)], LONG, "drop"),
    "two currencies": ([f"{'€$'[i % 2]}{x}" for i, x in enumerate(NUMBERS)], "different signs", "drop"),
    "some with a sign": ([f"{'€' * (i % 2)}{x}" for i, x in enumerate(NUMBERS)], "none)", "drop"),
    "in brackets": (
        [f"({x})" if i % 3 == 0 else x for i, x in enumerate(NUMBERS)],
        "written otherwise ('(99.99)'",
        "drop",
    ),
    **{
        f"gaps as {word!r}": ([word if i in (3, 7) else x for i, x in enumerate(NUMBERS)], "2 missing", "missing")
        for word in ("", " ", "NA", "n/a", "null", "#N/A")
    },
    **{
        f"words {word!r}": ([word if i in (3, 7) else x for i, x in enumerate(NUMBERS)], f"({word!r})", "na")
        for word in ("-", "?", ".", "N.A.", "#DIV/0!")
    },
    "infinity": (["inf" if i == 3 else x for i, x in enumerate(NUMBERS)], "1 infinite value", "missing"),
}  # fmt: skip


@pytest.mark.parametrize("case", ASKED)
def test_what_is_doubtful_is_asked_in_one_line_with_a_remedy_that_helps(
    case: str, tmp_path: Path
) -> None:
    column, words, remedy = ASKED[case]
    found = looked(tmp_path, column)
    (problem,) = found.problems
    assert "'v'" in problem.text
    assert words in problem.text
    assert "\n" not in problem.text
    assert remedy in problem.remedy
    assert found.ready is not None
    assert checked(tmp_path / "t.csv", **found.ready).problems == ()


def test_no_value_is_shown_where_numbers_are_written_otherwise(tmp_path: Path) -> None:
    (problem,) = looked(tmp_path, *ASKED["in brackets"][:1]).problems
    assert not any(number in problem.text for number in NUMBERS)


def test_account_numbers_of_a_frame_are_told_apart() -> None:
    frame = BASE.assign(v=[2**60 + i for i in range(N)])
    found = check_table(frame, {**DEFAULTS, "label": "y", "passive": ("v", "c")}, thorough=True)
    assert kind(found) == "id"
    few = BASE.assign(v=[2**60 + i % 4 for i in range(N)])  # as floats they would all be the same
    found = check_table(few, {**DEFAULTS, "label": "y", "passive": ("v", "c")}, thorough=True)
    assert kind(found) == "category"
    amounts = BASE.assign(v=[2**54 * (i % 30) for i in range(N)])
    found = check_table(amounts, {**DEFAULTS, "label": "y", "passive": ("v", "c")}, thorough=True)
    assert kind(found) == "integer"


@pytest.mark.parametrize("line_ends", ["\n", "\r\n", "\r", "mixed"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
@pytest.mark.parametrize("packed", [False, True])
def test_line_ends_marks_and_packing(
    line_ends: str, mark: bytes, packed: bool, tmp_path: Path
) -> None:
    lines = BASE.assign(v=NUMBERS).to_csv(index=False).splitlines()
    ends = ["\n", "\r\n"] if line_ends == "mixed" else [line_ends] * 2
    data = mark + "".join(line + ends[i % 2] for i, line in enumerate(lines)).encode()
    (tmp_path / "t.csv").write_bytes(gzip.compress(data) if packed else data)
    found = checked(tmp_path / "t.csv")
    assert found.problems == ()
    assert [column.name for column in found.columns] == ["a", "b", "c", "y", "v"]
    assert len(found.frame) == N


def test_cells_that_are_not_separated(tmp_path: Path) -> None:
    BASE.to_csv(tmp_path / "t.csv", index=False, sep=" ")
    found = checked(tmp_path / "t.csv")
    assert "one column only, 'a b c y': cells are separated by" in found.problems[0].text


def test_one_row_is_one_row(tmp_path: Path) -> None:
    BASE.iloc[:1].assign(v=1).to_csv(tmp_path / "t.csv", index=False)
    assert checked(tmp_path / "t.csv").problems[0].text.startswith("the table has 1 row:")
