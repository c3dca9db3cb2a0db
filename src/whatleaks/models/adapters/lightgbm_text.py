"""From LightGBM: its text form, from a file or from a fitted classifier; nothing is unpickled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.errors import UsageError
from whatleaks.models.adapters.given import Boosted, Feature, GivenModel
from whatleaks.models.adapters.naming import matched
from whatleaks.models.adapters.scikit import from_scikit
from whatleaks.models.adapters.tree_nodes import numbered
from whatleaks.models.tree import Tree

_CATEGORY, _ZERO_IS_MISSING = 1, 4  # bits of a node's decision type


def from_lightgbm(model: Any, columns: Sequence[str]) -> GivenModel:
    """Write down a fitted LGBMClassifier, a pipeline that ends with one, or a Booster."""
    if hasattr(model, "model_to_string"):
        return from_text(model.model_to_string(), columns)
    return from_scikit(model, columns, _last)


def _last(model: Any) -> Boosted:
    if not hasattr(model, "predict_proba"):
        raise UsageError(f"{type(model).__name__} does not classify: give a fitted LGBMClassifier")
    return _core(*_parts(model.booster_.model_to_string()))


def from_text(text: str, columns: Sequence[str]) -> GivenModel:
    """Write down a model from LightGBM's text."""
    head, trees = _parts(text)
    core = _core(head, trees)
    names = head["feature_names"].split(" ")
    taken, notes = matched(names, len(names), columns)
    features = tuple(Feature(name) for name in taken)
    return GivenModel("lightgbm Booster", taken, features, core, notes=notes)


def _parts(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Cut the text into the head and the trees, each as its lines ``name=value``."""
    head, *trees = text.partition("end of trees")[0].split("\nTree=")
    return _lines(head), [_lines(tree) for tree in trees]


def _lines(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in text.splitlines())
    return {name: value for name, _, value in pairs}


def _core(head: Mapping[str, str], trees: Sequence[Mapping[str, str]]) -> Boosted:
    objective, *options = head.get("objective", "none").split(" ")
    said = dict(option.partition(":")[::2] for option in options)
    if objective not in ("binary", "multiclass"):
        raise UsageError(
            f"LightGBM's objective {objective} is not supported: use binary or multiclass"
        )
    if "average_output" in head:
        raise UsageError("LightGBM's boosting=rf is not supported yet: use gbdt")
    outputs = int(head["num_tree_per_iteration"])
    slope = float(said.get("sigmoid", 1.0)) if objective == "binary" else 1.0
    count = int(head["max_feature_idx"]) + 1
    return Boosted(
        tuple(_tree(tree, count, slope) for tree in trees),
        tuple(i % outputs for i in range(len(trees))),
        sealed(np.zeros(outputs)),
    )


def _tree(tree: Mapping[str, str], columns: int, slope: float) -> Tree:
    """Put the leaves, which LightGBM numbers apart as -1, -2, ..., behind the inner nodes."""
    weights = slope * _numbers(tree["leaf_value"])
    if tree.get("is_linear", "0") != "0":
        raise UsageError("LightGBM's linear trees are not supported yet")
    feature = _numbers(tree.get("split_feature", "")).astype(np.int64)
    inner, leaves = len(feature), len(weights)
    kinds = _numbers(tree.get("decision_type", "")).astype(np.int64)
    if (kinds & _CATEGORY).any():
        raise UsageError(
            "LightGBM's splits by category are not supported yet: encode the column before"
        )
    if (kinds & _ZERO_IS_MISSING).any():
        raise UsageError("LightGBM with zero_as_missing is not supported yet")
    left, right = (
        np.where(child < 0, inner + ~child, child)
        for child in (
            _numbers(tree.get(side, "")).astype(np.int64) for side in ("left_child", "right_child")
        )
    )
    none = np.full(leaves, -1)
    return numbered(
        np.concatenate([feature, none]),
        np.concatenate([_numbers(tree.get("threshold", "")), np.zeros(leaves)]),
        np.concatenate([left, none]),
        np.concatenate([right, none]),
        np.concatenate([np.zeros(inner), weights])[:, None],
        columns,
    )


def _numbers(text: str) -> Any:
    return np.array(text.split(), dtype=np.float64)
