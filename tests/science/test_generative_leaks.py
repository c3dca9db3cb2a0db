"""Generative regression under the one rule: what it may use, and what it gains from it."""

from __future__ import annotations

import dataclasses

import numpy as np
from sklearn.datasets import load_digits, load_wine

from staging import linear_stage
from whatleaks.arrays import sealed
from whatleaks.attacks.baselines import Half, ShapeView
from whatleaks.attacks.generative_regression import GenerativeRegression
from whatleaks.codec import encode
from whatleaks.metrics.intervals import mean_over_seeds, paired_difference
from whatleaks.models.additive import adjacent_differences
from whatleaks.threat.prediction import WHITE_BOX
from whatleaks.threat.views.prediction import WhiteBoxLinearView
from whatleaks.trial.evaluator import Evaluator
from whatleaks.trial.isolation import commit
from whatleaks.trial.truth import Truth


def staged(load, passive_columns, training, seed):
    """Train logistic regression by messages; return the view on the other records and their truth."""
    stage = linear_stage(load, passive_columns, training, 400, WHITE_BOX, seed)
    return stage.view(stage.rows.targets), stage.truth


def errors(attack, view, truth, seed=0):
    """Commit once, score once: the mean squared error of every record."""
    evaluator = Evaluator(Truth(truth))
    committed = commit(attack, view, np.random.default_rng(seed))
    return evaluator.score(committed, "attack").squared.mean(axis=1)


def test_secrets_with_equal_views_get_equal_guesses() -> None:
    view, truth = staged(load_wine, 6, 118, 0)
    model = view.model
    matrix = adjacent_differences(model.passive.weights).T
    null = np.linalg.svd(matrix)[2][matrix.shape[0] :]  # directions that no score shows
    other = truth + 0.3 * np.random.default_rng(1).normal(size=(len(truth), len(null))) @ null
    assert np.abs(other - truth).max() > 0.1
    views = [
        WhiteBoxLinearView(view.own, sealed(np.round(model.scores(view.own, t), 9)), 6, model)
        for t in (truth, other)
    ]
    assert encode(views[0]) == encode(views[1])
    attack = GenerativeRegression(hidden=(50, 20), least_steps=200)
    guesses = [commit(attack, v, np.random.default_rng(2)).guess.values for v in views]
    assert np.array_equal(*guesses)


def test_scores_of_other_people_give_no_advantage() -> None:
    # Wine, 6 passive columns, n = 60 records; each gets the scores of a stranger. Against half,
    # paired by record: the interval of (half - attack) must not lie above zero.
    view, truth = staged(load_wine, 6, 118, 0)
    stranger = dataclasses.replace(view, scores=sealed(np.roll(view.scores, 7, axis=0)))
    mixed = errors(GenerativeRegression(), stranger, truth)
    half = errors(Half(), ShapeView(*truth.shape), truth)
    gain = paired_difference(half, mixed, "mean squared error", np.random.default_rng(3))
    assert gain.low <= 0.0
    right = errors(GenerativeRegression(), view, truth)
    loss = paired_difference(mixed, right, "mean squared error", np.random.default_rng(3))
    assert loss.low > 0.0  # with the right scores it does better than with the wrong ones


def digits(return_X_y: bool = True):
    """Handwritten digits: 10 classes; the columns that vary by more than half a grey level."""
    x, y = load_digits(return_X_y=return_X_y)
    return x[:, x.std(axis=0) > 0.5], y


def test_it_beats_one_half_where_columns_correlate() -> None:
    # Digits, logistic regression, the last 20 of 52 columns unknown, n = 300 records in each of
    # 3 seeds: the mean gain over one half has an interval above zero. The set was chosen among
    # five on seeds 0 to 2; these seeds are others. On breast cancer (15 of 30 columns, n = 169,
    # seeds 0 to 2) there is no gain: 0.0007 [-0.051, 0.052].
    gains = []
    for seed in (10, 11, 12):
        view, truth = staged(digits, 20, 1497, seed)
        attacked = errors(GenerativeRegression(), view, truth, seed)
        half = errors(Half(), ShapeView(*truth.shape), truth)
        gains.append(float((half - attacked).mean()))
    assert mean_over_seeds(gains, "mean squared error").low > 0.0
