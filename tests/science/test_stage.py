"""What the stage shows an attack: the adversary's own columns, the release, and no passive value."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest

from whatleaks.auditor.prediction_unit import PredictionWorld, build_federation
from whatleaks.auditor.spec import AuditSpec
from whatleaks.auditor.stage import choose_rows
from whatleaks.auditor.tree_unit import TreeWorld, grow
from whatleaks.data.preparation import prepare
from whatleaks.seeds import Streams


def world(model: str) -> Any:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((80, 6)), columns=list("abcdef"))
    frame["y"] = (frame["a"] + frame["d"] > 1).astype(int)
    streams = Streams(0)
    prepared = prepare(frame, "y", ["d", "e", "f"], rng=streams.rng("split"))
    rows = choose_rows(prepared, 10, streams.rng("targets"))
    spec = AuditSpec("y", ("d", "e", "f"), model=model)
    if model in ("tree", "forest"):
        trees = grow(prepared, prepared.passive, rows, spec, streams)
        return TreeWorld(prepared, streams, rows, trees, spec, 0)
    federation = build_federation(prepared, spec, streams)
    federation.train(rows.training)
    return PredictionWorld(prepared, streams, rows, federation)


@pytest.mark.parametrize(
    ("model", "threat"),
    [
        ("lr", "white-box"),
        ("lr", "black-box"),
        ("lr", "agnostic"),
        ("tree", "white-box-tree"),
        ("forest", "white-box-forest"),
    ],
)
def test_a_view_holds_the_own_columns_and_no_passive_value(model: str, threat: str) -> None:
    stage = world(model)
    view = stage.view(threat, stage.rows.targets)
    np.testing.assert_array_equal(view.own, stage.prepared.active[stage.rows.targets])
    secret = np.unique(stage.prepared.passive)
    arrays = [getattr(view, f.name) for f in fields(view)]
    for array in (a for a in arrays if isinstance(a, np.ndarray) and a.dtype == np.float64):
        shown = array[(array != 0.0) & (array != 1.0)]  # classes, and the ends of every scale
        assert not np.isin(shown, secret).any()
