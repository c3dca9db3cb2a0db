"""Random small tables are thrown at the whole audit: a clear refusal or a result, never anything else."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import whatleaks
from whatleaks.errors import WhatleaksError


def column(kind: str, rows: int, rng: np.random.Generator) -> object:
    """Return one column of a kind that real tables have."""
    if kind == "number":
        return rng.normal(size=rows) * 10.0 ** rng.integers(-3, 6)
    if kind == "whole":
        return rng.integers(0, int(rng.integers(2, 40)), rows)
    if kind == "flag":
        return rng.random(rows) < 0.3
    if kind == "word":
        return rng.choice(["a", "b", "ü", "long word", "<b>"], rows)
    if kind == "constant":
        return np.full(rows, 4.0)
    if kind == "holes":
        values = rng.normal(size=rows)
        values[rng.random(rows) < 0.1] = np.nan
        return values
    values = rng.normal(size=rows)
    values[0] = np.inf
    return values


KINDS = ["number", "whole", "flag", "word", "constant", "holes", "infinite"]
usual = st.sampled_from(["number", "number", "whole", "flag", "word"])


def numbers(tree: object) -> list[float]:
    """Collect every float of a result."""
    if isinstance(tree, dict):
        return [n for value in tree.values() for n in numbers(value)]
    if isinstance(tree, list | tuple):
        return [n for value in tree for n in numbers(value)]
    return [tree] if isinstance(tree, float) else []


@given(
    rows=st.integers(1, 70),
    kinds=st.lists(usual | st.sampled_from(KINDS), min_size=1, max_size=5),
    classes=st.integers(1, 4),
    passive=st.integers(0, 5),
    model=st.sampled_from(["lr", "network", "tree"]),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_any_table(rows, kinds, classes, passive, model, seed) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"c{i} {kind}": column(kind, rows, rng) for i, kind in enumerate(kinds)})
    frame["label"] = rng.integers(0, classes, rows)
    said = ""
    try:
        report = whatleaks.audit(
            frame,
            label="label",
            passive=list(frame.columns[:passive]),
            model=model,
            quick=True,
            targets=15,
            inversion_steps=5,
            hidden=(3,),
            missing="median",
            drop_constant=True,
        )
    except WhatleaksError as refused:
        said = str(refused)
    if said:
        assert all(len(line) > 10 for line in said.splitlines())  # one line for each problem
        return
    tree = report.result.to_dict()
    json.dumps(tree, allow_nan=False)
    assert all(math.isfinite(number) for number in numbers(tree))
    for threat in report.result.threats:
        for finding in threat.findings:
            assert len(finding.columns) >= 1
            assert 0.0 <= finding.leakage.value <= 1.0
    assert "What leaks" in report.summary()
