"""Models of other libraries and from files say what their library says; a pickle is not opened."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from given_tables import NUMBERS, WORDS, columns, farthest, mixed, numbers, scores
from whatleaks.errors import UsageError
from whatleaks.models.adapters.reading import about, read_model

CLASSIFIERS: dict[str, Any] = {
    "regression": lambda: LogisticRegression(max_iter=60),
    "network": lambda: MLPClassifier((6, 4), max_iter=300, random_state=0),
    "sigmoids": lambda: MLPClassifier((5,), activation="logistic", max_iter=300, random_state=0),
    "tree": lambda: DecisionTreeClassifier(random_state=0),
    "forest": lambda: RandomForestClassifier(7, random_state=0),
}


def front() -> Any:
    return make_column_transformer(
        (OneHotEncoder(), ["city", "branch"]),
        (OrdinalEncoder(categories=[WORDS]), ["size"]),
        (make_pipeline(StandardScaler(), MinMaxScaler()), NUMBERS),
        remainder="passthrough",
    )


def coded(frame: pd.DataFrame) -> pd.DataFrame:
    """Number the label, as XGBoost wants it."""
    names = sorted(frame.y.unique())
    return frame.assign(y=frame.y.map({name: i for i, name in enumerate(names)}))


def fitted(model: Any, frame: pd.DataFrame) -> Any:
    return model.fit(frame[columns(frame)], frame.y)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classes", [2, 3])
def test_xgboost(seed: int, classes: int, tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    frame = coded(mixed(seed, classes))
    pipeline = fitted(make_pipeline(front(), xgboost.XGBClassifier(n_estimators=12)), frame)
    assert farthest(pipeline, read_model(pipeline, columns(frame)), frame) < 1e-6
    table = coded(mixed(seed, classes))[[*NUMBERS, "y"]]
    model = fitted(xgboost.XGBClassifier(n_estimators=12), table)
    given = [read_model(model, NUMBERS), read_model(model.get_booster(), NUMBERS)]
    for suffix in ("json", "ubj"):
        model.save_model(tmp_path / f"m.{suffix}")
        given.append(read_model(tmp_path / f"m.{suffix}", NUMBERS))
    assert all(farthest(model, one, table) < 1e-6 for one in given)
    assert "No attack looks inside this model yet" in " ".join(about(given[0], False))
    words = mixed(seed, classes)[[*NUMBERS, "y"]]  # the label as words: in sorted order
    assert np.array_equal(scores(given[2], words)[0], scores(given[2], table)[0])


def test_xgboost_that_stopped_early_uses_its_best_rounds() -> None:
    xgboost = pytest.importorskip("xgboost")
    frame = coded(mixed(5, 3, 300))[[*NUMBERS, "y"]]
    model = xgboost.XGBClassifier(n_estimators=60, early_stopping_rounds=2, learning_rate=0.9)
    model.fit(
        frame[NUMBERS][:200],
        frame.y[:200],
        eval_set=[(frame[NUMBERS][200:], frame.y[200:])],
        verbose=False,
    )
    assert model.best_iteration < 50
    assert farthest(model, read_model(model, NUMBERS), frame) < 1e-6
    told = about(read_model(model.get_booster(), NUMBERS), False)
    assert any("Training stopped early: the best" in note for note in told)
    assert any("The model numbers its classes" in note for note in told)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classes", [2, 3])
def test_lightgbm(seed: int, classes: int, tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")

    def make() -> Any:
        return lightgbm.LGBMClassifier(n_estimators=12, min_child_samples=3, verbose=-1)

    frame = mixed(seed, classes)
    pipeline = fitted(make_pipeline(front(), make()), frame)
    assert farthest(pipeline, read_model(pipeline, columns(frame)), frame) < 1e-12
    table = frame[[*NUMBERS, "y"]].rename(columns={"age": "age in years"})
    model = fitted(make(), table)
    model.booster_.save_model(tmp_path / "m.txt")
    for source in (model, model.booster_, tmp_path / "m.txt"):
        assert farthest(model, read_model(source, columns(table)), table) < 1e-12


def perceptron(outputs: int, link: Any = None) -> Any:
    torch = pytest.importorskip("torch")
    nn = torch.nn
    generator = torch.Generator().manual_seed(outputs)
    parts = [nn.Linear(3, 6), nn.Tanh(), nn.Sequential(nn.Dropout(0.2), nn.Linear(6, 5), nn.Tanh())]
    parts += [nn.Linear(5, outputs), *([link] if link is not None else [])]
    module = nn.Sequential(*parts).eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.uniform_(-1, 1, generator=generator)
    return module


def small(classes: int) -> pd.DataFrame:
    frame = numbers(3, classes)
    return ((frame[NUMBERS] - frame[NUMBERS].mean()) / frame[NUMBERS].std()).assign(y=frame.y)


@pytest.mark.parametrize(("outputs", "ends"), [(1, "Sigmoid"), (2, "Softmax"), (3, "Softmax")])
def test_torch_and_safetensors(outputs: int, ends: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    frame = small(max(outputs, 2))
    link = torch.nn.Sigmoid() if ends == "Sigmoid" else torch.nn.Softmax(1)
    module = perceptron(outputs, link)
    told = module(torch.tensor(frame[NUMBERS].to_numpy(), dtype=torch.float32)).detach().numpy()
    told = np.concatenate([1 - told, told], axis=1) if outputs == 1 else told
    given = read_model(module, NUMBERS)
    assert np.abs(scores(given, frame)[0] - told).max() < 1e-6
    path = tmp_path / "m.safetensors"
    named = {"activation": "tanh", "columns": json.dumps(NUMBERS)}
    safetensors.save_file(module.state_dict(), path, metadata=named)
    again = read_model(path, list(reversed(NUMBERS)))
    assert again.notes == ("The file's layers are taken in the order of their names: 0, 2.1, 3.",)
    assert np.array_equal(scores(again, frame)[0], scores(given, frame)[0])
    safetensors.save_file(module.state_dict(), path)
    with pytest.raises(UsageError, match="must name the activation"):
        read_model(path, NUMBERS)


def test_modules_that_are_not_supported_are_named() -> None:
    torch = pytest.importorskip("torch")
    nn = torch.nn

    class Mine(nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 2)

    class Linear(nn.Linear):  # type: ignore[misc,name-defined,unused-ignore]
        pass

    hooked = nn.Sequential(nn.Linear(3, 2))
    hooked[0].register_forward_hook(lambda *_: None)
    for module, words in (
        (Mine(), "a Mine may compute anything"),
        (nn.Sequential(Linear(3, 2)), "a Linear with hooks, or of your own"),
        (hooked, "a Linear with hooks, or of your own"),
        (nn.Sequential(nn.Linear(3, 2), nn.Softmax(0)), "runs over dim=0, across people"),
        (nn.Linear(3, 2).half(), "computes in torch.float16"),
        (nn.Linear(3, 2).bfloat16(), "computes in torch.bfloat16"),
        (nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Linear(4, 2)), "layer GELU"),
        (nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2), nn.Sigmoid()), "on 2 outputs"),
        (nn.Sequential(nn.ReLU(), nn.Linear(3, 2)), "must begin with a Linear"),
        (
            nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2)),
            "several activations",
        ),
    ):
        with pytest.raises(UsageError, match=words):
            read_model(module, NUMBERS)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore:.*onverge")
@pytest.mark.parametrize("name", sorted(CLASSIFIERS))
def test_skops(name: str, tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    frame = mixed(1)
    pipeline = fitted(make_pipeline(front(), CLASSIFIERS[name]()), frame)
    skops.dump(pipeline, tmp_path / "m.skops")
    given = read_model(tmp_path / "m.skops", columns(frame))
    assert given.digest() == read_model(pipeline, columns(frame)).digest()


def test_skops_with_an_imputer_and_columns_chosen_by_their_kind(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    frame = numbers(0)
    chosen = (SimpleImputer(), make_column_selector(dtype_include="number"))
    pipeline = fitted(make_pipeline(make_column_transformer(chosen), LogisticRegression()), frame)
    skops.dump(pipeline, tmp_path / "m.skops")
    given = read_model(tmp_path / "m.skops", NUMBERS)
    assert given.digest() == read_model(pipeline, NUMBERS).digest()


def test_skops_with_a_model_of_scikit_learn_that_is_not_read_yet(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    frame = numbers(0)
    model = HistGradientBoostingClassifier(max_iter=2).fit(frame[NUMBERS], frame.y)
    skops.dump(model, tmp_path / "m.skops")
    with pytest.raises(UsageError, match="TreePredictor, a part of scikit-learn that cannot be re"):
        read_model(tmp_path / "m.skops", NUMBERS)


class Stranger:
    """Something that no library of ours brings along."""


def test_skops_with_a_stranger_is_refused(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    skops.dump({"model": Stranger()}, tmp_path / "m.skops")
    with pytest.raises(UsageError, match="Stranger, which is not part of scikit-learn"):
        read_model(tmp_path / "m.skops", NUMBERS)


def inputs(frame: pd.DataFrame) -> tuple[list[Any], dict[str, Any]]:
    """Declare one input for each column as ONNX wants it, and the values of all records."""
    kinds = pytest.importorskip("skl2onnx.common.data_types")
    declared, fed = [], {}
    for name in columns(frame):
        values = frame[[name]].to_numpy()
        if values.dtype.kind in "OUST":
            declared.append((name, kinds.StringTensorType([None, 1])))
            fed[name] = values.astype(object)
        elif values.dtype.kind == "i":
            declared.append((name, kinds.Int64TensorType([None, 1])))
            fed[name] = values
        else:
            declared.append((name, kinds.FloatTensorType([None, 1])))
            fed[name] = values.astype(np.float32)
    return declared, fed


@pytest.mark.filterwarnings("ignore:.*onverge")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", sorted(CLASSIFIERS))
def test_onnx(name: str, classes: int, tmp_path: Path) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    reference = pytest.importorskip("onnx.reference")
    frame = mixed(2, classes).drop(columns="member")
    pipeline = fitted(make_pipeline(front(), CLASSIFIERS[name]()), frame)
    declared, fed = inputs(frame)
    graph = skl2onnx.to_onnx(pipeline, initial_types=declared, options={"zipmap": False})
    (tmp_path / "m.onnx").write_bytes(graph.SerializeToString())
    found, _ = scores(read_model(tmp_path / "m.onnx", columns(frame)), frame)
    told = reference.ReferenceEvaluator(graph).run(None, fed)[1]
    assert np.abs(found - told).max() < 1e-6
    # and, where all records take the same branch in single precision, what scikit-learn says
    assert np.median(np.abs(found - pipeline.predict_proba(frame[columns(frame)]))) < 1e-6


@pytest.mark.filterwarnings("ignore:.*onverge")
@pytest.mark.parametrize("zipmap", [True, False])
@pytest.mark.parametrize("name", sorted(CLASSIFIERS))
def test_onnx_with_one_input(name: str, zipmap: bool, tmp_path: Path) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    frame = numbers(3)
    model = make_pipeline(MinMaxScaler(), CLASSIFIERS[name]())
    if name in ("tree", "forest"):
        model = CLASSIFIERS[name]()
    model.fit(frame[NUMBERS].to_numpy(), frame.y)
    example = frame[NUMBERS].to_numpy(np.float32)[:1]
    graph = skl2onnx.to_onnx(model, example, options={"zipmap": zipmap})
    (tmp_path / "m.onnx").write_bytes(graph.SerializeToString())
    given = read_model(tmp_path / "m.onnx", NUMBERS)
    assert given.classes == tuple(model.classes_)
    told = model.predict_proba(frame[NUMBERS].to_numpy())
    assert np.abs(scores(given, frame)[0] - told).max() < 1e-6


def test_onnx_with_an_imputer(tmp_path: Path) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    frame = numbers(3)
    example = frame[NUMBERS].to_numpy(np.float32)[:1]
    for mark in (np.nan, -1.0):
        model = make_pipeline(SimpleImputer(missing_values=mark), LogisticRegression())
        model.fit(frame[NUMBERS].to_numpy(), frame.y)
        (tmp_path / "m.onnx").write_bytes(skl2onnx.to_onnx(model, example).SerializeToString())
        if mark == mark:
            with pytest.raises(UsageError, match="Imputer replaces values that are there"):
                read_model(tmp_path / "m.onnx", NUMBERS)
            continue
        gappy = frame.assign(age=frame.age.where(frame.age < 60))
        told = model.predict_proba(gappy[NUMBERS].to_numpy())
        found, _ = scores(read_model(tmp_path / "m.onnx", NUMBERS), gappy, missing="median")
        assert np.abs(found - told).max() < 1e-6


def test_onnx_with_an_encoder_behind_another(tmp_path: Path) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    frame = mixed(2)[["age", "size", "y"]]
    twice = make_pipeline(OrdinalEncoder(), OneHotEncoder(handle_unknown="ignore"))
    front = make_column_transformer((twice, ["size"]), remainder=StandardScaler())
    pipeline = fitted(make_pipeline(front, LogisticRegression()), frame)
    graph = skl2onnx.to_onnx(pipeline, initial_types=inputs(frame)[0])
    (tmp_path / "m.onnx").write_bytes(graph.SerializeToString())
    with pytest.raises(UsageError, match="OneHotEncoder behind a scaler or an encoder"):
        read_model(tmp_path / "m.onnx", columns(frame))


@pytest.mark.parametrize("softmax", [True, False])
def test_onnx_as_torch_writes_it(softmax: bool, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    make, rng = onnx.helper, np.random.default_rng(0)
    tensors = {"a": (4, 3), "b": (4,), "c": (3, 4), "d": (3,)}
    held = {name: rng.normal(size=size).astype(np.float32) for name, size in tensors.items()}
    nodes = [
        make.make_node("Gemm", ["x", "a", "b"], ["h"], transB=1),
        make.make_node("Relu", ["h"], ["r"]),
        make.make_node("Gemm", ["r", "c", "d"], ["z"], transB=1),
        *([make.make_node("Softmax", ["z"], ["p"], axis=1)] if softmax else []),
    ]
    kind = onnx.TensorProto.FLOAT
    graph = make.make_graph(
        nodes,
        "g",
        [make.make_tensor_value_info("x", kind, [None, 3])],
        [make.make_tensor_value_info("p" if softmax else "z", kind, [None, 3])],
        [onnx.numpy_helper.from_array(value, name) for name, value in held.items()],
    )
    (tmp_path / "m.onnx").write_bytes(make.make_model(graph).SerializeToString())
    frame = small(3)
    found, _ = scores(read_model(tmp_path / "m.onnx", NUMBERS), frame)
    hidden = np.maximum(frame[NUMBERS].to_numpy() @ held["a"].T + held["b"], 0)
    z = np.exp(hidden @ held["c"].T + held["d"])
    assert np.abs(found - z / z.sum(axis=1, keepdims=True)).max() < 1e-6
    nodes.insert(2, make.make_node("Erf", ["r"], ["e"]))
    (tmp_path / "m.onnx").write_bytes(
        make.make_model(
            make.make_graph(nodes, "g", graph.input, graph.output, graph.initializer)
        ).SerializeToString()
    )
    with pytest.raises(UsageError, match="node Erf behind a layer is not supported"):
        read_model(tmp_path / "m.onnx", NUMBERS)


class Bomb:
    """Leaves a trace where its pickle is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("suffix", [".pkl", ".joblib", ".json", ".skops", ""])
