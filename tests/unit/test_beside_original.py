"""A model is audited as it was trained, or refused: it is asked beside what was written down of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import whatleaks
from given_tables import NUMBERS, columns, farthest, mixed
from whatleaks.errors import UsageError, WhatleaksError
from whatleaks.models.adapters.folding import EncodedColumn
from whatleaks.models.adapters.folding import _moved as moved_borders
from whatleaks.models.adapters.given import Feature
from whatleaks.models.adapters.reading import read_model

FEATURES = ["a", "b", "c"]


def fitted(model: Any, frame: pd.DataFrame) -> Any:
    return model.fit(frame[columns(frame)], frame.y)


@pytest.mark.filterwarnings("ignore:.*onverge")
@pytest.mark.parametrize("model", [LogisticRegression(), DecisionTreeClassifier()])
def test_weights_of_the_parts_of_a_column_transformer(model: Any) -> None:
    frame = mixed(11)[[*NUMBERS, "city", "y"]]
    parts = [("words", OneHotEncoder(), ["city"]), ("numbers", StandardScaler(), NUMBERS)]
    front = ColumnTransformer(parts, transformer_weights={"numbers": 7.0, "words": 0.5})
    pipeline = fitted(make_pipeline(front, model), frame)
    assert farthest(pipeline, read_model(pipeline, columns(frame)), frame) < 1e-12
    front.transformer_weights = {"numbers": -7.0}
    with pytest.raises(UsageError, match="weight of 'numbers' is -7"):
        read_model(pipeline, columns(frame))


def test_parts_without_columns_and_a_first_step_that_does_nothing() -> None:
    frame = mixed(12)[[*NUMBERS, "y"]]
    parts = [("none", StandardScaler(), []), ("all", MinMaxScaler(), NUMBERS)]
    steps = [("nothing", "passthrough"), ("front", ColumnTransformer(parts))]
    model = fitted(Pipeline([*steps, ("end", LogisticRegression())]), frame)
    assert farthest(model, read_model(model, NUMBERS), frame) < 1e-12


def test_one_model_for_each_class_is_not_taken_for_a_softmax() -> None:
    frame = mixed(13)[[*NUMBERS, "y"]]
    model = fitted(make_pipeline(StandardScaler(), LogisticRegression()), frame)
    model[-1].solver = "liblinear"  # which trained several classes until scikit-learn 1.7
    with pytest.raises(UsageError, match="one model for each of 3 classes"):
        read_model(model, NUMBERS)


@pytest.mark.filterwarnings("ignore:.*onverge")
@pytest.mark.parametrize("model", [LogisticRegression(), DecisionTreeClassifier(max_depth=4)])
def test_an_original_that_says_something_else_is_refused(model: Any) -> None:
    frame = mixed(14)[[*NUMBERS, "y"]]  # columns of very different sizes, not scaled
    fitted(model, frame)
    true = model.predict_proba
    read_model(model, NUMBERS)
    model.predict_proba = lambda x: np.sqrt(true(x)) / np.sqrt(true(x)).sum(axis=1, keepdims=True)
    if isinstance(model, DecisionTreeClassifier):
        model.predict_proba = lambda x: true(x * [1.0, 1.3, 1.0])
    with pytest.raises(UsageError, match="says something else of"):
        read_model(model, NUMBERS)


def graph(nodes: list[Any], numbers: dict[str, Any], outputs: int, path: Path) -> Path:
    """Write an ONNX file by hand; ``p`` is what comes out of it."""
    onnx = pytest.importorskip("onnx")
    held = [onnx.numpy_helper.from_array(np.asarray(v), name) for name, v in numbers.items()]
    single = onnx.TensorProto.FLOAT
    made = onnx.helper.make_graph(
        nodes,
        "made",
        [onnx.helper.make_tensor_value_info("x", single, [None, 3])],
        [onnx.helper.make_tensor_value_info("p", single, [None, outputs])],
        held,
    )
    versions = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
    model = onnx.helper.make_model(made, opset_imports=versions)
    path.write_bytes(model.SerializeToString())
    return path


def node(kind: str, taken: str, given: str, **said: Any) -> Any:
    onnx = pytest.importorskip("onnx")
    return onnx.helper.make_node(kind, taken.split(), given.split(), **said)


RANDOM = np.random.default_rng(0)
NUMBERS_HELD = {
    "w": RANDOM.normal(size=(3, 3)).astype(np.float32),
    "b": RANDOM.normal(size=3).astype(np.float32),
    "u": RANDOM.normal(size=(3, 1)).astype(np.float32),
    "one": np.float32(1.0),
    "turned": np.array([2, 0, 1]),
}
LAYER = ("Gemm", "x w b", "z", {})
SIGMOID = [("MatMul", "x u", "z", {}), ("Sigmoid", "z", "s", {}), ("Sub", "one s", "n", {})]
GRAPHS: dict[str, tuple[int, list[Any], bool]] = {
    "a softmax": (3, [LAYER, ("Softmax", "z", "p", {"axis": 1})], True),
    "a softmax over people": (3, [LAYER, ("Softmax", "z", "p", {"axis": 0})], False),
    "columns turned": (
        3,
        [("Gather", "x turned", "t", {"axis": 1}), ("Gemm", "t w b", "p", {})],
        True,
    ),
    "rows turned": (
        3,
        [("Gather", "x turned", "t", {"axis": 0}), ("Gemm", "t w b", "p", {})],
        False,
    ),
    "cut to whole numbers": (
        3,
        [
            ("Cast", "x", "i", {"to": 7}),
            ("Cast", "i", "t", {"to": 1}),
            ("Gemm", "t w b", "z", {}),
            ("Softmax", "z", "p", {}),
        ],
        False,
    ),
    "a layer that is passed by": (
        3,
        [LAYER, ("Relu", "z", "a", {}), ("Gemm", "a w z", "y", {}), ("Softmax", "y", "p", {})],
        False,
    ),
    "two classes": (2, [*SIGMOID, ("Concat", "n s", "p", {"axis": 1})], True),
    "two classes turned": (2, [*SIGMOID, ("Concat", "s n", "p", {"axis": 1})], False),
    "less than the scores": (
        3,
        [LAYER, ("Softmax", "z", "s", {}), ("Sub", "s one", "p", {})],
        False,
    ),
    "another layer's scores": (
        3,
        [LAYER, ("Softmax", "z", "p", {}), ("Gemm", "x w", "y", {}), ("Softmax", "y", "q", {})],
        False,
    ),
}


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_a_graph_made_by_hand_is_read_as_it_computes_or_refused(name: str, tmp_path: Path) -> None:
    outputs, nodes, same = GRAPHS[name]
    made = [node(kind, taken, given, **said) for kind, taken, given, said in nodes]
    path = graph(made, NUMBERS_HELD, outputs, tmp_path / "m.onnx")
    if same:
        assert read_model(path, FEATURES).core.classes == outputs
        return
    with pytest.raises(UsageError, match="says something else of"):
        read_model(path, FEATURES)


@pytest.mark.parametrize(
    "words", [["5 km", "10 km"], ["yes", "Y", "no"], ["01.02.2020", "13.03.2021"]]
)
def test_words_that_an_encoder_knows_stay_words(words: list[str]) -> None:
    """They were numbers, dates, yes and no: all of them unknown to the encoder, without a word."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"v": rng.normal(size=60), "far": rng.choice(words, 60)})
    frame["y"] = np.where((frame.far == words[0]) + 0.1 * frame.v > 0.5, "b", "a")
    front = ColumnTransformer(
        [("words", OneHotEncoder(handle_unknown="ignore"), ["far"])], remainder="passthrough"
    )
    model = fitted(make_pipeline(front, LogisticRegression()), frame)
    report = whatleaks.audit(
        frame, "y", ["v"], model=model, defenses=False, seeds=1, threats="black-box", targets=10
    )
    assert report.result.worth.accuracy.value > 0.9
    assert not any("far" in note for note in report.result.notes)
    with pytest.raises(WhatleaksError, match="no word that the model's encoder knows"):
        whatleaks.audit(frame.assign(far=["p", "q"] * 30), "y", ["v"], model=model)


