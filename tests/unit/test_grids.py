"""Grids: what values a column can take, in encoded coordinates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatleaks.codec import decode, encode
from whatleaks.errors import UsageError
from whatleaks.models.grids import (
    BOOLEAN,
    Grid,
    Grids,
    decimal_step,
    free,
    listed,
    scaled_grid,
    stepped,
    whole_numbers,
)


@given(st.integers(-50, 50), st.integers(1, 400), st.integers(0, 30), st.integers(0, 30))
def test_whole_numbers_fall_on_the_grid_also_beyond_the_training_range(
    low: int, span: int, below: int, above: int
) -> None:
    grid = whole_numbers(low - below, low + span + above, low, low + span)
    raw = np.arange(low - below, low + span + above + 1)
    values = (raw - low) / span
    assert grid.levels == len(raw)
    assert np.abs(grid.snap(values) - values).max() < 1e-13
    assert grid.step == 1.0 / span
    assert grid.bounds == pytest.approx((values[0], values[-1]), abs=1e-12)
    assert grid.blur == 0.0


def test_bits_count_levels_and_a_group_once() -> None:
    grids = Grids((whole_numbers(0, 7, 0, 7), BOOLEAN, BOOLEAN, BOOLEAN, free()), ((1, 2, 3),))
    assert grids.bits() == pytest.approx(3.0 + math.log2(3))
    assert grids.free == (4,)
    assert grids.columns[4].bits == math.inf
    assert len(grids) == 5
    assert Grids((BOOLEAN, BOOLEAN, BOOLEAN)).bits() == 3.0


def test_entropy_is_the_bits_of_even_columns_and_less_of_others() -> None:
    grids = Grids((whole_numbers(0, 3, 0, 3), BOOLEAN, BOOLEAN, free()), ((1, 2),))
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, 2, 4000)
    sample = np.column_stack([rng.integers(0, 4, 4000) / 3, chosen, 1 - chosen, rng.random(4000)])
    assert grids.entropy(sample) == pytest.approx(3.0, abs=0.01)
    sample[:3000, 0] = 0.0
    assert grids.entropy(sample) < 2.4
    sample[:, :3] = [0.0, 1.0, 0.0]
    assert grids.entropy(sample) == 0.0


def test_snapping_keeps_one_of_a_group_and_the_range_of_a_free_column() -> None:
    grids = Grids(
        (whole_numbers(0, 4, 0, 4), BOOLEAN, BOOLEAN, free(), listed((3.0, 1.0, 7.0), 1.0, 7.0)),
        ((1, 2),),
    )
    snapped = grids.snap(np.array([[0.6, 0.2, 0.4, 1.7, 0.3], [9.0, 0.9, 0.8, -1.0, 0.9]]))
    expected = [[0.5, 0.0, 1.0, 1.0, 1 / 3], [1.0, 1.0, 0.0, 0.0, 1.0]]
    assert snapped == pytest.approx(np.array(expected))


def test_the_schema_gives_the_grid() -> None:
    assert scaled_grid("boolean", 0, 1, 0, 1) == BOOLEAN
    assert scaled_grid("integer", 18, 90, 20, 80) == whole_numbers(18, 90, 20, 80)
    assert scaled_grid("category", 0, 4, 0, 4).levels == 5
    assert scaled_grid("number", -1.0, 3.0, 0.0, 2.0) == free(-0.5, 1.5)
    cents = scaled_grid("number", 0.0, 10.0, 0.0, 10.0, step=0.01)
    assert cents.levels == 1001
    assert cents.blur > 0.0  # most cents have no exact float
    assert decimal_step(np.array([0.25, 1.5])) == 0.01
    assert decimal_step(np.array([3.0, -4.0])) == 1.0
    assert decimal_step(np.array([1 / 3])) == 0.0


def test_picking_columns_takes_whole_groups() -> None:
    grids = Grids((whole_numbers(0, 4, 0, 4), BOOLEAN, BOOLEAN), ((1, 2),))
    assert grids.pick((2, 1)).one_hot == ((1, 0),)
    assert grids.pick((0,)) == Grids((grids.columns[0],))
    with pytest.raises(UsageError, match="one unknown"):
        grids.pick((0, 1))


def test_grids_travel() -> None:
    grids = Grids(
        (whole_numbers(0, 4, 0, 4), listed((0.0, 1.0), 0.0, 1.0), BOOLEAN, BOOLEAN), ((2, 3),)
    )
    assert decode(encode(grids)) == grids


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Grid(0.0, 0.0, 3), "steps above 0"),
        (lambda: Grid(math.nan, 1.0, 3), "finite"),
        (lambda: Grid(0.0, 0.0, 2, (0.5, 0.5)), "twice"),
        (lambda: Grid(0.0, 0.0, 3, (0.5, 0.6)), "lists"),
        (lambda: free(1.0, 0.0), "low to high"),
        (lambda: whole_numbers(0, 4, 1, 1), "range"),
        (lambda: stepped(0.0, 1.0, 0.3, 0.0, 1.0), "whole number of steps"),
        (lambda: stepped(1.0, 0.0, 0.1, 0.0, 1.0), "least to most"),
        (lambda: Grids((BOOLEAN, BOOLEAN), ((0, 1), (1, 0))), "two one-hot groups"),
        (lambda: Grids((BOOLEAN, free()), ((0, 1),)), "yes/no"),
        (lambda: Grids((BOOLEAN,), ((0,),)), "at least 2"),
    ],
)
def test_a_grid_that_is_none_is_refused(make, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        make()
