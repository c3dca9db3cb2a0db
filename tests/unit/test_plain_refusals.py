"""What cannot be meant is refused in one line that names the argument."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sample_audit import low_case

import whatleaks
from whatleaks.api import AuditReport
from whatleaks.auditor.precheck import precheck
from whatleaks.auditor.spec import AuditSpec
from whatleaks.data.sources import open_source
from whatleaks.errors import UsageError, WhatleaksError, speak_of_flags


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    made = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    return made.assign(y=(made["a"] + made["b"] > 0).astype(int))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seeds": "3"}, "seeds must be a whole number, got '3'"),
        ({"seeds": 2.5}, "seeds must be a whole number, got 2.5"),
        ({"seeds": True}, "seeds must be a whole number, got True"),
        ({"targets": None}, "targets must be a whole number, got None"),
        ({"known": "many"}, "known must be a whole number, got 'many'"),
        ({"bins": "3"}, "bins must be a whole number, got '3'"),
        ({"hidden": 5, "model": "network"}, "hidden must be a list of whole numbers, got 5"),
        ({"hidden": ["a"], "model": "network"}, "hidden must be a whole number, got 'a'"),
        ({"threats": 5}, "threats must be a list of names, got 5"),
        ({"passive": None}, "passive must be a list of column names, got None"),
        ({"workers": "2"}, "workers must be a whole number, got '2'"),
    ],
)
def test_an_audit_refuses_what_is_no_number_or_list(options: dict[str, Any], said: str) -> None:
    asked = {"passive": ["b"], "threats": "agnostic", **options}
    with pytest.raises(UsageError) as refused:
        whatleaks.audit(frame(), label="y", **asked)
    assert str(refused.value) == said


def test_numbers_of_numpy_are_whole_numbers() -> None:
    spec = AuditSpec("y", ("b",), seeds=np.int64(2), threats=("agnostic",))
    assert type(spec.seeds) is int


@pytest.mark.parametrize("values", [[[1, 2]] * 60, [{"x": 1}] * 60, [1 + 2j] * 60, [(1, 2)] * 60])
@pytest.mark.parametrize("column", ["b", "c"])
def test_columns_of_lists_and_complex_numbers_get_one_line(column: str, values: list[Any]) -> None:
    given = frame().assign(**{column: values})
    with pytest.raises(WhatleaksError) as refused:
        whatleaks.audit(given, label="y", passive=["b"], threats="agnostic")
    first, *more = str(refused.value).splitlines()
    assert first.startswith(f"column {column!r} holds lists or records (or complex numbers)")
    assert all(line.startswith("This would run: ") for line in more)


def test_a_folder_is_no_file_to_write(tmp_path: Path) -> None:
    report = AuditReport(low_case())
    for write in (report.to_html, report.to_json):
        for path in (".", tmp_path):
            with pytest.raises(UsageError, match=r"is a folder: give the name of a file to write$"):
                write(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("protocol", "setting", "said"),
    [
        ("linear", {"own": "a", "partner": 3, "batch": 4}, "own must be a whole number, got 'a'"),
        ("linear", {"own": 2.5, "partner": 3, "batch": 4}, "own must be a whole number, got 2.5"),
        ("boost", {"width": float("nan")}, "width must be a positive number, got nan"),
        ("boost", {"epsilon": float("inf")}, "epsilon must be a positive number, got inf"),
        ("boost", {"epsilon": "x"}, "epsilon must be a positive number, got 'x'"),
        ("linear", {"own": 1, "partner": 1, "batch": 1, "queries": 3},
         "queries must be True or False, got 3"),
        ("linear", {"own": 1, "partner": 1, "batch": 1, "optimiser": 1},
         "optimiser 1 is unknown: use sgd or adam"),
        ("scores", {"partner": 1, "classes": 2, "levels": "abc"},
         "levels must be a list of whole numbers, got 'abc'"),
    ],
)  # fmt: skip
def test_a_precheck_refuses_what_is_no_size(
    protocol: str, setting: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        precheck(protocol, **setting)
    assert str(refused.value) == said


def test_a_table_that_cannot_be_opened_is_named_by_its_flag(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    frame().to_csv(table, index=False)
    speak_of_flags({"home": "data-home"})
    try:
        with pytest.raises(UsageError, match=r"^--label 'nope' is no column of the table\."):
            open_source(str(table), "nope")
        with pytest.raises(UsageError, match=r"^--data-home .* is not a folder$"):
            open_source(str(table), "y", ["b"], data_home=tmp_path / "nope")
    finally:
        speak_of_flags(None)