def test_numbers_that_could_be_dates_stay_what_the_model_knows() -> None:
    """20201231 was read as seconds since 1970: every score was that of another person."""
    rng = np.random.default_rng(2)
    days = 20200000 + 100 * rng.integers(1, 13, 80) + rng.integers(1, 29, 80)
    frame = pd.DataFrame({"v": rng.normal(size=80), "day": days, "hours": rng.integers(1, 13, 80)})
    frame["hours"] += rng.integers(10, 59, 80) / 100
    frame["y"] = np.where(frame.day > np.median(days), "late", "early")
    model = fitted(DecisionTreeClassifier(), frame)
    report = whatleaks.audit(
        frame,
        "y",
        ["v"],
        model=model,
        defenses=False,
        seeds=1,
        threats="white-box-tree",
        targets=10,
    )
    assert report.result.worth.accuracy.value == 1.0


def test_the_ready_call_has_the_model() -> None:
    frame = mixed(15)[[*NUMBERS, "y"]]
    model = fitted(make_pipeline(StandardScaler(), LogisticRegression()), frame)
    frame["age"] = frame.age.where(frame.age < 80)
    with pytest.raises(WhatleaksError, match=r"missing='median', model=model\)$"):
        whatleaks.audit(frame, "y", ["age"], model=model)


def test_xgboost_behind_a_sparse_table_is_refused() -> None:
    """It takes zeros for gaps there, and sends them another way than an audit did."""
    xgboost = pytest.importorskip("xgboost")
    frame = mixed(16)[[*NUMBERS, "city", "y"]].assign(y=lambda table: table.y.factorize()[0])
    for threshold in (0.0, 1.0):
        front = ColumnTransformer(
            [("words", OneHotEncoder(), ["city"])],
            remainder="passthrough",
            sparse_threshold=threshold,
        )
        model = fitted(make_pipeline(front, xgboost.XGBClassifier(n_estimators=4)), frame)
        if threshold:
            with pytest.raises(UsageError, match="zeros as gaps behind a ColumnTransformer"):
                read_model(model, columns(frame))
            continue
        assert farthest(model, read_model(model, columns(frame)), frame) < 1e-6


def test_the_median_stays_on_its_side_of_lightgbms_zero() -> None:
    """LightGBM tests against 1e-35: numbers at the centre of a scaler took the other branch."""
    age = EncodedColumn("age", None, 18.0, 89.0)
    for median in range(19, 89):
        centred = Feature("age", steps=(("-", float(median)),))
        (below, above), _ = moved_borders(centred, np.array([-1e-35, 1e-35]), age)
        held = (np.arange(18.0, 90.0) - age.low) / age.span
        assert np.count_nonzero(held <= below) == median - 18
        assert np.count_nonzero(held <= above) == median - 17


def test_a_torch_module_whose_forward_was_replaced_is_refused() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    inner = torch.nn.Linear(4, 3)
    module = torch.nn.Sequential(
        torch.nn.Linear(3, 4), torch.nn.Dropout(0.5), torch.nn.ReLU(), inner
    )
    assert read_model(module, FEATURES).core.classes == 3
    assert module.training
    inner.forward = lambda x: x[:, :3]
    with pytest.raises(UsageError, match="says something else of"):
        read_model(module, FEATURES)
