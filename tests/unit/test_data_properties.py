"""Whatever the table: a Prepared that keeps its promises, or one line for the user."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import event, given, settings
from hypothesis import strategies as st

from whatleaks.arrays import is_sealed
from whatleaks.data.preparation import prepare
from whatleaks.data.problems import holes
from whatleaks.data.schema import KINDS, infer, read
from whatleaks.data.table import from_frame
from whatleaks.errors import WhatleaksError

NAMES = st.text(min_size=1, max_size=6)
CELLS = {
    "floats": st.floats(-1e6, 1e6),
    "wild floats": st.floats(allow_nan=True, allow_infinity=True),
    "integers": st.integers(-(2**63), 2**63 - 1),
    "small integers": st.integers(0, 3),
    "booleans": st.booleans(),
    "words": st.sampled_from(["a", "b", "ü", "", "NA"]),
    "gaps": st.sampled_from(["a", "b", None]),
    "text": st.text(max_size=60),
    "dates": st.dates(datetime.date(1600, 1, 1)),
    "times": st.datetimes(),
    "constant": st.just(7),
    "nothing": st.none(),
    "mixed": st.one_of(st.integers(), st.text(max_size=3), st.none(), st.floats(), st.booleans()),
    "lists": st.lists(st.integers(0, 2), max_size=2),
    "complex": st.complex_numbers(allow_nan=True),
}


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Random tables: mostly sound, with odd columns mixed in."""
    rows = draw(st.integers(18, 45))
    names = draw(st.lists(NAMES, min_size=2, max_size=6, unique=True))
    sound = ["floats", "small integers", "booleans", "words"]
    kinds = [*sound * draw(st.sampled_from([1, 20])), *CELLS]
    columns: dict[str, Any] = {}
    for name in names:
        cells = CELLS[draw(st.sampled_from(kinds))]
        columns[name] = draw(st.lists(cells, min_size=rows, max_size=rows))
    label = draw(st.sampled_from(["booleans", "small integers", "words"] * 3 + ["floats", "text"]))
    values = draw(st.lists(CELLS[label], min_size=rows, max_size=rows))
    return pd.DataFrame({**columns, "label": values})


CHOICES = st.fixed_dictionaries(
    {
        "missing": st.sampled_from(["refuse", "median", "drop-rows"]),
        "categories": st.sampled_from(["ordinal", "one-hot", "target-mean"]),
        "constant": st.sampled_from(["refuse", "drop"]),
        "encode_text": st.booleans(),
        "scale_on": st.sampled_from(["training", "all"]),
        "training_fraction": st.floats(0.05, 0.95),
        "bins": st.sampled_from([None, None, 2, 3]),
    }
)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(frame=tables(), data=st.data(), choices=CHOICES, seed=st.integers(0, 2**32))
def test_any_table(frame: pd.DataFrame, data: st.DataObject, choices: Any, seed: int) -> None:
    features = [name for name in frame if name != "label"]
    passive = data.draw(st.lists(st.sampled_from(features), min_size=1, max_size=3, unique=True))
    try:
        table = from_frame(frame)
        done = prepare(table, "label", passive, rng=np.random.default_rng(seed), **choices)
    except WhatleaksError as error:
        refusal = str(error)
    else:
        refusal = ""
    event("refused" if refusal else "prepared")
    if refusal:
        assert len(refusal.splitlines()) == 1
        return
    rows = len(done.rows)
    assert done.active.shape == (rows, len(done.active_columns))
    assert done.passive.shape == (rows, len(done.passive_columns))
    assert done.labels.shape == (rows,)
    for values in (done.active, done.passive):
        assert values.shape[1] >= 1
        assert np.isfinite(values).all()
        fitted = values if choices["scale_on"] == "all" else values[done.training]
        assert fitted.min() >= 0.0
        assert fitted.max() <= 1.0
        assert is_sealed(values)
    assert sorted([*done.training, *done.targets]) == list(range(rows))
    classes = set(range(len(done.classes)))
    assert set(done.labels[done.training]) == set(done.labels[done.targets]) == classes
    # Every passive column is encoded, or constant and left out.
    card = {column.name: column for column in done.columns}
    for name in passive:
        assert card[name].owner == "passive"
        assert card[name].encoded_as or card[name].kind == "constant"
        assert set(card[name].encoded_as) <= set(done.passive_columns)
    assert {done.sources[column] for column in done.passive_columns} <= set(passive)
    assert not {done.sources[column] for column in done.active_columns} & set(passive)
    if choices["missing"] != "drop-rows":
        gaps, infinite = holes(read("label", table["label"]))
        assert rows == len(frame) - (gaps | infinite).sum()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(frame=tables())
def test_every_column_has_a_kind(frame: pd.DataFrame) -> None:
    for column, name in zip(infer(frame), frame, strict=True):
        assert column.name == name
        assert column.kind in KINDS
        assert 0 <= column.missing <= len(frame)
        assert column.distinct <= len(frame) - column.missing