def test_a_pickle_is_refused_and_never_opened(suffix: str, tmp_path: Path) -> None:
    trace, path = tmp_path / "trace", tmp_path / f"model{suffix}"
    path.write_bytes(pickle.dumps(Bomb(trace)))
    with pytest.raises(UsageError, match=r"is a pickle, .* save the model with skops"):
        read_model(path, NUMBERS)
    assert not trace.exists()


def test_torchs_own_file_is_a_pickle_too(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save(perceptron(2), tmp_path / "m.zip")
    with pytest.raises(UsageError, match="is a pickle"):
        read_model(tmp_path / "m.zip", NUMBERS)


DAMAGED: dict[str, bytes] = {
    "empty": b"",
    "words": b"hello",
    "json": b'{"learner": {}}',
    "other json": b'{"a": 1}',
    "lightgbm": b"tree\nobjective=binary sigmoid:1\n\nTree=0\nnum_leaves=3\n",
    "safetensors": struct.pack("<Q", 60)
    + b'{"a.weight": {"dtype":"F32","shape":[9,9],"data_offsets":[0,9]}}',
    "ubj": b"{L\x00\x00",
    "onnx": b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    "zip": b"PK\x03\x04",
    "zip's end": b"PK\x03\x04"
    + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 1, 1, 46, 0, 0)
    + b" " * 46,
    "no trees": b"tree\nobjective=binary sigmoid:1\nnum_tree_per_iteration=1\nmax_feature_idx=2\n"
    b"feature_names=age income balance\n\nend of trees\n",
    "too many classes": b"tree\nobjective=multiclass num_class:3\nnum_tree_per_iteration=99999999999\n"
    b"max_feature_idx=2\nfeature_names=age income balance\n\nTree=0\nleaf_value=1\n",
    "a column too many": b"tree\nobjective=binary sigmoid:1\nnum_tree_per_iteration=1\n"
    b"max_feature_idx=2\nfeature_names=age income balance\n\nTree=0\nleaf_value=1 2\n"
    b"split_feature=7\nthreshold=1\ndecision_type=2\nleft_child=-1\nright_child=-2\n",
    "no number": b"tree\nobjective=binary sigmoid:1\nnum_tree_per_iteration=1\nmax_feature_idx=2\n"
    b"feature_names=age income balance\n\nTree=0\nleaf_value=nan\n",
}


