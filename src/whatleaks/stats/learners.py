"""Guesses learnt from complete records of other people, with a control of their own: messages exchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import UsageError
from whatleaks.stats.columns import CATEGORY, Column
from whatleaks.stats.ways import WITH, WITHOUT, Way

TREES = 20  # for each column: 100 for all columns together see no product of two own columns
PENALTIES = np.logspace(-4, 3, 8)

Learner = Callable[[Floats], list[Floats]]  # from features to each column's targets


@dataclass(frozen=True)
class Records:
    """What a partner knows of other people: its own columns, their messages, the passive columns."""

    own: Floats
    messages: Floats  # people x 0 where it sees none
    values: Floats  # people x passive columns


def learn_alone(
    columns: Sequence[Column], records: Records, own: Floats, rng: np.random.Generator
) -> tuple[tuple[Way, ...], ...]:
    """Guess every column by own columns; no message is seen, so this is the same for all releases."""
    learners = _fit(columns, records.own, records.values, rng)
    return _ways(columns, learners, own, WITHOUT, "own columns")


def learn(
    columns: Sequence[Column],
    records: Records,
    own: Floats,
    messages: Floats,
    exchanged: Floats,
    rng: np.random.Generator,
) -> tuple[tuple[Way, ...], ...]:
    """Guess every column by own columns and messages, and by messages exchanged between people.

    ``exchanged``: the messages of the people who are guessed, each those of somebody else. Without
    joining a learner is trained on true or on exchanged messages, and always asked with exchanged
    ones: so it knows all that follows from seeing messages of some sort.
    """
    mixed = records.messages[rng.permutation(len(records.messages))]
    true = _fit(columns, np.hstack([records.own, records.messages]), records.values, rng)
    blind = _fit(columns, np.hstack([records.own, mixed]), records.values, rng)
    joined, control = np.hstack([own, messages]), np.hstack([own, exchanged])
    parts = (
        _ways(columns, true, joined, WITH, "messages"),
        _ways(columns, true, control, WITHOUT, "exchanged messages"),
        _ways(columns, blind, control, WITHOUT, "exchanged messages, also in training"),
    )
    return tuple(sum(ways, ()) for ways in zip(*parts, strict=True))


def _fit(
    columns: Sequence[Column], features: Floats, values: Floats, rng: np.random.Generator
) -> dict[str, Learner]:
    """Fit the learners; those that lose nothing by it once for all columns, a forest for each column."""
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.neighbors import NearestNeighbors

    if values.shape != (len(features), len(columns)) or len(features) < 2:
        raise UsageError(f"records must be at least 2 people x {len(columns)} columns")
    targets = [
        (of_column[:, None] == column.codes).astype(np.float64)
        if column.kind == CATEGORY
        else of_column[:, None]
        for column, of_column in zip(columns, values.T, strict=True)
    ]
    ends = np.cumsum([target.shape[1] for target in targets])[:-1]
    every = np.hstack(targets)
    scale = features.std(axis=0) + 1e-12
    known = features / scale
    ridge = RidgeCV(PENALTIES, alpha_per_target=True).fit(known, every)
    nearest = NearestNeighbors(n_neighbors=1).fit(known)
    forests = [
        ExtraTreesRegressor(TREES, min_samples_leaf=2, random_state=int(rng.integers(2**31))).fit(
            known, target if target.shape[1] > 1 else target[:, 0]
        )
        for target in targets
    ]

    def by_ridge(asked: Floats) -> list[Floats]:
        return np.split(ridge.predict(asked / scale).reshape(len(asked), -1), ends, axis=1)

    def by_forest(asked: Floats) -> list[Floats]:
        return [forest.predict(asked / scale).reshape(len(asked), -1) for forest in forests]

    def by_nearest(asked: Floats) -> list[Floats]:
        record = nearest.kneighbors(asked / scale, return_distance=False)[:, 0]
        return np.split(every[record], ends, axis=1)

    return {"ridge": by_ridge, "forest": by_forest, "nearest record": by_nearest}


def _ways(
    columns: Sequence[Column], learners: dict[str, Learner], asked: Floats, side: str, source: str
) -> tuple[tuple[Way, ...], ...]:
    """Ask every learner once, and give each column its part of the answer."""
    ways: list[list[Way]] = [[] for _ in columns]
    for name, learner in learners.items():
        for column, of_column, guess in zip(columns, ways, learner(asked), strict=True):
            way = Way(f"{name}, {source}", side, guess[:, 0])
            if column.kind == CATEGORY:
                codes = np.array(column.codes)[guess.argmax(axis=1)]
                way = Way(way.name, side, codes, guess)
            of_column.append(way)
    return tuple(map(tuple, ways))
