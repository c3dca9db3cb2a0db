"""Preparation: exact encodings and scales, the split, and every refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from whatleaks.arrays import is_sealed
from whatleaks.data.preparation import Prepared, prepare, split
from whatleaks.errors import TableError, UsageError, WhatleaksError

N = 40
RNG_COLOURS = np.random.default_rng(2).choice(["red", "green", "blue"], N, p=[0.5, 0.3, 0.2])


def table(**changes: Any) -> pd.DataFrame:
    """A table of 40 rows with two classes, a number, an integer, a boolean and a category."""
    rng = np.random.default_rng(11)
    columns: dict[str, Any] = {
        "age": rng.uniform(20, 60, N),
        "visits": rng.integers(0, 30, N),
        "member": rng.integers(0, 2, N).astype(bool),
        "colour": [["red", "green", "blue"][i % 3] for i in range(N)],
        "y": [["no", "yes"][i % 2] for i in range(N)],
    }
    columns.update(changes)
    return pd.DataFrame(columns)


def prepared(frame: pd.DataFrame, seed: int = 0, **choices: Any) -> Prepared:
    settings = {"label": "y", "passive": ["age", "colour"], **choices}
    return prepare(frame, rng=np.random.default_rng(seed), **settings)


def test_shapes_names_and_owners() -> None:
    done = prepared(table())
    assert done.active.shape == (N, 2)
    assert done.passive.shape == (N, 2)
    assert done.active_columns == ("visits", "member")
    assert done.passive_columns == ("age", "colour")
    assert done.classes == ("no", "yes")
    assert done.labels.tolist() == [i % 2 for i in range(N)]
    assert done.rows.tolist() == list(range(N))
    assert [(c.name, c.kind, c.owner) for c in done.columns] == [
        ("age", "number", "passive"),
        ("visits", "integer", "active"),
        ("member", "boolean", "active"),
        ("colour", "category", "passive"),
        ("y", "category", "label"),
    ]
    for array in (done.active, done.passive, done.labels, done.training, done.targets, done.rows):
        assert is_sealed(array)


def test_the_split_is_stratified_disjoint_and_complete() -> None:
    labels = np.repeat([0, 1, 2], [50, 7, 2])
    training, targets = split(labels, 0.8, np.random.default_rng(3))
    assert sorted([*training, *targets]) == list(range(59))
    assert np.bincount(labels[training]).tolist() == [40, 6, 1]
    again, _ = split(labels, 0.8, np.random.default_rng(3))
    assert again.tolist() == training.tolist()
    other, _ = split(labels, 0.8, np.random.default_rng(4))
    assert other.tolist() != training.tolist()


def test_every_row_of_a_class_trains_equally_often() -> None:
    # n = 2000 splits, 6 of 10 train: each row 1200 times, standard deviation 22.
    rng = np.random.default_rng(9)
    counts = np.zeros(10)
    for _ in range(2000):
        counts[split(np.zeros(10, dtype=np.int64), 0.6, rng)[0]] += 1
    assert np.abs(counts - 1200).max() < 110


def test_scaling_is_fitted_on_the_training_rows_and_clips_nothing() -> None:
    frame = table()
    done = prepared(frame)
    x = frame["age"].to_numpy()
    low, high = x[done.training].min(), x[done.training].max()
    np.testing.assert_allclose(done.passive[:, 0], (x - low) / (high - low), rtol=0, atol=1e-12)
    trained = done.passive[done.training, 0]
    assert (trained.min(), trained.max()) == (0.0, 1.0)


def test_a_target_beyond_the_training_range_keeps_its_value() -> None:
    for seed in range(50):  # the extreme row must be a target: one split in five
        frame = table()
        frame.loc[0, "age"] = 1000.0
        done = prepared(frame, seed)
        if 0 in done.targets:
            assert done.passive[0, 0] > 10.0
            assert prepared(frame, seed, scale_on="all").passive.max() == 1.0
            return
    pytest.fail("row 0 was never a target in 50 splits")


def test_scaling_on_all_rows() -> None:
    frame = table()
    x = frame["age"].to_numpy()
    done = prepared(frame, scale_on="all")
    np.testing.assert_allclose(
        done.passive[:, 0], (x - x.min()) / (x.max() - x.min()), rtol=0, atol=1e-12
    )


def test_ordinal_codes_follow_the_sorted_words() -> None:
    done = prepared(table(), scale_on="all")
    # blue, green, red: 0, 1/2, 1
    assert done.passive[:3, 1].tolist() == [1.0, 0.5, 0.0]


def test_one_hot() -> None:
    done = prepared(table(), categories="one-hot")
    assert done.passive_columns == ("age", "colour=blue", "colour=green", "colour=red")
    assert done.sources["colour=red"] == "colour"
    assert (done.passive[:, 1:].sum(axis=1) == 1.0).all()
    assert done.columns[3].encoded_as == ("colour=blue", "colour=green", "colour=red")
    with pytest.raises(TableError, match="both encoded as 'colour=red'"):
        prepared(table(**{"colour=red": np.arange(N) % 7}), categories="one-hot")


def test_target_mean_uses_the_training_rows_only() -> None:
    frame = table(colour=RNG_COLOURS)
    done = prepared(frame, categories="target-mean")
    words, labels = frame["colour"].to_numpy(), done.labels
    # Slow plain reference.
    means = {}
    for word in set(words):
        known = [labels[i] for i in done.training if words[i] == word]
        means[word] = sum(known) / len(known)
    raw = np.array([means[word] for word in words])
    trained = raw[done.training]
    expected = (raw - trained.min()) / (trained.max() - trained.min())
    np.testing.assert_allclose(done.passive[:, 1], expected, rtol=0, atol=1e-12)


def test_dates_and_text_become_numbers() -> None:
    days = pd.date_range("2024-01-01", periods=N)
    frame = table(age=days, colour=[f"note number {i} {'x' * 40}" for i in range(N)])
    done = prepared(frame, encode_text=True, scale_on="all", categories="one-hot")
    np.testing.assert_allclose(done.passive[:, 0], np.arange(N) / (N - 1), rtol=0, atol=1e-12)
    assert done.passive_columns == ("age", "colour")
    assert sorted(done.passive[:, 1]) == pytest.approx(np.arange(N) / (N - 1), abs=1e-12)


def test_missing_values_by_the_training_median_and_mode() -> None:
    frame = table()
    frame["colour"] = ["red"] * 25 + ["blue"] * 15
    frame.loc[[1, 2], "age"] = [np.nan, np.inf]
    frame.loc[3, "colour"] = None
    done = prepared(frame, missing="median")
    x = frame["age"].to_numpy(copy=True)
    known = [i for i in done.training if i not in (1, 2)]
    x[[1, 2]] = np.median(x[known])
    low, high = x[done.training].min(), x[done.training].max()
    np.testing.assert_allclose(done.passive[:, 0], (x - low) / (high - low), rtol=0, atol=1e-12)
    assert done.passive[3, 1] == done.passive[0, 1]  # the most frequent: red
    assert any("1 infinite values in 'age'" in note for note in done.notes)


def test_rows_with_missing_values_are_left_out() -> None:
    frame = table()
    frame.loc[[1, 5], "age"] = np.nan
    frame.loc[7, "y"] = None
    done = prepared(frame, missing="drop-rows")
    assert done.rows.tolist() == [i for i in range(N) if i not in (1, 5, 7)]
    assert done.active.shape[0] == N - 3
    assert "3 of 40 rows" in done.notes[0]


def test_constant_columns_are_dropped_when_asked() -> None:
    done = prepared(table(plan="basic", empty=None), constant="drop", passive=["age", "plan"])
    assert done.passive_columns == ("age",)
    assert {c.name: c.encoded_as for c in done.columns}["plan"] == ()
    assert "'plan', 'empty'" in done.notes[0]


def test_a_column_alike_in_all_training_rows_is_scaled_on_all() -> None:
    for seed in range(60):
        frame = table(rare=[7.0] + [5.0] * (N - 1))
        done = prepared(frame, seed, passive=["rare"])
        if 0 in done.targets:
            assert done.passive[:, 0].tolist() == [1.0] + [0.0] * (N - 1)
            assert any("'rare'" in note for note in done.notes)
            return
    pytest.fail("row 0 was never a target in 60 splits")


def test_huge_and_tiny_numbers_stay_finite() -> None:
    huge = np.where(np.arange(N) % 2 == 0, -1.7e308, 1.7e308)
    tiny = np.where(np.arange(N) % 3 == 0, 0.0, 5e-324)
    done = prepared(table(age=huge, visits=tiny))
    assert set(done.passive[:, 0]) == {0.0, 1.0}
    assert set(done.active[:, 0]) == {0.0, 1.0}


def test_bins_make_classes_of_a_number() -> None:
    frame = table(y=np.arange(N) * 1.5)
    done = prepared(frame, bins=4)
    assert np.bincount(done.labels).tolist() == [10, 10, 10, 10]
    assert done.classes == ("[0, 14.625)", "[14.625, 29.25)", "[29.25, 43.875)", "[43.875, 58.5]")
    assert (np.diff(done.labels) >= 0).all()
    with pytest.raises(TableError, match="too many equal values"):
        prepared(table(y=[1.0] * N), bins=3)
    with pytest.raises(UsageError, match="bins needs a numeric label"):
        prepared(table(), bins=3)
    with pytest.raises(UsageError, match="bins 1 is too few"):
        prepared(frame, bins=1)


def test_a_regression_target_is_cut_into_quarters_and_kept_as_a_number() -> None:
    done = prepared(table(y=np.arange(N) ** 2 / 7))
    assert np.bincount(done.labels).tolist() == [10, 10, 10, 10]
    assert done.target is not None
    np.testing.assert_allclose(done.target, (np.arange(N) / (N - 1)) ** 2, atol=1e-12)
    assert done.target_range == (0.0, (N - 1) ** 2 / 7)
    assert any("'y' is a number with 40 values" in note for note in done.notes)
    assert prepared(table()).target is None
    mostly_zero = prepared(table(y=[0.0] * 25 + [float(i) for i in range(1, 16)]))
    assert len(mostly_zero.classes) == 2


def test_classes_of_a_numeric_label_are_in_numeric_order() -> None:
    done = prepared(table(y=[[10, 9, 2][i % 3] for i in range(N)]))
    assert done.classes == ("2", "9", "10")
    assert done.labels[:3].tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("changes", "choices", "error", "words"),
    [
        ({}, {"label": "yy"}, UsageError, "label 'yy'.*Did you mean 'y'"),
        ({"y": "same"}, {}, TableError, "'y' has one class"),
        ({"y": [f"w{i}" for i in range(N)]}, {}, TableError, "choose another label"),
        (
            {"y": ["rare"] + ["a", "b"] * 19 + ["a"]},
            {},
            TableError,
            r"fewer than 2 rows \('rare'\)",
        ),
        ({"y": [None] + ["a"] * 20 + ["b"] * 19}, {}, TableError, "label column 'y' has 1 missing"),
        ({}, {"passive": ["agee"]}, UsageError, "passive 'agee'.*Did you mean 'age'"),
        ({}, {"passive": []}, UsageError, "passive is empty"),
        ({}, {"passive": "age"}, UsageError, "passive and drop take a list"),
        ({}, {"passive": ["age", "y"]}, UsageError, "passive names the label 'y'"),
        ({}, {"passive": ["age", "age"]}, UsageError, "passive lists 'age' more than once"),
        (
            {},
            {"passive": ["age", "visits", "member", "colour"]},
            UsageError,
            r"passive covers every feature column \(4\)",
        ),
        (
            {},
            {"passive": ["age", "colour"], "drop": ["visits", "member"]},
            UsageError,
            "passive covers every",
        ),
        ({}, {"drop": ["visit"]}, UsageError, "drop 'visit'.*Did you mean 'visits'"),
        ({}, {"drop": ["age"]}, UsageError, "'age' is listed with passive and with drop"),
        ({}, {"drop": ["y"]}, UsageError, "drop names the label"),
        ({"plan": 1}, {}, TableError, "'plan' holds one value only: use drop_constant=True"),
        ({"age": 1.0, "colour": "x"}, {"constant": "drop"}, TableError, "passive .* is constant"),
        (
            {"note": [f"some words {i}{'x' * 40}" for i in range(N)]},
            {},
            TableError,
            "'note' holds free text.*drop=\\['note'\\] or encode_text=True",
        ),
        (
            {"my id": range(N)},
            {},
            TableError,
            "'my id' looks like an identifier.*drop=\\['my id'\\]",
        ),
        (
            {"age": [np.nan, np.nan] + [1.0, 2.5] * 19},
            {},
            TableError,
            "'age' has 2 missing values of 40: use missing='median' or missing='drop-rows'",
        ),
        (
            {"age": [np.inf, -np.inf] + [1.0, 2.5] * 19},
            {},
            TableError,
            "'age' has 2 infinite values of 40: use missing=",
        ),
        (
            {"age": [np.nan] * 25 + [1.0, 2.5, 3.5] * 5},
            {"missing": "drop-rows"},
            TableError,
            "at least 20",
        ),
        ({}, {"missing": "mean"}, UsageError, "missing 'mean' is unknown.*Did you mean 'median'"),
        ({}, {"categories": "onehot"}, UsageError, "Did you mean 'one-hot'"),
        ({}, {"scale_on": "train"}, UsageError, "Did you mean 'training'"),
        ({}, {"training_fraction": 1.0}, UsageError, "training fraction of 1.0"),
    ],
)
def test_refusals_are_one_line_that_names_the_column_and_the_argument(
    changes: dict[str, Any], choices: dict[str, Any], error: type[WhatleaksError], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        prepared(table(**changes), **choices)
    assert "\n" not in str(caught.value)


def test_small_tables_and_repeated_names_are_refused() -> None:
    with pytest.raises(TableError, match="has 19 rows: an audit needs at least 20"):
        prepared(table()[:19])
    twice = table()
    twice.columns = pd.Index(["age", "age", "member", "colour", "y"])
    with pytest.raises(TableError, match="more than one column 'age'"):
        prepared(twice)


def test_the_table_is_left_as_it_was() -> None:
    frame = table()
    frame.loc[2, "age"] = np.nan
    before = frame.copy()
    prepared(frame, missing="median", categories="one-hot")
    pd.testing.assert_frame_equal(frame, before)
