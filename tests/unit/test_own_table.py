"""A party's own file: every decimal is read as the nearest double, without a warning."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from whatleaks.federation.processes.own_table import _exactly, read_table


def test_numbers_are_read_back_to_the_last_bit_without_a_warning(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2000, 2)) * 10.0 ** rng.integers(-200, 200, (2000, 2))
    rows = "\n".join(f"{a!r},{b!r}" for a, b in values.tolist())
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n{rows}\n")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*float_precision.*")
        found = read_table(path, None, None)
    assert np.array_equal(found.x, values)


def test_only_a_pandas_that_rounds_is_asked_not_to() -> None:
    asked = {"float_precision": "round_trip"}
    assert [_exactly(v) for v in ("2.2.3", "3.0.1")] == [asked, asked]
    assert [_exactly(v) for v in ("3.1.0", "3.1.1", "4.0.0rc1")] == [{}, {}, {}]
