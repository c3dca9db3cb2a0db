"""From ONNX: a graph of scalers, encoders and layers or trees, as common converters write them.

The graph is walked once with symbols instead of numbers, as a pipeline is. Values are a list of
inputs, then layers, then scores. Behind the scores only what names or renumbers them may follow.
Converters write single precision, so scores agree with the original to about 1e-6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.errors import UsageError
from whatleaks.extras import lacking
from whatleaks.models.adapters.beside_original import PEOPLE, People, refuse_another
from whatleaks.models.adapters.given import (
    Boosted,
    Coding,
    Core,
    Feature,
    GivenModel,
    Votes,
    word_of,
)
from whatleaks.models.adapters.naming import matched
from whatleaks.models.adapters.scikit import Front, dense
from whatleaks.models.adapters.tree_nodes import numbered
from whatleaks.models.tree import Tree, double_borders

_AFTER = (  # what may follow the scores: it names the likeliest class or the columns
    "ArgMax",
    "ArrayFeatureExtractor",
    "Cast",
    "Concat",
    "Identity",
    "Normalizer",
    "Reshape",
    "Sub",
    "ZipMap",
)
_SAME = ("Cast", "Flatten", "Identity", "Reshape", "Dropout")


@dataclass(frozen=True)
class _Layers:
    """Layers so far; ``ends`` is the activation behind the last one, empty if there is none."""

    features: tuple[Feature, ...]
    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]
    activations: tuple[str, ...] = ()
    ends: str = ""


@dataclass(frozen=True)
class _Scores:
    features: tuple[Feature, ...]
    core: Core


@dataclass
class _Walk:
    """The values of a graph by name."""

    values: dict[str, Any]  # tuples of features, _Layers, _Scores
    constants: dict[str, Any]
    front: Front = field(default_factory=Front)
    classes: tuple[str, ...] = ()


def from_onnx(data: bytes, columns: Sequence[str]) -> GivenModel:
    """Write down a classifier from the bytes of an ONNX file."""
    try:
        import onnx
        from google.protobuf.message import DecodeError
        from onnx.helper import tensor_dtype_to_np_dtype
    except ImportError:
        raise lacking("an ONNX file", "models") from None
    try:
        model = onnx.load_model_from_string(data)
    except DecodeError:
        raise ValueError("no ONNX") from None
    graph = model.graph
    constants = {one.name: _array(one) for one in graph.initializer}
    inputs = [one for one in graph.input if one.name not in constants]
    widths = [_width(one) for one in inputs]
    names = [one.name for one in inputs] if len(inputs) > 1 else None
    if names is not None and set(widths) != {1}:
        raise UsageError("the graph needs one input for all columns, or one for each")
    count = len(inputs) if names is not None else widths[0] or len(columns)
    taken, notes = matched(names, count, columns)
    doubles = any(one.type.tensor_type.elem_type == onnx.TensorProto.DOUBLE for one in inputs)
    features = tuple(Feature(name, single=not doubles) for name in taken)
    given = [(feature,) for feature in features] if names is not None else [features]
    held = {one.name: value for one, value in zip(inputs, given, strict=True)}
    walk = _Walk(held, constants)
    for node in graph.node:
        _step(walk, node)
    ends = [value for value in walk.values.values() if isinstance(value, _Scores)]
    ends = ends or [_linked(v) for v in list(walk.values.values())[-1:] if isinstance(v, _Layers)]
    if not ends:
        raise UsageError("the graph ends without scores of classes: give a classifier")
    done = ends[-1]
    walk.front.refuse_mixed(done.features)
    found = GivenModel(
        "ONNX graph",
        taken,
        done.features,
        done.core,
        tuple(walk.front.codings.values()),
        walk.classes,
        notes,
        tuple(walk.front.fills.items()),
    )
    kinds = {one.name: tensor_dtype_to_np_dtype(one.type.tensor_type.elem_type) for one in inputs}
    whole = [name for name in taken if kinds.get(name, kinds[inputs[0].name]).kind == "i"]
    refuse_another(found, lambda people: _asked(model, kinds, found, people), whole)
    return found


def _asked(model: Any, kinds: Mapping[str, Any], given: GivenModel, people: People) -> list[Any]:
    """Let the standard's own reference run the graph on people; return its outputs of numbers.

    ``kinds`` are the inputs' types by name: one input for each column, or one for all.
    """
    from onnx.reference import ReferenceEvaluator

    words = {coding.column: np.array(coding.words, dtype=object) for coding in given.codings}
    cells = [
        words[name][people[name]] if name in words else people.get(name, np.zeros(PEOPLE))
        for name in given.columns
    ]
    fed = [np.stack(cells, axis=1)] if len(kinds) == 1 else [one[:, None] for one in cells]
    feed = {
        name: values.astype(kind) for (name, kind), values in zip(kinds.items(), fed, strict=True)
    }
    with np.errstate(all="ignore"):
        answers = ReferenceEvaluator(model).run(None, feed)
    return [
        [list(one.values()) for one in answer] if isinstance(answer, list) else answer
        for answer in answers
        if isinstance(answer, list) or np.asarray(answer).dtype.kind == "f"
    ]


def _array(tensor: Any) -> Any:
    from onnx import TensorProto, numpy_helper

    if tensor.data_location == TensorProto.EXTERNAL:
        raise UsageError("the graph keeps numbers in another file: save it as one file")
    return numpy_helper.to_array(tensor)


def _width(value: Any) -> int:
    sizes = [size.dim_value for size in value.type.tensor_type.shape.dim]
    return int(sizes[1]) if len(sizes) == 2 else 0


def _attributes(node: Any) -> dict[str, Any]:
    from onnx import TensorProto, helper

    found = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    return {
        name: _array(value) if isinstance(value, TensorProto) else value
        for name, value in found.items()
    }


def _step(walk: _Walk, node: Any) -> None:
    """Follow one node: constants stay constants, everything else is worked out."""
    kind, said = node.op_type, _attributes(node)
    if kind == "Constant":
        walk.constants[node.output[0]] = np.asarray(next(iter(said.values())))
        return
    values = [walk.values.get(name) for name in node.input]
    constants = [walk.constants.get(name) for name in node.input]
    if any(isinstance(value, _Scores) for value in values) or (
        kind in _AFTER and not any(values) and not _has_numbers(kind, constants)
    ):
        if kind not in _AFTER:
            raise UsageError(f"the graph's node {kind} behind the scores is not supported yet")
        if kind == "ArrayFeatureExtractor" and constants[0] is not None:
            walk.classes = tuple(word_of(name) for name in np.ravel(constants[0]).tolist())
        return
    first = next((value for value in values if value is not None), None)
    if first is None:
        if kind in _SAME and constants[0] is not None:
            walk.constants[node.output[0]] = constants[0]
            return
        raise UsageError(f"the graph's node {kind} is not supported yet")
    number = next((np.asarray(c, np.float64) for c in constants if _is_number(c)), None)
    if kind in _SAME:
        found = first
    elif isinstance(first, _Layers):
        # A sigmoid on one output is the score itself, unless another layer follows.
        if kind in ("Sub", "Concat") and first.ends == "sigmoid":
            walk.values[node.output[0]] = _linked(first)
            return
        found = _on_layers(kind, first, number, constants, said)
    else:
        found = _on_features(walk, kind, values, number, constants, said)
    place = 1 if isinstance(found, _Scores) and len(node.output) > 1 else 0
    walk.values[node.output[place]] = found


def _has_numbers(kind: str, constants: Sequence[Any]) -> bool:
    return kind in _SAME and constants[0] is not None


def _is_number(constant: Any) -> bool:
    return constant is not None and np.asarray(constant).dtype.kind in "fiu"


def _on_layers(
    kind: str, layers: _Layers, number: Any, constants: Sequence[Any], said: dict[str, Any]
) -> Any:
    activation = {"Relu": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid"}.get(kind)
    if activation is not None and not layers.ends:
        return replace(layers, ends=activation)
    if kind == "Add" and number is not None and not layers.ends:
        return replace(layers, biases=(*layers.biases[:-1], layers.biases[-1] + number.ravel()))
    if kind in ("MatMul", "Gemm"):
        weight, bias = _affine(kind, constants, said)
        return _Layers(
            layers.features,
            (*layers.weights, weight),
            (*layers.biases, bias),
            (*layers.activations, layers.ends or "identity"),
        )
    if kind in ("Softmax", "LogSoftmax") and not layers.ends:
        return _linked(layers)
    raise UsageError(f"the graph's node {kind} behind a layer is not supported yet")


def _affine(kind: str, constants: Sequence[Any], said: dict[str, Any]) -> tuple[Floats, Floats]:
    """Return the weights and the bias of a MatMul or a Gemm."""
    if constants[1] is None:
        raise UsageError(f"the graph's node {kind} multiplies two inputs: not supported")
    weight = np.asarray(constants[1], dtype=np.float64)
    bias = np.zeros(1)
    if kind == "Gemm":
        if said.get("transA"):
            raise UsageError("the graph's node Gemm with transA is not supported yet")
        weight = float(said.get("alpha", 1.0)) * (weight.T if said.get("transB") else weight)
        if len(constants) > 2 and constants[2] is not None:
            bias = float(said.get("beta", 1.0)) * np.asarray(constants[2], dtype=np.float64).ravel()
    return weight, np.broadcast_to(bias, (weight.shape[1],))


def _linked(layers: _Layers) -> _Scores:
    """End a network: its outputs are logits, or the sigmoid of one."""
    outputs = layers.weights[-1].shape[1]
    if layers.ends not in ("", "sigmoid" if outputs == 1 else ""):
        raise UsageError(f"the graph ends with {layers.ends} on {outputs} outputs: not supported")
    used = set(layers.activations)
    if len(used) > 1:
        raise UsageError(f"the graph uses several activations ({', '.join(sorted(used))}): use one")
    core = dense(layers.weights, layers.biases, next(iter(used), "relu"))
    return _Scores(layers.features, core)


def _on_features(
    walk: _Walk,
    kind: str,
    values: Sequence[Any],
    number: Any,
    constants: Sequence[Any],
    said: dict[str, Any],
) -> Any:
    features: tuple[Feature, ...] = next(value for value in values if value is not None)
    if kind == "Concat" and all(isinstance(value, tuple) for value in values):
        return tuple(feature for value in values for feature in value)
    if kind in ("Gather", "ArrayFeatureExtractor") and constants[1] is not None:
        return tuple(features[int(i)] for i in np.ravel(constants[1]))
    if kind == "Scaler":
        moved = _scaled("Scaler", features, "-", said["offset"])
        return _scaled("Scaler", moved, "*", said["scale"])
    sign = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}.get(kind)
    if sign is not None and number is not None and values[0] is not None:
        return _scaled(kind, features, sign, number)
    if kind == "Imputer":
        return _filled(walk, features, said)
    if kind in ("OneHotEncoder", "LabelEncoder"):
        return _encoded(walk, kind, features, said)
    if kind in ("MatMul", "Gemm"):
        weight, bias = _affine(kind, constants, said)
        return _Layers(features, (weight,), (bias,))
    if kind == "LinearClassifier":
        walk.classes = _labels(said)
        return _Scores(features, _linear(said, len(features)))
    if kind == "TreeEnsembleClassifier":
        walk.classes = _labels(said)
        return _Scores(features, _trees(said, len(features), len(walk.classes)))
    raise UsageError(f"the graph's node {kind} is not supported yet")


def _scaled(kind: str, features: tuple[Feature, ...], sign: str, by: Any) -> tuple[Feature, ...]:
    numbers = np.broadcast_to(np.ravel(np.asarray(by, dtype=np.float64)), (len(features),))
    if sign in "*/" and (numbers <= 0.0).any():
        raise UsageError(f"the graph's node {kind} turns a column around: not supported yet")
    return tuple(
        one.then((sign, float(value))) for one, value in zip(features, numbers, strict=True)
    )


def _encoded(
    walk: _Walk, kind: str, features: tuple[Feature, ...], said: dict[str, Any]
) -> tuple[Feature, ...]:
    """Enter how words are read; one-hot inputs take the place of the column."""
    one_hot = kind == "OneHotEncoder"
    stem = "cats" if one_hot else "keys"
    words = tuple(
        word_of(word)
        for name in (f"{stem}_strings", f"{stem}_int64s", f"{stem}_floats")
        for word in said.get(name, ())
    )
    codes: tuple[float, ...] = ()
    if not one_hot:
        kinds = ("values_int64s", "values_floats")
        codes = tuple(float(code) for name in kinds for code in said.get(name, ()))
    if not words or (codes and len(codes) != len(words)) or (not one_hot and not codes):
        raise UsageError(f"the graph's node {kind} has no list of words and numbers")
    found: list[Feature] = []
    for feature in features:
        if feature.steps or feature.word is not None or feature.coded:
            raise UsageError(f"the graph has a {kind} behind a scaler or an encoder: not supported")
        other = 0.0 if one_hot and said.get("zeros", 1) else None
        walk.front.code(Coding(feature.column, words, codes, other))
        coded = [replace(feature, coded=True)]
        found += [replace(feature, word=word) for word in words] if one_hot else coded
    return tuple(found)


def _filled(
    walk: _Walk, features: tuple[Feature, ...], said: dict[str, Any]
) -> tuple[Feature, ...]:
    """Enter what takes the place of a gap; the standard's default replaces zeros instead."""
    values = np.ravel(said.get("imputed_value_floats", ()))
    mark = said.get("replaced_value_float", 0.0)
    if not len(values) or mark == mark:
        raise UsageError(
            "the graph's node Imputer replaces values that are there: not supported; leave such "
            "cells empty"
        )
    for feature, value in zip(features, np.broadcast_to(values, (len(features),)), strict=True):
        if value == value:
            walk.front.fill(feature, float(value))
    return features


