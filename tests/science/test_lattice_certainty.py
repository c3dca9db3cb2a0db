"""What the decoder claims, over many thousands of random records."""

from __future__ import annotations

import numpy as np
import pytest

from lattice_worlds import count_by_trying, draw, random_grids, world
from whatleaks.models.bits_rule import ROOM, bits_of
from whatleaks.models.grids import BOOLEAN, Grids, whole_numbers
from whatleaks.models.lattice import UNIQUE, decode

PRECISIONS = ["64", "32", "8", "6", "4", "3", "2"]


def test_a_claimed_certainty_is_false_in_less_than_one_in_a_thousand() -> None:
    claimed = false = records = 0
    for seed in range(600):
        rng = np.random.default_rng([1, seed])
        grids = random_grids(rng)
        case = world(grids, int(rng.integers(2, 8)), str(rng.choice(PRECISIONS)), rng)
        found = decode(case.readings, grids)
        certain = found.status == UNIQUE
        records += len(certain)
        claimed += int(certain.sum())
        false += int((certain & ~case.read(found.values)).sum())
    assert claimed > 3000  # of 12,000 records: the rule of three then says below 1 in 1,000
    assert records == 12000
    assert false == 0


def test_a_wrong_grid_is_never_answered_with_certainty() -> None:
    # One column lies 0.2 to 0.8 of a step off. Where the scores cannot show this much, an answer
    # within a step of the truth is right; anything else would be a confident mistake.
    far = 0
    for seed in range(300):
        rng = np.random.default_rng([2, seed])
        grids = random_grids(rng, freely=False)
        shift = np.zeros(len(grids))
        j = int(rng.integers(len(grids)))
        shift[j] = rng.uniform(0.2, 0.8) * (grids.columns[j].step or 0.1)
        case = world(grids, int(rng.integers(2, 8)), str(rng.choice(PRECISIONS)), rng, shift=shift)
        found = decode(case.readings, grids)
        steps = np.array([1.01 * (grid.step or 0.1) for grid in grids.columns])
        wrong = (np.abs(found.values - case.secret) > steps).any(axis=1)
        far += int(((found.status == UNIQUE) & wrong).sum())
    assert far == 0  # of 6,000


def test_the_rule_predicts_how_many_wrong_points_fit() -> None:
    # Small grids, every point tried: 2**luck bounds the mean number of wrong fits from above, and
    # not by more than the few bits that its cautious ball of errors gives away.
    expected, counted = [], []
    for seed in range(150):
        rng = np.random.default_rng([3, seed])
        grids = random_grids(rng, most=4, freely=False)
        if not 4.0 < grids.bits() < 11.0:
            continue
        case = world(grids, int(rng.integers(2, 5)), str(rng.choice(["3", "2"])), rng, records=10)
        readings = case.readings
        told = np.isfinite(readings.low).all(axis=1)
        counts = count_by_trying(readings, grids) - 1
        for i in np.flatnonzero(told):
            expected.append(2.0 ** bits_of(readings, grids, int(i)).luck)
            counted.append(counts[i])
    assert len(counted) > 300
    assert np.mean(counted) < np.mean(expected) < 40.0 * np.mean(counted)


@pytest.mark.parametrize(("precision", "classes"), [("64", 4), ("32", 6), ("64", 2)])
def test_the_border_of_success_lies_where_the_rule_says(precision: str, classes: int) -> None:
    rng = np.random.default_rng(4)
    pixel = whole_numbers(0, 63, 0, 63)
    above = below = 0
    for columns in range(1, 34):
        grids = Grids((pixel,) * columns)
        case = world(grids, classes, precision, rng, records=10)
        luck = bits_of(case.readings, grids).luck
        exact = case.exact(decode(case.readings, grids).values).mean()
        if luck < -ROOM:
            assert exact == 1.0, (columns, luck)
            below += 1
        if luck > 6.0 * (classes - 1) + 8.0:
            assert exact < 0.2, (columns, luck)
            above += 1
    assert below >= 3
    assert above >= 3


def test_equal_readings_give_equal_guesses() -> None:
    # Two secrets that no score tells apart: the decoder cannot prefer the true one.
    rng = np.random.default_rng(5)
    grids = Grids((whole_numbers(0, 9, 0, 9),) * 2 + (BOOLEAN,))
    weights = rng.normal(size=(3, 4))
    weights[1] = weights[0]
    case = world(grids, 4, "64", rng, weights=weights)
    secret = draw(grids, 20, rng)
    swapped = secret[:, [1, 0, 2]]
    one = case.model.scores(case.own, secret)
    assert np.abs(one - case.model.scores(case.own, swapped)).max() < 1e-14
    other = type(case)(case.model, grids, case.own, secret, one, case.precision)
    found = decode(other.readings, grids)
    assert not (found.status == UNIQUE).any()
