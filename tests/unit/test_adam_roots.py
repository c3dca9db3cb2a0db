"""Gradients from Adam's directions: two roots, and spare columns that decide between them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.models.adam import Adam
from whatleaks.models.adam_roots import Averages, rounds_undone, undone
from whatleaks.models.grids import BOOLEAN, Grids
from whatleaks.models.label_reading import labels_behind_adam
from whatleaks.models.regression_history import OwnSteps
from whatleaks.threat.views.encrypted import EncryptedLinearView
from whatleaks.threat.views.encrypted_label import EncryptedLabelView


class Trained(NamedTuple):
    columns: Floats
    labels: Floats
    batches: tuple[Ints, ...]
    weights: Floats
    gradients: Floats
    directions: Floats


def trained(spare: int, records: int = 5, batches: int = 4, epochs: int = 3) -> Trained:
    """Train a logistic regression to first order, on columns of which ``spare`` exceed a batch."""
    rng = np.random.default_rng(2)
    width = records + spare
    columns, other = rng.uniform(-1.0, 1.0, (records * batches, width)), rng.random((20, 2))
    labels = (rng.random(records * batches) < 0.5).astype(np.float64)
    rows = tuple(np.split(np.arange(records * batches), batches))
    weights, theirs = rng.normal(0.0, 0.1, width), np.array([0.1, -0.05])
    adam, kept = Adam(np.zeros(width), 1.0), []
    for batch in rows * epochs:
        d = 0.25 * (columns[batch] @ weights + other[batch] @ theirs) + 0.5 - labels[batch]
        gradient = columns[batch].T @ d + 0.01 * weights
        told = adam.direction(gradient)
        kept.append((weights, gradient, told))
        weights = weights - 0.01 * told
    before, gradients, directions = (np.array(each) for each in zip(*kept, strict=True))
    return Trained(columns, labels, rows, before, gradients, directions)


def view_of(done: Trained) -> EncryptedLabelView:
    steps = OwnSteps(
        *(sealed(part) for part in (done.columns, done.weights, done.directions)),
        done.batches, 0.01, 0.01, 0.25, 0.5, "adam",
    )  # fmt: skip
    return EncryptedLabelView(steps, Grids((BOOLEAN,)))


def test_two_gradients_fit_a_later_direction() -> None:
    # After a first gradient of 1 the averages are 0.1 and 0.001, and the direction of a second one
    # is (0.9 + g) / sqrt(0.999 + g^2) times a constant. At g = 1 its square is 3.61 / 1.999 = K, and
    # (1 - K) g^2 + 1.8 g + ... has roots of the sum 1.8 / (K - 1): the other is 1.9872 / 1.611.
    before = Averages(np.zeros(1), np.zeros(1)).after(np.ones(1))
    adam = Adam(np.zeros(1), 1.0)
    adam.direction(np.ones(1))
    told = adam.direction(np.ones(1))
    assert np.abs(before.told(np.ones(1))[0] - told).max() < 1e-12
    roots = np.sort(before.roots(told)[:, 0])
    assert np.abs(roots - [1.0, 1.9872 / 1.611]).max() < 1e-7
    assert np.abs(before.told(roots)[0] - told).max() < 1e-12
    # At -0.5 the other root, -1.5645, has the wrong sign above the line.
    one = before.roots(before.told(np.array([-0.5]))[0])[:, 0]
    assert np.isnan(one).sum() == 1
    assert abs(np.nansum(one) + 0.5) < 1e-12


def test_the_slope_is_that_of_the_direction() -> None:
    rng = np.random.default_rng(1)
    before = Averages(np.zeros(6), np.zeros(6)).after(rng.normal(size=6)).after(rng.normal(size=6))
    g, h = rng.normal(size=6), 1e-6
    between = (before.told(g + h)[0] - before.told(g - h)[0]) / (2 * h)
    assert np.abs(before.told(g)[1] - between).max() < 1e-6


def test_spare_columns_decide() -> None:
    done = trained(spare=4)
    averages = Averages(np.zeros(9), np.zeros(9)).after(done.gradients[0])
    assert not np.isnan(averages.roots(done.directions[1])).any(axis=0).all()  # some have two
    found = undone(done.directions, done.weights, done.columns, done.batches, 0.01)
    assert found.shape == done.gradients.shape
    assert np.abs(found - done.gradients).max() < 1e-5


def test_all_ways_tried_plainly_give_the_same() -> None:
    done = trained(spare=4, epochs=1)
    averages = Averages(np.zeros(9), np.zeros(9)).after(done.gradients[0])
    roots = averages.roots(done.directions[1])
    matrix, origin = done.columns[done.batches[1]].T, 0.01 * done.weights[1]
    best, least = origin, np.inf
    for way in itertools.product(*(column[~np.isnan(column)] for column in roots.T)):
        d = np.linalg.lstsq(matrix, np.array(way) - origin, rcond=None)[0]
        off = float(np.abs(matrix @ d + origin - way).max())
        best, least = (np.array(way), off) if off < least else (best, least)
    found = undone(done.directions[:2], done.weights, done.columns, done.batches, 0.01)
    assert np.abs(found[1] - best).max() < 1e-4


def test_without_a_spare_column_only_what_has_one_root_is_said() -> None:
    done = trained(spare=0)
    found = undone(done.directions, done.weights, done.columns, done.batches, 0.01)
    assert 1 <= len(found) < len(done.batches)
    assert np.abs(found - done.gradients[: len(found)]).max() < 1e-5
    gradients, weights = rounds_undone(
        done.directions, done.weights, done.columns, done.batches, 0.01
    )
    assert gradients.shape == weights.shape == (0, 5)
    view = view_of(done)
    assert np.array_equal(view.evidence(), done.columns)  # no direction passes for a gradient
    assert view.exchanged(np.roll(np.arange(20), 1)) is None
    active = EncryptedLinearView(
        view.own, sealed(done.labels), sealed(done.directions), sealed(done.weights), done.batches,
        0.01, 0.01, None, None, 2, 0.25, 0.5, "adam",
    )  # fmt: skip
    assert active.evidence().shape == (20, 5 + 1)
    assert active.with_outputs(active.outputs()).outputs().shape == (20, 0)


def test_labels_behind_adam_are_those_behind_sgd() -> None:
    done = trained(spare=4)
    view = view_of(done)
    assert np.array_equal(labels_behind_adam(view.steps, BOOLEAN), done.labels)
    plain = replace(view.steps, gradients=sealed(done.gradients), optimiser="sgd")
    foreign = replace(view, steps=plain).foreign()
    assert np.abs(view.foreign() - foreign).max() < 1e-4
    order = np.roll(np.arange(20), 1)
    swapped = view.exchanged(order)
    assert swapped is not None
    assert np.abs(swapped.foreign() - foreign[order]).max() < 1e-4