def _labels(said: dict[str, Any]) -> tuple[str, ...]:
    names = ("classlabels_strings", "classlabels_ints", "classlabels_int64s")
    return tuple(word_of(label) for name in names for label in said.get(name, ()))


def _linear(said: dict[str, Any], columns: int) -> Core:
    rows = np.array(said["coefficients"], dtype=np.float64).reshape(-1, columns)
    bias = np.array(said.get("intercepts", np.zeros(len(rows))), dtype=np.float64)
    how = said.get("post_transform", b"NONE")
    if how == b"LOGISTIC" and len(rows) <= 2:
        return dense([rows[-1:].T], [bias[-1:]], "relu")
    if how == b"SOFTMAX" and len(rows) > 1:
        return dense([rows.T], [bias], "relu")
    raise UsageError(f"the graph's LinearClassifier with {how.decode()} is not supported yet")


def _trees(said: dict[str, Any], columns: int, classes: int) -> Core:
    """Gather the nodes of every tree, and what each leaf adds to which class."""
    known = {b"BRANCH_LEQ", b"BRANCH_LT", b"LEAF"}
    strange = sorted(set(said["nodes_modes"]) - known)
    if strange:
        raise UsageError(f"the graph's trees test by {strange[0].decode()}: not supported yet")
    how = said.get("post_transform", b"NONE").decode()
    ids = np.array(said["class_ids"], dtype=np.int64)
    single = classes == 2 and len(set(ids.tolist())) == 1  # one number speaks of two classes
    outputs = 1 if single else classes
    weights = _numbers(said, "class_weights")
    base = _numbers(said, "base_values") if _has(said, "base_values") else np.zeros(1)
    owners = np.array(said["nodes_treeids"], dtype=np.int64)
    trees, targets = [], []
    for owner in np.unique(owners):
        at = np.flatnonzero(owners == owner)
        place = {int(said["nodes_nodeids"][i]): k for k, i in enumerate(at)}
        value = np.zeros((len(at), outputs))
        mine = np.flatnonzero(np.array(said["class_treeids"]) == owner)
        for i in mine:
            node = place[int(said["class_nodeids"][i])]
            value[node, 0 if single else ids[i]] += weights[i]
        targets.append(set() if single else {int(ids[i]) for i in mine})
        trees.append(_tree(said, at, place, value, columns))
    if how == "NONE" and not base.any():
        if single:
            trees = [replace(t, value=_both(t.value[:, 0], len(trees))) for t in trees]
        return Votes(tuple(trees), forest=len(trees) > 1)
    if how not in ("LOGISTIC", "SOFTMAX") or (how == "LOGISTIC") != single:
        raise UsageError(
            f"the graph's trees with {how} for {classes} classes are not supported yet"
        )
    if any(len(one) > 1 for one in targets):
        raise UsageError("the graph's trees add to several classes at once: not supported yet")
    places = tuple(next(iter(one), 0) for one in targets)
    alone = [
        replace(tree, value=sealed(tree.value[:, [place]]))
        for tree, place in zip(trees, places, strict=True)
    ]
    shift = np.broadcast_to(base[-1:] if single else base, (outputs,))
    return Boosted(tuple(alone), places, sealed(shift))


