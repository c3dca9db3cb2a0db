"""What the stage shows an attack: the adversary's own columns, the release, and no passive value."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest

from whatleaks.catalog import card
from whatleaks.trial import trial
from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.stage import Stage


def stage_of(model: str, threat: str, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Run a trial and catch the stage on which it lets attacks loose."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((80, 6)), columns=list("abcdef"))
    frame["y"] = (frame["a"] + frame["d"] > 1).astype(int)
    caught: list[Stage] = []
    real = trial._guess

    def catching(scenario: Any, parts: Any, stage: Stage, *others: Any) -> Any:
        caught.append(stage)
        return real(scenario, parts, stage, *others)

    monkeypatch.setattr(trial, "_guess", catching)
    scenario = Scenario(
        "mine",
        table="here",
        data=Settings({"label": "y"}),
        passive=(("d", "e", "f"),),
        model=model,
        threat=threat,
        targets=10,
        references=(),
    )
    assert plan(scenario).threat is card("threat", threat).part
    trial.run_trial(scenario, frame)
    return caught[0]


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
def test_a_view_holds_the_own_columns_and_no_passive_value(
    model: str, threat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = stage_of(model, threat, monkeypatch)
    view = stage.view(stage.rows.targets)
    np.testing.assert_array_equal(view.own, stage.holdings.columns["active"][stage.rows.targets])
    secret = np.unique(stage.holdings.columns["passive"])
    arrays = [getattr(view, f.name) for f in fields(view)]
    for array in (a for a in arrays if isinstance(a, np.ndarray) and a.dtype == np.float64):
        shown = array[(array != 0.0) & (array != 1.0)]  # classes, and the ends of every scale
        assert not np.isin(shown, secret).any()
