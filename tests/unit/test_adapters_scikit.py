"""What scikit-learn says of raw records, the folded model says of encoded ones: to 1e-12."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as tried
from hypothesis import settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import whatleaks
from given_tables import NUMBERS, WORDS, columns, farthest, mixed, prepared, scores
from whatleaks.codec import decode, encode
from whatleaks.errors import UsageError, WhatleaksError
from whatleaks.models.adapters.folding import last_true
from whatleaks.models.adapters.given import Dense
from whatleaks.models.adapters.reading import read_model

MODELS: dict[str, Any] = {
    "regression": lambda: LogisticRegression(max_iter=60),
    "network": lambda: MLPClassifier((6, 4), max_iter=8, random_state=0),
    "identity": lambda: MLPClassifier((5,), activation="identity", max_iter=8, random_state=0),
    "logistic": lambda: MLPClassifier((5,), activation="logistic", max_iter=8, random_state=0),
    "tree": lambda: DecisionTreeClassifier(random_state=0),
    "forest": lambda: RandomForestClassifier(7, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(7, random_state=0),
}
SCALERS: dict[str, Any] = {
    "nothing": lambda: "passthrough",
    "standard": StandardScaler,
    "minmax": lambda: MinMaxScaler((-1, 3)),
    "maxabs": MaxAbsScaler,
    "robust": RobustScaler,
    "two": lambda: make_pipeline(StandardScaler(), MinMaxScaler()),
}


def front(scaler: Any, sparse: bool = False) -> Any:
    return make_column_transformer(
        (OneHotEncoder(drop="if_binary", sparse_output=sparse), ["city", "branch"]),
        (make_pipeline(OrdinalEncoder(categories=[WORDS]), StandardScaler()), ["size"]),
        (scaler, NUMBERS),
        remainder="passthrough",
    )


def fitted(model: Any, frame: pd.DataFrame, label: Any = None) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(frame[columns(frame)], frame.y if label is None else label)


@settings(max_examples=60, deadline=None)
@tried(
    model=st.sampled_from(sorted(MODELS)),
    scaler=st.sampled_from(sorted(SCALERS)),
    classes=st.integers(2, 4),
    seed=st.integers(0, 2**20),
    passive=st.sets(st.sampled_from([*NUMBERS, "city", "size"]), min_size=1, max_size=3),
)
def test_the_folded_scores_are_the_librarys(
    model: str, scaler: str, classes: int, seed: int, passive: set[str]
) -> None:
    frame = mixed(seed, classes)
    pipeline = fitted(make_pipeline(front(SCALERS[scaler]()), MODELS[model]()), frame)
    given = read_model(pipeline, columns(frame))
    assert decode(encode(given)).digest() == given.digest()
    scale_on = "all" if seed % 2 else "training"
    assert farthest(pipeline, given, frame, passive=sorted(passive), scale_on=scale_on) < 1e-12


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_bare_model_on_numbers(name: str) -> None:
    frame = mixed(3)[[*NUMBERS, "member", "y"]]
    model = fitted(MODELS[name](), frame)
    assert farthest(model, read_model(model, columns(frame)), frame) < 1e-12


def test_a_model_without_names_reads_the_columns_in_their_order() -> None:
    frame = mixed(4)[[*NUMBERS, "y"]]
    model = LogisticRegression(max_iter=50).fit(frame[NUMBERS].to_numpy(), frame.y)
    given = read_model(model, NUMBERS)
    assert "in their order" in given.notes[0]
    found, _ = scores(given, frame)
    assert np.abs(found - model.predict_proba(frame[NUMBERS].to_numpy())).max() < 1e-12


def test_columns_in_another_order_than_the_models() -> None:
    frame = mixed(5)
    pipeline = fitted(make_pipeline(front(StandardScaler()), LogisticRegression()), frame)
    turned = frame[[*reversed(columns(frame)), "y"]]
    given = read_model(pipeline, columns(turned))
    found, _ = scores(given, turned)
    assert np.abs(found - pipeline.predict_proba(frame[columns(frame)])).max() < 1e-12


@pytest.mark.parametrize("name", ["regression", "network", "tree", "forest"])
def test_a_constant_column_and_a_category_that_the_table_lacks_are_folded_away(name: str) -> None:
    frame = mixed(6, rows=300)
    pipeline = fitted(make_pipeline(front(StandardScaler()), MODELS[name]()), frame)
    few = frame[(frame.city != "Bb") & (frame["size"] != "M")].reset_index(drop=True)
    few = few.assign(age=44, member=True)
    given = read_model(pipeline, columns(few))
    assert farthest(pipeline, given, few, constant="drop") < 1e-12


@pytest.mark.parametrize("name", ["regression", "tree", "forest"])
def test_a_category_that_the_encoder_ignores(name: str) -> None:
    frame = mixed(7)
    transform = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["city"]),
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["size"]),
        remainder="passthrough",
    )
    pipeline = fitted(make_pipeline(transform, MODELS[name]()), frame)
    frame.loc[:20, "city"] = "Zz"
    frame.loc[10:30, "size"] = "XXL"
    assert farthest(pipeline, read_model(pipeline, columns(frame)), frame) < 1e-12


@pytest.mark.parametrize("name", ["regression", "network", "tree", "forest"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_label_may_be_in_another_order(name: str, classes: int) -> None:
    frame = mixed(8, classes)
    model = fitted(MODELS[name](), frame[[*NUMBERS, "y"]])
    turned = sorted(frame.y.unique(), reverse=True)
    other = frame[NUMBERS].assign(y=pd.Categorical(frame.y, turned, ordered=True))
    made = prepared(read_model(model, NUMBERS), other)
    assert made.classes == tuple(turned)
    assert farthest(model, read_model(model, NUMBERS), other) < 1e-12


def test_numbered_classes_stand_for_the_labels_sorted_values() -> None:
    frame = mixed(9)
    codes = frame.y.map({name: i for i, name in enumerate(sorted(frame.y.unique()))})
    model = fitted(LogisticRegression(max_iter=50), frame[[*NUMBERS, "y"]], codes)
    assert farthest(model, read_model(model, NUMBERS), frame[[*NUMBERS, "y"]]) < 1e-12


@pytest.mark.parametrize("column", ["income", "balance"])
def test_values_that_are_thresholds_themselves_go_left(column: str) -> None:
    frame = mixed(10, rows=200)[[*NUMBERS, "y"]]
    tree = DecisionTreeClassifier(random_state=0).fit(frame[[column]].round(), frame.y)
    borders = tree.tree_.threshold[tree.tree_.children_left >= 0]
    values = np.resize(np.concatenate([borders, np.nextafter(borders, np.inf)]), 200)
    table = pd.DataFrame({column: values, "other": np.arange(200.0) ** 0.5, "y": frame.y})
    model = DecisionTreeClassifier(random_state=0).fit(frame[[column]].round(), frame.y)
    given = read_model(make_pipeline(_pick(column, table), model), [column, "other"])
    found, _ = scores(given, table, passive=[column])
    assert np.abs(found - model.predict_proba(table[[column]])).max() == 0.0


def _pick(column: str, table: pd.DataFrame) -> Any:
    return make_column_transformer(("passthrough", [column])).fit(table[[column, "other"]])


def test_a_search_and_an_imputer_are_looked_through() -> None:
    frame = mixed(14)[[*NUMBERS, "y"]]
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
    search = fitted(GridSearchCV(pipeline, {"logisticregression__C": [0.1, 1.0]}, cv=2), frame)
    assert farthest(search, read_model(search, NUMBERS), frame) < 1e-12


def test_a_column_that_the_pipeline_drops_is_no_part_of_the_federation() -> None:
    frame = mixed(18)[[*NUMBERS, "city", "y"]]
    front = make_column_transformer((StandardScaler(), NUMBERS))  # the remainder is dropped
    pipeline = fitted(make_pipeline(front, LogisticRegression()), frame)
    with pytest.raises(UsageError, match=r"does not take column 'city': use drop=\['city'\]"):
        scores(read_model(pipeline, columns(frame)), frame)
    given = read_model(pipeline, NUMBERS)
    found, _ = scores(given, frame, drop=("city",))
    assert np.abs(found - pipeline.predict_proba(frame[columns(frame)])).max() < 1e-12


def test_bisection_finds_the_last_double() -> None:
    borders = np.array([0.0, -1e-300, 2.5, -7e300, np.inf, -np.inf])
    found = last_true(lambda x: np.asarray(x <= borders), len(borders))
    assert np.array_equal(found, borders)


def test_two_outputs_and_layers_without_activation_become_one() -> None:
    frame = mixed(11, 2)[[*NUMBERS, "y"]]
    given = read_model(fitted(MODELS["identity"](), frame), NUMBERS)
    assert isinstance(given.core, Dense)
    assert [w.shape for w in given.core.layers.weights] == [(3, 1)]
    assert given.core.form == "given-linear"


REFUSED: dict[str, tuple[Any, str]] = {
    "step": (lambda: make_pipeline(PolynomialFeatures(), LogisticRegression()), "PolynomialF"),
    "clip": (lambda: make_pipeline(MinMaxScaler(clip=True), LogisticRegression()), "clip"),
    "no gap": (
        lambda: make_pipeline(SimpleImputer(missing_values=-1), LogisticRegression()),
        "SimpleImputer with missing_values=-1 is not supported",
    ),
    "regressor": (LinearRegression, "does not classify"),
    "no attack": (GaussianNB, "no attack fits this model yet: GaussianNB"),
}
if "clip" in MaxAbsScaler().get_params():  # older releases of scikit-learn cannot clip there
    REFUSED["clip too"] = (
        lambda: make_pipeline(MaxAbsScaler(clip=True), LogisticRegression()),
        "clip",
    )


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_not_supported_is_named(name: str) -> None:
    frame = mixed(12)[[*NUMBERS, "y"]]
    make, words = REFUSED[name]
    label = np.arange(len(frame)) if name == "regressor" else frame.y
    model = fitted(make(), frame, label)
    with pytest.raises(UsageError, match=words) as told:
        read_model(model, NUMBERS)
    assert "\n" not in str(told.value)


READ_TWICE: dict[str, tuple[Any, str]] = {
    "rare words": (
        lambda: make_column_transformer((OrdinalEncoder(max_categories=2), ["size"])),
        "OrdinalEncoder with infrequent categories",
    ),
    "an encoder behind another": (
        lambda: make_column_transformer(
            (make_pipeline(OrdinalEncoder(), OneHotEncoder(handle_unknown="ignore")), ["size"])
        ),
        "OneHotEncoder behind a scaler or an encoder",
    ),
    "coded and as it is": (
        lambda: make_column_transformer(
            (OrdinalEncoder(), ["branch"]), (StandardScaler(), ["branch"])
        ),
        "reads column 'branch' in two ways",
    ),
    "coded in two orders": (
        lambda: make_column_transformer(
            (OrdinalEncoder(), ["size"]), (OrdinalEncoder(categories=[WORDS]), ["size"])
        ),
        "reads column 'size' in two ways",
    ),
}


@pytest.mark.parametrize("name", sorted(READ_TWICE))
def test_a_column_that_cannot_be_held_as_the_model_reads_it_is_refused(name: str) -> None:
    frame = mixed(15)[["size", "branch", "y"]]
    make, words = READ_TWICE[name]
    pipeline = fitted(make_pipeline(make(), LogisticRegression()), frame)
    with pytest.raises(UsageError, match=words):
        read_model(pipeline, columns(frame))


def test_gaps_are_filled_as_the_models_own_imputer_fills_them() -> None:
    frame = mixed(16)[[*NUMBERS, "city", "y"]].astype({"city": object})
    frame.loc[::7, "income"] = np.nan
    frame.loc[::5, "city"] = np.nan
    words = make_pipeline(SimpleImputer(strategy="constant", fill_value="Cc"), OneHotEncoder())
    numbers = make_pipeline(SimpleImputer(strategy="constant", fill_value=-1e5), StandardScaler())
    front = make_column_transformer((words, ["city"]), (numbers, NUMBERS))
    pipeline = fitted(make_pipeline(front, LogisticRegression()), frame)
    given = read_model(pipeline, columns(frame))
    assert farthest(pipeline, given, frame, missing="median") < 1e-12
    assert not prepared(given, frame, missing="median").notes


def test_gaps_that_the_audit_fills_itself_are_told() -> None:
    frame = mixed(17)[[*NUMBERS, "y"]]
    model = fitted(DecisionTreeClassifier(random_state=0), frame)
    frame.loc[::7, "income"] = np.nan
    made = prepared(read_model(model, NUMBERS), frame, missing="median")
    assert "Gaps in 'income' were filled here by the median" in made.notes[-1]
    assert "was not audited" in made.notes[-1]
    whole = prepared(read_model(model, NUMBERS), frame, missing="drop-rows")
    assert "Gaps" not in " ".join(whole.notes)


def test_what_does_not_fit_the_table_is_refused() -> None:
    frame = mixed(13)
    model = fitted(LogisticRegression(), frame[[*NUMBERS, "y"]])
    with pytest.raises(UsageError, match="takes column 'age', which the table does not have"):
        read_model(model, ["income", "balance", "agee"])
    with pytest.raises(UsageError, match=r"does not take column 'member': use drop=\['member'\]"):
        scores(read_model(model, [*NUMBERS, "member"]), frame[[*NUMBERS, "member", "y"]])
    two = frame[NUMBERS].assign(y=np.where(frame.age > 50, "low", "high"))
    with pytest.raises(UsageError, match="knows 3 classes, the label has 2"):
        scores(read_model(model, NUMBERS), two)
    with pytest.raises(UsageError, match="the model's classes are"):
        scores(read_model(model, NUMBERS), frame[NUMBERS].assign(y=frame.y + "x"))
    words = frame[NUMBERS].assign(y=frame.y, age=np.where(frame.age > 50, "old", "young"))
    with pytest.raises(WhatleaksError, match="'age' holds words, where the model takes numbers"):
        scores(read_model(model, NUMBERS), words)
    with pytest.raises(UsageError, match="not fitted"):
        read_model(LogisticRegression(), NUMBERS)
    with pytest.raises(UsageError, match="a dict is no model"):
        read_model({}, NUMBERS)
    pipeline = fitted(make_pipeline(front(StandardScaler()), LogisticRegression()), frame)
    with pytest.raises(WhatleaksError, match="'city' holds 1 words that the model's encoder"):
        scores(read_model(pipeline, columns(frame)), frame.assign(city="Zz"))


def test_a_mask_of_training_rows_is_read_as_a_column_would_be() -> None:
    frame = mixed(19)[[*NUMBERS, "y"]]
    model = fitted(LogisticRegression(), frame)
    for mask in ([np.nan, *[True] * 59, *[False] * 60], list(range(120))):
        with pytest.raises(WhatleaksError, match="must say 0 or 1"):
            whatleaks.audit(frame, label="y", passive=["income"], model=model, trained_on=mask)
