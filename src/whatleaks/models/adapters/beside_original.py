"""The model as it was written down, beside the original: both are asked about made-up people.

An adapter follows the steps that it knows. What it overlooks in one of them (an option that a newer
library has, a node that picks rows instead of columns) would be audited as another model without a
word. Where the original can be asked, it has to say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from whatleaks.arrays import Floats
from whatleaks.errors import UsageError
from whatleaks.models.adapters.given import Dense, GivenModel

PEOPLE = 60
FAR = 1e-3  # more than single precision leaves
MOST = 0.1  # the share of people whom rounding may send another way through a tree
_FAILURES = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)

People = Mapping[str, Any]  # every column's values: numbers, or places in the list of its words


def made_up(given: GivenModel, whole: Collection[str] = ()) -> dict[str, Any]:
    """Return people whom the model tells apart: values about its weights' size, or its trees' tests.

    ``whole`` are columns that hold whole numbers only.
    """
    rng = np.random.default_rng(0)
    people: dict[str, Any] = {
        coding.column: rng.integers(len(coding.words), size=PEOPLE) for coding in given.codings
    }
    inputs = _inputs(given, rng)
    for place, feature in enumerate(given.features):
        if feature.column not in people:
            slope, offset = feature.affine()
            values = (inputs[:, place] - offset) / slope
            values = np.rint(values) if feature.column in whole else values
            people[feature.column] = values.astype(np.float32).astype(np.float64)
    return people


def _inputs(given: GivenModel, rng: np.random.Generator) -> Floats:
    """Draw inputs of the model: near those that leave a first layer undecided, or between tests."""
    count = len(given.features)
    if isinstance(given.core, Dense):
        weights, bias = given.core.layers.weights[0], given.core.layers.biases[0]
        size = np.abs(weights).max(axis=1)
        reach = np.where(size > 0.0, 2.0 / np.where(size > 0.0, size, 1.0), 1.0)
        middle: Floats = reach * np.linalg.lstsq((reach[:, None] * weights).T, -bias, rcond=None)[0]
        return middle + reach * rng.normal(size=(PEOPLE, count))
    feature = np.concatenate([tree.feature for tree in given.core.trees])
    border = np.concatenate([tree.threshold for tree in given.core.trees])
    drawn = rng.normal(size=(PEOPLE, count))
    for place in np.unique(feature[feature >= 0]):
        tests = border[feature == place]
        wide = 0.3 * (tests.max() - tests.min()) or abs(tests[0]) or 1.0
        drawn[:, place] = rng.uniform(tests.min() - wide, tests.max() + wide, PEOPLE)
    return drawn


def scores_of(given: GivenModel, people: People) -> Floats:
    """Return what the model, as it was written down, says of people."""
    codings = {coding.column: coding for coding in given.codings}
    inputs = []
    for feature in given.features:
        values = people[feature.column]
        coding = codings.get(feature.column)
        if coding is not None and feature.word is not None:
            values = np.equal(values, coding.words.index(feature.word))
        elif coding is not None:
            values = np.asarray(coding.codes)[values]
        inputs.append(feature.of(np.asarray(values, dtype=np.float64)))
    return given.core.scores(np.stack(inputs, axis=1))


def refuse_another(
    given: GivenModel, ask: Callable[[People], Sequence[Any]], whole: Collection[str] = ()
) -> None:
    """Refuse a model that does not say what its original says; ``ask`` returns all that this one says.

    One of these answers must be the scores: of all classes or of the second of two, as they are or
    before the softmax or the sigmoid. An original that cannot be asked is believed.
    """
    people = made_up(given, whole)
    try:
        answers = [np.asarray(answer, dtype=np.float64) for answer in ask(people)]
    except _FAILURES:
        return
    found = scores_of(given, people)
    apart = [_apart(found, scores) for answer in answers for scores in _readings(answer)]
    if apart and min(apart) > MOST * PEOPLE:
        raise UsageError(
            f"the model says something else of {min(apart)} of {PEOPLE} made-up people than what an audit would "
            "hold of it: a part of it is not supported yet"
        )


def _apart(found: Floats, told: Floats) -> int:
    if told.shape != found.shape:
        return PEOPLE
    return int(np.count_nonzero(~(np.abs(found - told).max(axis=1) < FAR)))


def _readings(answer: Floats) -> list[Floats]:
    """Return the scores that an answer may stand for."""
    if answer.ndim == 1 or answer.shape[1:] == (1,):
        second = [answer.ravel(), expit(answer.ravel())]
        return [np.stack([1.0 - one, one], axis=1) for one in second]
    return [answer, softmax(answer, axis=1)] if answer.ndim == 2 else []
