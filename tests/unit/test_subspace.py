"""Truncated least squares from known records: exact cases, limits, and a slow reference."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.models.subspace import RIDGES, coordinates, from_known_records, left_out


def world(n: int = 4, records: int = 60, passes: int = 8, seed: int = 0):
    rng = np.random.default_rng(seed)
    x, own = rng.uniform(size=(records, n)), rng.uniform(size=(records, 3))
    return x, own, x @ rng.normal(size=(n, passes))


def test_as_many_passes_as_columns_and_enough_known_records_give_all_values() -> None:
    x, own, z = world()
    known = np.arange(0, 60, 4)
    found, chosen = from_known_records(z, own, known, x[known], shares=(0.0,))
    assert chosen.rank == 4
    assert np.abs(found - x).max() < 1e-4  # the smallest ridge is left


def test_outputs_of_one_pass_fix_one_direction_and_no_more() -> None:
    x, own, z = world(passes=1)
    known = np.arange(0, 60, 4)
    found, chosen = from_known_records(z, own, known, x[known], shares=(0.0,))
    assert chosen.rank <= 1
    assert np.abs(found - x).max() > 0.1


def test_outputs_of_other_records_tell_nothing() -> None:
    x, own, z = world(records=300, seed=3)
    known = np.arange(40)
    swapped = z[np.random.default_rng(1).permutation(300)]
    rest = np.arange(40, 300)
    found, _ = from_known_records(swapped, own, known, x[known])
    spread = x[rest].var()
    assert np.square(found - x)[rest].mean() > 0.9 * spread
    exact, _ = from_known_records(z, own, known, x[known])
    assert np.square(exact - x)[rest].mean() < 1e-4 * spread


def test_left_out_errors_are_those_of_fitting_without_each_record() -> None:
    rng = np.random.default_rng(5)
    features, values = rng.normal(size=(9, 4)), rng.normal(size=(9, 2))
    values -= values.mean(axis=0)
    told = left_out(features, values)
    for place, ridge in enumerate(RIDGES):
        errors = []
        for i in range(9):
            rest = np.delete(np.arange(9), i)
            f, y = features[rest], values[rest]
            g = f - f.mean(axis=0)
            beta = np.linalg.solve(g.T @ g + ridge * np.eye(4), g.T @ (y - y.mean(axis=0)))
            errors.append(y.mean(axis=0) + (features[i] - f.mean(axis=0)) @ beta - values[i])
        # Leaving a record out moves the centre too; the closed form is exact for it.
        assert told[place] == pytest.approx(np.square(errors).mean(), rel=1e-9)


def test_silent_partners_leave_no_coordinates() -> None:
    assert coordinates(np.zeros((5, 3))).shape == (5, 0)
    x, own, _ = world()
    found, chosen = from_known_records(np.zeros((60, 3)), own, np.arange(10), x[:10])
    assert chosen.rank == 0
    assert np.isfinite(found).all()
