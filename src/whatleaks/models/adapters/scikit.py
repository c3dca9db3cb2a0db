"""From fitted scikit-learn classifiers, with scalers and encoders in front of them.

A pipeline is walked once with symbols instead of numbers: every step says what becomes of the
list of inputs. What cannot be written down this way is refused by its name.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.errors import UsageError
from whatleaks.models.adapters.beside_original import PEOPLE, People, refuse_another
from whatleaks.models.adapters.given import Coding, Core, Dense, Feature, GivenModel, Votes, word_of
from whatleaks.models.adapters.naming import matched
from whatleaks.models.network import Network
from whatleaks.models.tree import tree_from_sklearn

ACTIVATION = {"logistic": "sigmoid", "tanh": "tanh", "relu": "relu"}

Last = Callable[[Any], Core]  # what turns the last step of a pipeline into a core


def from_scikit(
    model: Any, columns: Sequence[str], last: Last | None = None, foreign: bool = False
) -> GivenModel:
    """Write down a fitted classifier, or a pipeline that ends with one.

    ``last`` reads the classifier at the end, if it is of another library. ``foreign``: it comes
    from a file, which may hold trees that scikit-learn must not walk.
    """
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    *front, final = steps
    first = next(step for step in steps if step is not None and not isinstance(step, str))
    named = getattr(first, "feature_names_in_", None)
    count = getattr(first, "n_features_in_", None)
    if count is None:
        raise UsageError(f"the {type(final).__name__} that was given is not fitted")
    names = None if named is None else [str(name) for name in named]
    kept = None if names is None else _needed(front, names, columns)
    taken, notes = matched(kept, int(count) if kept is None else len(kept), columns)
    called = dict(zip(kept or (), taken, strict=False))
    walk = Front()
    features = [Feature(called.get(name, name)) for name in names or taken]
    for step in front:
        features = _through(step, features, walk)
    core = last(final) if last is not None else _core(final)
    walk.refuse_mixed(features)
    given = GivenModel(
        f"{type(model).__module__.partition('.')[0]} {_title(steps)}",
        taken,
        tuple(features),
        core,
        tuple(walk.codings.values()),
        tuple(word_of(name) for name in final.classes_),
        notes,
        tuple(walk.fills.items()),
    )
    if not (foreign and isinstance(core, Votes)):
        read = [called.get(name, name) for name in names or taken]
        refuse_another(given, lambda people: [_asked(model, names, read, walk, people)])
    return given


def _asked(
    model: Any, names: Sequence[str] | None, read: Sequence[str], walk: Front, people: People
) -> Any:
    """Ask the original about people, in its own words; a column that it drops holds zeros."""
    import pandas as pd

    held = [
        np.asarray(walk.originals[name])[people[name]]
        if name in walk.originals
        else people.get(name, np.zeros(PEOPLE))
        for name in read
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if names is None:
            kind = object if walk.originals else np.float64
            return model.predict_proba(np.stack([one.astype(kind) for one in held], axis=1))
        return model.predict_proba(pd.DataFrame(dict(zip(names, held, strict=True))))


def _needed(front: Sequence[Any], names: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the model's columns but those that a ColumnTransformer drops and the table lacks."""
    features, walk = [Feature(name) for name in names], Front()
    for step in front:
        features = _through(step, features, walk)
    read = {feature.column for feature in features}
    return [name for name in names if name in read or name in columns]


def _title(steps: Sequence[Any]) -> str:
    return " > ".join(type(step).__name__ for step in steps if step not in (None, "passthrough"))


