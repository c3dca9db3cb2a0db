"""Which columns are passive."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.data.partition import passive_count, random_passive
from whatleaks.errors import UsageError


@pytest.mark.parametrize(
    ("columns", "share", "expected"),
    [(10, 0.3, 3), (10, 0.0, 1), (10, 1.0, 9), (2, 0.5, 1), (48, 0.5, 24), (3, 0.1, 1)],
)
def test_counts(columns: int, share: float, expected: int) -> None:
    assert passive_count(columns, share) == expected


@settings(derandomize=True)
@given(st.integers(2, 60), st.floats(0, 1), st.integers(0, 2**32))
def test_a_draw_leaves_both_parties_something(count: int, share: float, seed: int) -> None:
    columns = [f"c{i}" for i in range(count)]
    drawn = random_passive(columns, share, np.random.default_rng(seed))
    assert len(drawn) == passive_count(count, share)
    assert 1 <= len(drawn) < count
    assert list(drawn) == [column for column in columns if column in set(drawn)]


def test_every_column_is_drawn_equally_often() -> None:
    # n = 4000 draws of 2 of 5: each column 1600 times, standard deviation 31; five of them.
    rng = np.random.default_rng(7)
    counts = dict.fromkeys("abcde", 0)
    for _ in range(4000):
        for column in random_passive("abcde", 0.4, rng):
            counts[column] += 1
    assert all(abs(count - 1600) < 155 for count in counts.values())


@pytest.mark.parametrize(("columns", "share"), [(1, 0.5), (5, -0.1), (5, 1.1), (5, float("nan"))])
def test_impossible_partitions_are_refused(columns: int, share: float) -> None:
    with pytest.raises(UsageError):
        passive_count(columns, share)