def _both(positive: Floats, trees: int) -> Floats:
    return sealed(np.stack([1.0 / trees - positive, positive], axis=1))


def _has(said: dict[str, Any], name: str) -> bool:
    return name in said or f"{name}_as_tensor" in said


def _numbers(said: dict[str, Any], name: str) -> Floats:
    return np.asarray(said.get(f"{name}_as_tensor", said.get(name)), dtype=np.float64)


def _tree(
    said: dict[str, Any], at: Any, place: dict[int, int], value: Floats, columns: int
) -> Tree:
    modes = [said["nodes_modes"][i] for i in at]
    leaf = np.array([mode == b"LEAF" for mode in modes])
    strict = np.array([mode == b"BRANCH_LT" for mode in modes])
    border = _numbers(said, "nodes_values")[at]
    if "nodes_values_as_tensor" in said:  # doubles, compared as doubles
        border = np.where(strict, np.nextafter(border, -np.inf), border)
    else:
        single = border.astype(np.float32)
        below = np.nextafter(single, np.float32(-np.inf))
        border = double_borders(np.where(strict, below, single).astype(np.float64))
    left, right = (
        [-1 if end else place[int(said[name][i])] for i, end in zip(at, leaf, strict=True)]
        for name in ("nodes_truenodeids", "nodes_falsenodeids")
    )
    feature = np.where(leaf, -1, np.array(said["nodes_featureids"])[at])
    return numbered(feature, border, left, right, value, columns)