@dataclass(frozen=True)
class Front:
    """What the steps in front of a model do to whole columns: the words, and what fills gaps.

    ``originals`` are the words as the model's own encoder holds them.
    """

    codings: dict[str, Coding] = field(default_factory=dict)
    fills: dict[str, float | str] = field(default_factory=dict)
    originals: dict[str, Any] = field(default_factory=dict)

    def code(self, coding: Coding, originals: Any = ()) -> None:
        """Enter how the words of a column are read."""
        self.originals[coding.column] = originals
        before = self.codings.get(coding.column, coding)
        if before.one_hot != coding.one_hot or (coding.codes and before != coding):
            raise _two_ways(coding.column)
        self.codings[coding.column] = coding

    def fill(self, feature: Feature, value: float | str) -> None:
        """Enter what a gap becomes, if that is said of the column as it is in the table."""
        if feature.steps or feature.word is not None or feature.coded:
            return
        if self.fills.setdefault(feature.column, value) != value:
            raise _two_ways(feature.column)

    def refuse_mixed(self, features: Sequence[Feature]) -> None:
        """Refuse a column that is read in two ways: the audit can hold it in one only."""
        for feature in features:
            coding = self.codings.get(feature.column)
            if coding is not None and (coding.one_hot, not coding.one_hot) != (
                feature.word is not None,
                feature.coded,
            ):
                raise _two_ways(feature.column)


def _two_ways(column: str) -> UsageError:
    return UsageError(f"the model reads column {column!r} in two ways: not supported")


