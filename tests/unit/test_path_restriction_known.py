"""Paths and known people together: the conditional mean against sampling, limits, a real tree."""

from __future__ import annotations

import numpy as np

from whatleaks.attacks.path_restriction_known import conditional_mean
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.trial import run_trial


def sampled(centre, spread, candidates, low, high, rng, draws=400_000):
    """Draw normal values, keep those in a candidate box, average: the slow plain reference."""
    x = centre + spread * rng.normal(size=(draws, len(centre)))
    kept = np.zeros(draws, dtype=bool)
    for leaf in np.flatnonzero(candidates):
        kept |= ((x > low[leaf]) & (x <= high[leaf])).all(axis=1)
    return x[kept].mean(axis=0), x[kept].std(axis=0) / np.sqrt(kept.sum())


def test_it_is_the_mean_of_what_falls_into_the_boxes() -> None:
    rng = np.random.default_rng(0)
    low = np.array([[0.0, 0.0], [0.4, 0.0], [0.4, 0.7]])  # boxes that do not overlap
    high = np.array([[0.4, 1.0], [1.0, 0.7], [1.0, 1.0]])
    centre = np.array([[0.3, 0.5], [0.9, 0.2], [-0.2, 1.1]])
    spread = np.array([0.2, 0.3])
    candidates = np.array([[True, False, True], [True, True, False], [False, True, True]])
    found = conditional_mean(centre, spread, candidates, low, high)
    for i in range(3):
        mean, error = sampled(centre[i], spread, candidates[i], low, high, rng)
        assert np.all(np.abs(found[i] - mean) < 5 * error)


def test_without_a_border_it_is_the_regression_and_a_point_is_itself() -> None:
    centre, spread = np.array([[0.4, 0.6]]), np.array([0.1, 0.1])
    far = np.full((1, 2), 50.0)
    wide = conditional_mean(centre, spread, np.array([[True]]), -far, far)
    assert np.allclose(wide, centre, atol=1e-12)
    at = np.array([[0.9, 0.1]])
    tight = conditional_mean(centre, spread, np.array([[True]]), at - 1e-9, at)
    assert np.allclose(tight, at, atol=1e-8)


def test_a_box_that_the_regression_thinks_impossible_stays_finite() -> None:
    centre, spread = np.array([[5.0]]), np.array([1e-3])
    low, high = np.array([[0.0], [0.5]]), np.array([[0.5], [1.0]])
    found = conditional_mean(centre, spread, np.array([[True, False]]), low, high)
    assert 0.4 < found[0, 0] <= 0.5
    both = conditional_mean(centre, spread, np.array([[True, True]]), low, high)
    assert np.isfinite(both).all()


def test_on_a_real_tree_both_together_tell_more_than_either() -> None:
    scenario = Scenario(
        "breast-cancer",
        share=0.4,
        model="tree",
        threat="white-box-tree-known",
        attacks=("path-restriction-known", "path-restriction-values", "known-regression-votes"),
        targets=100,
    )
    found = run_trial(scenario).outcome.measurements
    both = found["path-restriction-known"].value
    assert both < found["path-restriction-values"].value
    assert both <= found["known-regression-votes"].value
