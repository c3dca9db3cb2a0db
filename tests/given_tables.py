"""Random tables with mixed columns, and what a given model says of them once it is folded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from whatleaks.models.adapters.given import GivenModel
from whatleaks.seeds import Streams
from whatleaks.trial.preparing import ready
from whatleaks.trial.ready import Ready
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings

WORDS = ["S", "M", "L", "XL"]
NUMBERS = ["age", "income", "balance"]


def mixed(seed: int, classes: int = 3, rows: int = 120) -> pd.DataFrame:
    """Numbers of several sizes, words, and a column of codes that are no numbers."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "income": rng.lognormal(10, 1, rows),
            "balance": rng.normal(-3e6, 2e6, rows),
            "city": rng.choice(["Aa", "Bb", "Cc"], rows),
            "size": rng.choice(WORDS, rows),
            "branch": rng.choice([3, 7, 41], rows),
            "member": rng.random(rows) < 0.5,
        }
    )
    score = frame.age / 40 + (frame.city == "Bb") + frame.balance / 4e6 + rng.normal(size=rows)
    cuts = np.quantile(score, np.arange(1, classes) / classes)
    labels = np.array(["low", "middle", "high", "top"])[np.digitize(score, cuts)]
    return frame.assign(y=labels)


def numbers(seed: int, classes: int = 3, rows: int = 120) -> pd.DataFrame:
    """The same without words, in single precision's own numbers."""
    frame = mixed(seed, classes, rows)
    return frame[NUMBERS].astype(np.float32).astype(np.float64).assign(y=frame.y)


def prepared(
    given: GivenModel, frame: pd.DataFrame, passive: Sequence[str] = ("income",), **data: Any
) -> Ready:
    """Return what the trial makes of a table and a given model."""
    settings = {"label": "y", "categories": "one-hot", "scale_on": "training", **data}
    scenario = Scenario(
        "table",
        table="x",
        data=Settings(settings),
        passive=(tuple(passive),),
        model=given.core.form,
        given=given.digest(),
    )
    return ready(scenario, frame, Streams(1), given)


def scores(given: GivenModel, frame: pd.DataFrame, **more: Any) -> Any:
    """Return the folded model's scores of every row, and the label's classes."""
    made = prepared(given, frame, **more)
    assert made.given is not None
    return made.given.scores(made.holdings.joined(tuple(made.holdings.columns))), made.classes


def columns(frame: pd.DataFrame) -> list[str]:
    return [str(name) for name in frame.columns if name != "y"]


def farthest(model: Any, given: GivenModel, frame: pd.DataFrame, **more: Any) -> float:
    """Return how far the folded scores are from the library's own, at most."""
    found, classes = scores(given, frame, **more)
    told = model.predict_proba(frame[columns(frame)])
    names = [str(name) for name in model.classes_]
    order = [names.index(name) for name in classes] if set(names) == set(classes) else slice(None)
    return float(np.abs(found - told[:, order]).max())
