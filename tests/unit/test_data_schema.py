"""Kinds of columns."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from whatleaks.data.schema import KINDS, Column, infer, read

N = 100
RNG = np.random.default_rng(5)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (RNG.normal(size=N), "number"),
        (RNG.integers(0, 9, N), "integer"),
        (RNG.integers(0, 9, N).astype(float), "integer"),
        (RNG.integers(0, 2, N), "boolean"),
        (RNG.integers(0, 2, N).astype(bool), "boolean"),
        ([True, None] * 25 + [False, None] * 25, "boolean"),
        (RNG.choice(["red", "green"], N), "category"),
        (pd.Categorical(RNG.choice(["low", "high"], N)), "category"),
        (pd.date_range("2020-01-01", periods=N), "date"),
        ([str(day.date()) for day in pd.date_range("2020-01-01", periods=N)], "date"),
        ([datetime.date(2020, 1, 1 + i % 28) for i in range(N)], "date"),
        (["2020-01-01", "not a date"] * 50, "category"),
        ([f"note {i} of the day" for i in range(N)], "text"),
        ([["x" * 41, "y" * 41][i % 2] for i in range(N)], "text"),
        ([f"w{i % 51}" for i in range(N)], "text"),
        ([f"w{i % 50}" for i in range(N)], "category"),
        (["same"] * N, "constant"),
        ([3.5] * N, "constant"),
        ([None] * N, "constant"),
        ([np.nan, 2.0] * 50, "constant"),
        ([np.inf, 2.0] * 50, "constant"),
        ([f"K-{i}" for i in range(N)], "id"),
        (RNG.permutation(N) + 1000, "id"),
        ([Decimal(i) / 3 for i in range(N)], "number"),
        (pd.array(RNG.integers(0, 9, N), dtype="Int64"), "integer"),
        ([[i % 3] for i in range(N)], "nested"),
        (pd.to_timedelta(RNG.integers(0, 9, N) / 4, unit="s"), "number"),
    ],
)
def test_kinds(values: object, kind: str) -> None:
    (column,) = infer(pd.DataFrame({"c": values}))
    assert column.kind == kind
    assert kind in KINDS


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("customer_id", "id"),
        ("ID", "id"),
        ("userId", "id"),
        ("income", "integer"),
        ("paid", "integer"),
    ],
)
def test_distinct_integers_are_an_identifier_by_their_name(name: str, kind: str) -> None:
    values = np.arange(N) * 17 % 1009
    assert infer(pd.DataFrame({name: values}))[0].kind == kind


def test_distinct_and_missing_are_counted() -> None:
    frame = pd.DataFrame({"x": [1.5, 1.5, np.nan, 2.5], "w": ["a", None, "b", "b"]})
    assert infer(frame) == (Column("x", "number", 2, 1), Column("w", "category", 2, 1))


def test_words_are_numbered_in_sorted_order_and_ordered_categories_in_theirs() -> None:
    assert read("w", pd.Series(["b", "a", None, "c"])).codes.tolist() == [1, 0, -1, 2]
    sizes = pd.Categorical(["L", "S", "M"], categories=["S", "M", "L"], ordered=True)
    values = read("w", pd.Series(sizes))
    assert values.vocabulary == ("S", "M", "L")
    assert values.codes.tolist() == [2, 0, 1]
    plain = pd.Categorical(["L", "S", "M"], categories=["S", "M", "L"])
    assert read("w", pd.Series(plain)).vocabulary == ("L", "M", "S")


def test_dates_are_seconds() -> None:
    numbers = read("d", pd.Series(["1970-01-02", None, "1970-01-01T00:00:01"])).numbers
    assert numbers is not None
    assert numbers[[0, 2]].tolist() == [86400.0, 1.0]
    assert np.isnan(numbers[1])