@pytest.mark.parametrize("name", sorted(DAMAGED))
def test_a_damaged_file_gives_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(DAMAGED[name])
    with pytest.raises(UsageError, match="model_file") as told:
        read_model(tmp_path / "m", NUMBERS)
    assert "\n" not in str(told.value)


def test_an_onnx_constant_without_a_value_gives_one_line(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    make = onnx.helper
    nodes = [make.make_node("Constant", [], ["c"]), make.make_node("MatMul", ["x", "c"], ["z"])]
    ends = [make.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [None, 3]) for name in "xz"]
    graph = make.make_graph(nodes, "g", ends[:1], ends[1:])
    (tmp_path / "m.onnx").write_bytes(make.make_model(graph).SerializeToString())
    with pytest.raises(UsageError, match="damaged"):
        read_model(tmp_path / "m.onnx", NUMBERS)


def test_skops_that_is_damaged_or_fills_memory_gives_one_line(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    frame, path = numbers(0), tmp_path / "m.skops"
    whole = skops.dumps(LogisticRegression().fit(frame[NUMBERS], frame.y))
    encrypted = bytearray(whole)
    for mark, flag in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        encrypted[encrypted.find(mark) + flag] |= 1
    path.write_bytes(bytes(encrypted))
    with pytest.raises(UsageError, match="damaged"):
        read_model(path, NUMBERS)
    with zipfile.ZipFile(io.BytesIO(whole)) as held, zipfile.ZipFile(path, "w") as changed:
        for name in held.namelist():
            header = name.endswith(".npy")
            changed.writestr(
                name, held.read(name).replace(b"}", b"(") if header else held.read(name)
            )
    with pytest.raises(UsageError, match="damaged"):
        read_model(path, NUMBERS)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("schema.json", b" " * 10_000_000)
    with pytest.raises(UsageError, match="unpacks to more than a model could hold"):
        read_model(path, NUMBERS)


def test_numbers_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    model = LogisticRegression().fit(np.arange(6.0).reshape(2, 3), ["a", "b"])
    model.coef_[0, 1] = np.nan
    with pytest.raises(UsageError, match="numbers that are not finite"):
        read_model(model, NUMBERS)


def test_a_cut_or_changed_binary_file_is_refused_or_read(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    frame = coded(mixed(1, 2))[[*NUMBERS, "y"]]
    model = fitted(xgboost.XGBClassifier(n_estimators=1, max_depth=2), frame)
    whole = bytes(model.get_booster().save_raw("ubj"))
    rng = np.random.default_rng(0)
    path = tmp_path / "m.ubj"
    for _ in range(200):
        changed = bytearray(whole[: rng.integers(2, len(whole) + 1)])
        changed[rng.integers(1, len(changed))] = rng.integers(256)
        path.write_bytes(bytes(changed))
        with suppress(UsageError):  # a changed number may still be a model
            read_model(path, NUMBERS)


def test_a_tree_that_goes_in_circles_is_refused(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    frame = coded(mixed(1, 2))[[*NUMBERS, "y"]]
    raw = json.loads(
        fitted(xgboost.XGBClassifier(n_estimators=1), frame).get_booster().save_raw("json")
    )
    tree = raw["learner"]["gradient_booster"]["model"]["trees"][0]
    tree["left_children"][1] = 0
    (tmp_path / "m.json").write_text(json.dumps(raw))
    with pytest.raises(UsageError, match="damaged"):
        read_model(tmp_path / "m.json", NUMBERS)
