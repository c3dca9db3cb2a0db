"""From XGBoost: its JSON form, from a file or from a fitted classifier; nothing is unpickled.

A record goes left where its value, rounded to single precision, lies below the threshold.
XGBoost adds up in single precision, we in double: scores agree to about 1e-7.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import log
from typing import Any

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.errors import UsageError
from whatleaks.models.adapters.given import Boosted, Feature, GivenModel
from whatleaks.models.adapters.naming import matched
from whatleaks.models.adapters.scikit import from_scikit
from whatleaks.models.adapters.tree_nodes import numbered
from whatleaks.models.tree import Tree, double_borders

OBJECTIVES = ("binary:logistic", "multi:softprob", "multi:softmax")


def from_xgboost(model: Any, columns: Sequence[str]) -> GivenModel:
    """Write down a fitted XGBClassifier, a pipeline that ends with one, or a Booster."""
    if hasattr(model, "save_raw"):
        return from_json(json.loads(bytes(model.save_raw("json"))), columns)
    _refuse_sparse(model)
    return from_scikit(model, columns, _last)


def _refuse_sparse(model: Any) -> None:
    """Refuse a sparse table in front: XGBoost takes every zero in it for a gap."""
    for _, step in getattr(model, "steps", [])[:-1]:
        encoder = type(step).__name__ == "OneHotEncoder" and step.sparse_output
        if encoder or getattr(step, "sparse_output_", False):
            raise UsageError(
                f"XGBoost reads zeros as gaps behind a {type(step).__name__} that gives a sparse table, which an "
                "audit does not: use sparse_output=False or sparse_threshold=0"
            )


def _last(model: Any) -> Boosted:
    if not hasattr(model, "predict_proba"):
        raise UsageError(f"{type(model).__name__} does not classify: give a fitted XGBClassifier")
    if model.missing is not None and model.missing == model.missing:
        raise UsageError(f"XGBoost with missing={model.missing} is not supported: use NaN for gaps")
    return _core(json.loads(bytes(model.get_booster().save_raw("json"))))


def from_json(tree: Mapping[str, Any], columns: Sequence[str]) -> GivenModel:
    """Write down a model from XGBoost's JSON."""
    learner = tree["learner"]
    core = _core(tree)
    names = [str(name) for name in learner.get("feature_names", [])] or None
    count = int(learner["learner_model_param"]["num_feature"])
    taken, notes = matched(names, count, columns)
    features = tuple(Feature(name) for name in taken)
    return GivenModel("xgboost Booster", taken, features, core, notes=(*notes, *_early(tree, core)))


def _early(tree: Mapping[str, Any], core: Boosted) -> tuple[str, ...]:
    """Say that only the best rounds count: a Booster by itself would predict with all."""
    grown = len(tree["learner"]["gradient_booster"]["model"]["trees"])
    if len(core.trees) == grown:
        return ()
    return (
        f"Training stopped early: the best {len(core.trees)} of {grown} trees are audited, as "
        "XGBClassifier predicts; Booster.predict would use all.",
    )


def _core(tree: Mapping[str, Any]) -> Boosted:
    learner = tree["learner"]
    objective, booster = learner["objective"]["name"], learner["gradient_booster"]
    if objective not in OBJECTIVES:
        raise UsageError(f"XGBoost's objective {objective} does not classify with scores")
    if booster["name"] != "gbtree":
        raise UsageError(f"XGBoost's booster {booster['name']} is not supported yet: use gbtree")
    held = learner["learner_model_param"]
    outputs = max(1, int(held["num_class"]))
    base = np.array(json.loads(f"[{held['base_score'].strip('[]')}]"), dtype=np.float64)
    if outputs == 1:
        base = np.array([log(base[0]) - log(1.0 - base[0])])
    base = np.broadcast_to(base, (outputs,))
    trees, info = booster["model"]["trees"], booster["model"]["tree_info"]
    best = learner.get("attributes", {}).get("best_iteration")
    if best is not None:  # early stopping: predictions use the best rounds only
        used = int(booster["model"]["iteration_indptr"][int(best) + 1])
        trees, info = trees[:used], info[:used]
    count = int(held["num_feature"])
    return Boosted(tuple(_tree(one, count) for one in trees), tuple(map(int, info)), sealed(base))


def _tree(tree: Mapping[str, Any], columns: int) -> Tree:
    if any(tree.get("split_type", ())):
        raise UsageError(
            "XGBoost's splits by category are not supported yet: encode the column before"
        )
    if int(tree["tree_param"].get("size_leaf_vector", 1)) > 1:
        raise UsageError("XGBoost's trees with several outputs are not supported yet")
    left = np.array(tree["left_children"])
    conditions = np.array(tree["split_conditions"], dtype=np.float32)
    below = np.nextafter(conditions, np.float32(-np.inf))  # the largest single that goes left
    return numbered(
        np.where(left < 0, -1, tree["split_indices"]),
        double_borders(below.astype(np.float64)),
        left,
        tree["right_children"],
        conditions.astype(np.float64)[:, None],
        columns,
    )
