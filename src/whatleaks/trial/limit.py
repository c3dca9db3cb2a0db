"""The limit: what a supervised regressor gets from the same evidence.

The evaluator, who holds the truth, trains a regressor on other records from everything
that the adversary sees of a record to the true values. It estimates what a better attack
with this view could hope for. It is no proof: an attack that solves equations exactly can
do better than a regressor, and few records make a weak one.

With many columns the forest's work is bounded (``bounded``): it looks at the columns that go
most closely with any of the unknown ones, and splits by random mixtures of these instead of
all of them. Up to ``WIDE`` columns on either side nothing is bounded.
"""

from __future__ import annotations

import hashlib

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed

ENOUGH_OTHERS = 400
MOST_OTHERS = 3000
FOLDS = 5
WIDE = 60  # columns, seen or unknown, up to which the forest uses all of them
MIXTURES = 30  # of the unknown columns, by which a bounded forest splits
TREES = 60  # of a forest that answers; on three sets a hundred moved its error by up to 3 in 100, either way
CHOOSING = 25  # of one that is only held against the other candidates
KEPT = 16  # fits that are remembered: threats of one training often see the same


def bounded(seen: int, unknown: int) -> bool:
    """Say whether a forest over so many columns is bounded."""
    return max(seen, unknown) > WIDE


def learnt_from(others: Ints, rng: np.random.Generator) -> Ints:
    """Choose the records that the regressor learns from: with many, some of them in any order."""
    if len(others) < ENOUGH_OTHERS:
        return others
    return others[rng.permutation(len(others))[:MOST_OTHERS]]


def predict_from_evidence(
    evidence: Floats,
    truth: Floats,
    other_evidence: Floats,
    other_truth: Floats,
    rng: np.random.Generator,
) -> Floats:
    """Return the regressor's values for every target record, never trained on that record.

    With many other records it is trained on these alone. With few, the targets are cut into
    folds and each fold is predicted from the others. ``rng`` has chosen the others (``learnt_from``).
    """
    if len(other_evidence) >= ENOUGH_OTHERS:
        return sealed(_fit_predict(other_evidence, other_truth, evidence, rng))
    fold = rng.permutation(np.arange(len(evidence)) % min(FOLDS, len(evidence)))
    values = np.empty_like(truth)
    for k in np.unique(fold):
        held = fold == k
        x = np.concatenate([other_evidence, evidence[~held]])
        y = np.concatenate([other_truth, truth[~held]])
        values[held] = _fit_predict(x, y, evidence[held], rng)
    return sealed(values)


_fits: dict[str, Floats] = {}


def _fit_predict(x: Floats, y: Floats, new: Floats, rng: np.random.Generator) -> Floats:
    """Choose per column, by a held-out third, among the mean, a linear map and a forest.

    What was fitted on the same numbers a moment ago is not fitted again.
    """
    seed = int(rng.integers(2**31))
    order = rng.permutation(len(x))
    key = hashlib.sha256(f"{seed} {x.shape} {y.shape} {new.shape}".encode())
    for part in (order, x, y, new):
        key.update(np.ascontiguousarray(part).data)
    name = key.hexdigest()
    if name not in _fits:
        while len(_fits) >= KEPT:
            _fits.pop(next(iter(_fits)))
        _fits[name] = sealed(_fitted(x, y, new, seed, order))
    return _fits[name]


def _fitted(x: Floats, y: Floats, new: Floats, seed: int, order: Ints) -> Floats:
    cut = max(1, len(x) * 2 // 3)
    fit, check = order[:cut], order[cut:]
    best = np.zeros(y.shape[1], dtype=np.int64)
    if len(check):
        losses = np.stack(
            [
                ((_candidate(k, x, y, fit, x[check], seed, CHOOSING) - y[check]) ** 2).mean(axis=0)
                for k in range(3)
            ]
        )
        best = losses.argmin(axis=0)
    values = np.empty((len(new), y.shape[1]))
    everybody = np.arange(len(x))
    for k in np.unique(best):
        values[:, best == k] = _candidate(int(k), x, y, everybody, new, seed, TREES)[:, best == k]
    # A linear map can run off to anywhere on a record unlike all others; nobody would believe that.
    low, high = y.min(axis=0), y.max(axis=0)
    return np.asarray(np.clip(values, low - (high - low), high + (high - low)), dtype=np.float64)


def _candidate(
    kind: int, x: Floats, y: Floats, rows: Ints, new: Floats, seed: int, trees: int
) -> Floats:
    """Fit one candidate on ``rows`` and return its values for ``new``."""
    if kind == 0:
        return np.broadcast_to(y[rows].mean(axis=0), (len(new), y.shape[1]))
    if kind == 1:
        from sklearn.linear_model import LinearRegression

        fitted = LinearRegression().fit(x[rows], y[rows]).predict(new)
        return np.asarray(fitted, dtype=np.float64).reshape(len(new), -1)
    return _forest(x[rows], y[rows], new, seed, trees)


def _forest(x: Floats, y: Floats, new: Floats, seed: int, trees: int) -> Floats:
    """Average extremely randomised trees: scikit-learn's forest, tree by tree.

    What ``ExtraTreesRegressor`` sets up for every tree, a random state of its own included, costs as
    much again as a small tree does: here one state serves all.
    """
    from sklearn import config_context
    from sklearn.tree import ExtraTreeRegressor

    draw = np.random.RandomState(seed)  # the kind that scikit-learn takes
    wide = bounded(x.shape[1], y.shape[1])
    split_by = y
    if wide:
        rng = np.random.default_rng(seed)
        told = _telling(x, y)
        x, new = x[:, told], new[:, told]
        if y.shape[1] > MIXTURES:
            spread = y.std(axis=0)
            mixing = (
                rng.normal(size=(y.shape[1], MIXTURES)) / np.where(spread > 0, spread, 1)[:, None]
            )
            split_by = (y - y.mean(axis=0)) @ mixing
    seen, asked = (np.ascontiguousarray(part, dtype=np.float32) for part in (x, new))
    target = np.ascontiguousarray(split_by, dtype=np.float64)
    total = np.zeros((len(new), y.shape[1] if split_by is y else len(y)))
    with config_context(skip_parameter_validation=True, assume_finite=True):
        for _ in range(trees):
            tree = ExtraTreeRegressor(
                min_samples_leaf=2,
                max_features=1.0,
                random_state=draw,
            ).fit(seen, target, check_input=False)
            if split_by is y:
                total += tree.tree_.predict(asked).reshape(len(new), -1)
            else:
                total += _shares(tree.tree_.apply(seen), tree.tree_.apply(asked))
    return total / trees if split_by is y else total / trees @ y


def _telling(x: Floats, y: Floats) -> Ints:
    """Return the ``WIDE`` columns of ``x`` that go most closely with any column of ``y``."""
    if x.shape[1] <= WIDE:
        return np.arange(x.shape[1], dtype=np.int64)
    sides = []
    for side in (x, y):
        centred = side - side.mean(axis=0)
        size = np.linalg.norm(centred, axis=0)
        sides.append(centred / np.where(size > 0, size, 1.0))
    closest = np.abs(sides[0].T @ sides[1]).max(axis=1)
    return np.sort(np.argsort(-closest, kind="stable")[:WIDE]).astype(np.int64)


def _shares(trained: Ints, asked: Ints) -> Floats:
    """Return the share that every record that trained has in every asked record's answer.

    A leaf answers with the mean of those who trained into it. So a forest's answer is one mean of
    everybody, by shares added up over its trees.
    """
    return np.asarray((asked[:, None] == trained) / np.bincount(trained)[trained])
