"""SecureBoost loses nothing: on real sets, against the clear booster and against xgboost."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from whatleaks.arrays import Floats, Ints
from whatleaks.codec import encode
from whatleaks.data import load
from whatleaks.errors import DataError
from whatleaks.federation.boost.run import predict_scores, run
from whatleaks.federation.boost.settings import SecureBoostSettings
from whatleaks.models.boosted_trees import BoostSettings, train_joined
from whatleaks.models.candidate_splits import fit_bins
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel

HOME = Path(
    os.environ.get("WHATLEAKS_DATA") or Path(__file__).parents[2].parent / "shared" / "data"
)
# Name, records used (None: all), columns of the active party and of the first passive one.
SETS: dict[str, tuple[int | None, int, int]] = {
    "breast-cancer": (None, 10, 10),
    "iris": (None, 1, 1),
    "statlog-vehicle": (None, 6, 6),
    "credit-card-default": (1500, 8, 8),
}


@cache
def real(name: str, all_records: bool = False) -> tuple[Floats, Ints]:
    try:
        data = load(name, HOME if HOME.is_dir() else None)
    except DataError:
        pytest.skip(f"{name} is not here: set WHATLEAKS_DATA to the folder with the data sets")
    frame = data.frame if all_records else data.frame.iloc[: SETS[name][0]]
    x = frame.drop(columns=data.label).to_numpy(dtype=np.float64)
    return x, np.unique(frame[data.label].to_numpy(), return_inverse=True)[1].astype(np.int64)


@pytest.mark.parametrize("name", SETS)
def test_the_same_trees_as_in_the_clear_split_for_split(name: str) -> None:
    x, labels = real(name)
    _, first, second = SETS[name]
    parts = np.split(x, [first, first + second], axis=1)
    boost = BoostSettings(rounds=2)
    settings = SecureBoostSettings(
        boost, backend="okamoto-uchiyama", key_bits=960, insecure_test_key=True
    )
    secure = run(parts[0], parts[1:], labels, settings, Streams(1), Channel())
    plain = train_joined(parts, labels, boost, Streams(1))
    assert encode(secure.model) == encode(plain)  # columns, bins, thresholds, sides and weights
    assert max(len(owned.column) for owned in secure.owned[1:]) > 0
    scores = predict_scores(secure, parts[0], parts[1:], Channel())
    np.testing.assert_array_equal(scores, plain.scores(x))


def auc(labels: Ints, scores: Floats) -> float:
    if scores.shape[1] == 2:
        return float(roc_auc_score(labels, scores[:, 1]))
    return float(roc_auc_score(labels, scores, multi_class="ovr"))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_the_area_under_the_curve_is_that_of_xgboost(name: str, gaps: float) -> None:
    xgboost: Any = pytest.importorskip(
        "xgboost", reason="xgboost is not here: pip install xgboost-cpu"
    )
    x, labels = real(name, all_records=True)
    rng = np.random.default_rng(0)
    x = np.where(rng.random(x.shape) < gaps, np.nan, x)
    order = rng.permutation(len(x))
    train, test = order[: 2 * len(x) // 3], order[2 * len(x) // 3 :]
    boost = BoostSettings(rounds=10, max_depth=3)
    model = train_joined([x[train]], labels[train], boost, Streams(0))
    # The same bins: xgboost sees our codes, and has room for every one of them.
    bins = fit_bins(x[train], boost.max_bin)
    codes = np.where(np.isnan(x), np.nan, bins.codes(x))
    classes = int(labels.max()) + 1
    settings: dict[str, Any] = {
        "objective": "binary:logistic" if classes == 2 else "multi:softprob",
        "tree_method": "hist",
        "max_bin": 256,
        "max_depth": boost.max_depth,
        "eta": boost.learning_rate,
        "lambda": boost.reg_lambda,
        "min_child_weight": boost.min_child_weight,
        "base_score": 0.5,
        "nthread": 1,
    }
    if classes > 2:
        settings["num_class"] = classes
    booster = xgboost.train(
        settings, xgboost.DMatrix(codes[train], label=labels[train]), boost.rounds
    )
    theirs = booster.predict(xgboost.DMatrix(codes)).reshape(len(x), -1)
    theirs = np.concatenate([1 - theirs, theirs], axis=1) if classes == 2 else theirs
    theirs = theirs.astype(np.float64) / theirs.sum(axis=1, keepdims=True, dtype=np.float64)
    for rows in (train, test):
        ours = auc(labels[rows], model.scores(x[rows]))
        print(f"{name} gaps {gaps}: ours {ours:.5f}, xgboost {auc(labels[rows], theirs[rows]):.5f}")
        assert abs(ours - auc(labels[rows], theirs[rows])) <= 0.002