def _through(step: Any, features: list[Feature], walk: Front) -> list[Feature]:
    """Return the inputs after a step; encoders and imputers enter into ``walk`` what they do."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return features
    kind = type(step).__name__
    if kind == "Pipeline":
        for _, inner in step.steps:
            features = _through(inner, features, walk)
        return features
    if kind not in _STEPS or not type(step).__module__.startswith("sklearn."):
        raise UsageError(
            f"the pipeline's step {kind} is not supported yet: use {', '.join(_STEPS)}"
        )
    return _STEPS[kind](step, features, walk)


def _standard(step: Any, features: list[Feature], walk: Front) -> list[Feature]:
    del walk
    return _scaled(features, ("-", step.mean_ if step.with_mean else None), ("/", step.scale_))


def _min_max(step: Any, features: list[Feature], walk: Front) -> list[Feature]:
    del walk
    if step.clip:
        raise UsageError("the pipeline's step MinMaxScaler with clip=True is not supported yet")
    return _scaled(features, ("*", step.scale_), ("+", step.min_))


def _max_abs(step: Any, features: list[Feature], walk: Front) -> list[Feature]:
    del walk
    if getattr(step, "clip", False):
        raise UsageError("the pipeline's step MaxAbsScaler with clip=True is not supported yet")
    return _scaled(features, ("/", step.scale_))


def _robust(step: Any, features: list[Feature], walk: Front) -> list[Feature]:
    del walk
    return _scaled(features, ("-", step.center_), ("/", step.scale_))


def _scaled(features: list[Feature], *steps: tuple[str, Any]) -> list[Feature]:
    told = [(sign, numbers) for sign, numbers in steps if numbers is not None]
    return [
        feature.then(*((sign, float(numbers[i])) for sign, numbers in told))
        for i, feature in enumerate(features)
    ]


def _imputer(step: Any, features: list[Feature], walk: Front) -> list[Feature]:
    """Pass what is there, and say what takes the place of a gap."""
    if len(step.get_feature_names_out()) != len(features):
        raise UsageError("the pipeline's step SimpleImputer adds or drops columns: not supported")
    mark = step.missing_values
    if isinstance(mark, str | int | float | np.number) and mark == mark:
        raise UsageError(
            f"the pipeline's step SimpleImputer with missing_values={mark!r} is not supported: it "
            "replaces values that are there; leave such cells empty"
        )
    for feature, value in zip(features, step.statistics_, strict=True):
        if isinstance(value, str):
            walk.fill(feature, value)
        elif value is not None and value == value:
            walk.fill(feature, float(value))
    return features


def _identity(step: Any, features: list[Feature], walk: Front) -> list[Feature]:
    """Pass everything on: what a fitted ColumnTransformer writes for "passthrough"."""
    del walk
    if step.func is not None:
        raise UsageError("the pipeline's step FunctionTransformer with a function is not supported")
    return features


def _one_hot(step: Any, features: list[Feature], walk: Front) -> list[Feature]:
    if getattr(step, "infrequent_categories_", None) is not None:
        raise UsageError(
            "the pipeline's step OneHotEncoder with infrequent categories is not supported yet"
        )
    found: list[Feature] = []
    for i, feature in enumerate(features):
        words = _words(feature, step.categories_[i], "OneHotEncoder")
        dropped = None if step.drop_idx_ is None else step.drop_idx_[i]
        other = None if step.handle_unknown == "error" else 0.0
        walk.code(Coding(feature.column, words, (), other), step.categories_[i])
        found += [Feature(feature.column, word) for k, word in enumerate(words) if k != dropped]
    return found


def _ordinal(step: Any, features: list[Feature], walk: Front) -> list[Feature]:
    if getattr(step, "infrequent_categories_", None) is not None:
        raise UsageError(
            "the pipeline's step OrdinalEncoder with infrequent categories is not supported yet"
        )
    for i, feature in enumerate(features):
        words = _words(feature, step.categories_[i], "OrdinalEncoder")
        known = step.handle_unknown == "use_encoded_value" and np.isfinite(step.unknown_value)
        other = float(step.unknown_value) if known else None
        codes = tuple(float(k) for k in range(len(words)))
        walk.code(Coding(feature.column, words, codes, other), step.categories_[i])
    return [replace(feature, coded=True) for feature in features]


def _words(feature: Feature, categories: Any, kind: str) -> tuple[str, ...]:
    if feature.steps or feature.word is not None or feature.coded:
        raise UsageError(f"the pipeline has a {kind} behind a scaler or an encoder: not supported")
    words = tuple(word_of(value) for value in categories if value is not None and value == value)
    if len(set(words)) != len(categories):
        raise UsageError(
            f"the {kind} on column {feature.column!r} has a category for gaps, or two that are "
            "written alike: not supported"
        )
    return words


def _columns(step: Any, features: list[Feature], walk: Front) -> list[Feature]:
    """Let every part of a ColumnTransformer act on its own columns."""
    names = [feature.column for feature in features]
    found: list[Feature] = []
    weights = step.transformer_weights or {}
    for name, part, chosen in step.transformers_:
        if isinstance(part, str) and part == "drop":
            continue
        places = _places(chosen, getattr(step, "feature_names_in_", None), len(names))
        if not places:
            continue  # a part without columns was never fitted
        weight = float(weights.get(name, 1.0))
        if weight <= 0.0:
            raise UsageError(
                f"the ColumnTransformer's weight of {name!r} is {weight:g}: not supported, use one above 0"
            )
        taken = _through(part, [features[i] for i in places], walk)
        found += taken if weight == 1.0 else [one.then(("*", weight)) for one in taken]
    return found


def _places(chosen: Any, names: Any, count: int) -> list[int]:
    """Return the positions of chosen columns, however they were chosen."""
    if isinstance(chosen, slice):
        if isinstance(chosen.start, str) or isinstance(chosen.stop, str):
            raise UsageError("a ColumnTransformer that takes a slice of names is not supported yet")
        return list(range(count))[chosen]
    one = [chosen] if isinstance(chosen, str | int | np.integer) else list(chosen)
    if one and isinstance(one[0], bool | np.bool_):
        return [i for i, taken in enumerate(one) if taken]
    known = [] if names is None else [str(name) for name in names]
    return [known.index(c) if isinstance(c, str) else range(count)[int(c)] for c in one]


_STEPS: dict[str, Callable[[Any, list[Feature], Front], list[Feature]]] = {
    "StandardScaler": _standard,
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": _max_abs,
    "RobustScaler": _robust,
    "OneHotEncoder": _one_hot,
    "OrdinalEncoder": _ordinal,
    "ColumnTransformer": _columns,
    "SimpleImputer": _imputer,
    "FunctionTransformer": _identity,
}


def _core(model: Any) -> Core:
    kind = type(model).__name__
    if kind not in _MODELS or not type(model).__module__.startswith("sklearn."):
        if not hasattr(model, "predict_proba"):
            raise UsageError(f"{kind} does not classify with scores: give a fitted classifier")
        raise UsageError(f"no attack fits this model yet: {kind} (use {', '.join(SUPPORTED)})")
    if not hasattr(model, "classes_"):
        raise UsageError(f"the {kind} that was given is not fitted")
    if isinstance(model.classes_, list) or np.ndim(model.classes_[0]):
        raise UsageError(f"the {kind} predicts several labels at once: give one that predicts one")
    if len(model.classes_) < 2:
        raise UsageError(f"the {kind} knows one class only: it tells nothing apart")
    return _MODELS[kind](model)


def _logistic(model: Any) -> Core:
    if getattr(model, "multi_class", "auto") not in ("auto", "deprecated"):
        raise UsageError(
            f"LogisticRegression with multi_class={model.multi_class!r} is not supported: fit it anew"
        )
    if model.solver == "liblinear" and len(model.classes_) > 2:  # until scikit-learn 1.7
        raise UsageError(
            f"LogisticRegression with solver='liblinear' holds one model for each of {len(model.classes_)} "
            "classes: not supported, use another solver"
        )
    return dense([model.coef_.T], [model.intercept_], "relu")


def _perceptron(model: Any) -> Core:
    if model.out_activation_ == "logistic" and model.n_outputs_ > 1:
        raise UsageError(
            "the MLPClassifier predicts several labels at once: give one for one label"
        )
    return dense(model.coefs_, model.intercepts_, model.activation)


def dense(weights: Sequence[Any], biases: Sequence[Any], activation: str) -> Dense:
    """Return layers as a core: without an activation they are one; two outputs become one.

    The softmax of two outputs is the sigmoid of their difference.
    """
    w = [np.asarray(part, dtype=np.float64) for part in weights]
    b = [
        np.broadcast_to(np.asarray(part, dtype=np.float64), (weight.shape[1],))
        for part, weight in zip(biases, w, strict=True)
    ]
    if activation == "identity":
        whole, shift = w[0], b[0]
        for weight, bias in zip(w[1:], b[1:], strict=True):
            whole, shift = whole @ weight, shift @ weight + bias
        w, b, activation = [whole], [shift], "relu"
    if w[-1].shape[1] == 2:
        w[-1], b[-1] = w[-1][:, 1:] - w[-1][:, :1], b[-1][1:] - b[-1][:1]
    known = ACTIVATION.get(activation, activation)
    return Dense(Network(_all_sealed(w), _all_sealed(b), known))


def _all_sealed(parts: Sequence[Floats]) -> tuple[Floats, ...]:
    return tuple(sealed(part) for part in parts)


def _tree(model: Any) -> Core:
    return Votes((_plain_tree(model),), forest=False)


def _forest(model: Any) -> Core:
    return Votes(tuple(_plain_tree(tree) for tree in model.estimators_), forest=True)


def _plain_tree(model: Any) -> Any:
    count = len(model.classes_)
    return tree_from_sklearn(model, int(model.n_features_in_), count, np.arange(count))


_MODELS: dict[str, Callable[[Any], Core]] = {
    "LogisticRegression": _logistic,
    "LogisticRegressionCV": _logistic,
    "MLPClassifier": _perceptron,
    "DecisionTreeClassifier": _tree,
    "ExtraTreeClassifier": _tree,
    "RandomForestClassifier": _forest,
    "ExtraTreesClassifier": _forest,
}
SUPPORTED = tuple(_MODELS)
