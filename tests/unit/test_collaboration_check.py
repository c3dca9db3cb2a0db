"""The check before collaboration: classes against columns, and the correlation filter."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.arrays import sealed
from whatleaks.catalog import card, cards
from whatleaks.defenses.collaboration_check import CorrelationFilter, check_collaboration
from whatleaks.defenses.dropout import Dropout
from whatleaks.errors import TableError, UsageError


def tables():
    """Four active columns; passive: a copy of one, a noisy copy, an independent one, a constant."""
    rng = np.random.default_rng(0)
    active = rng.random((400, 4))
    passive = np.column_stack(
        [
            1.0 - active[:, 2],
            active[:, 0] + rng.normal(0, 0.3, 400),
            rng.random(400),
            np.full(400, 0.7),
        ]
    )
    return sealed(active), sealed(passive)


def test_max_finds_a_copy_that_the_mean_hides() -> None:
    active, passive = tables()
    assert CorrelationFilter(0.9, "max").keep(active, passive).tolist() == [False, True, True, True]
    assert CorrelationFilter(0.9, "mean").keep(active, passive).all()
    r = np.abs(np.corrcoef(active.T, passive[:, :3].T)[:4, 4:])
    for statistic, reduce in (("max", np.max), ("mean", np.mean)):
        got = CorrelationFilter(0.5, statistic).measure(active, passive)
        assert np.abs(got[:3] - reduce(r, axis=0)).max() < 1e-12
        assert got[3] == 0.0


def test_the_filtered_table_holds_the_kept_columns_and_nothing_else() -> None:
    active, passive = tables()
    rule = CorrelationFilter(0.5)
    left = rule.filtered(active, passive)
    assert np.array_equal(left, passive[:, [2, 3]])
    assert left.base is None
    assert rule.measure(active, left).max() <= 0.5
    with pytest.raises(TableError, match="nothing is left"):
        rule.filtered(active, active)


@pytest.mark.parametrize(
    ("classes", "solvable", "after"), [(2, False, False), (3, False, True), (5, True, True)]
)
def test_classes_against_columns(classes, solvable, after) -> None:
    # U IV-A: d_target <= c - 1 is solved exactly. Leaving columns out can open that door.
    active, passive = tables()
    found = check_collaboration(active, passive, classes, CorrelationFilter(0.5))
    assert (found.solvable, found.solvable_after) == (solvable, after)
    assert found.kept.tolist() == [False, False, True, True]


def test_bad_settings_are_refused() -> None:
    for bad in ({"threshold": 1.5}, {"threshold": -0.1}, {"statistic": "median"}):
        with pytest.raises(UsageError):
            CorrelationFilter(**bad)
    for share in (0.0, 1.0):
        with pytest.raises(UsageError):
            Dropout(share)
    active, passive = tables()
    with pytest.raises(UsageError, match="2 classes"):
        check_collaboration(active, passive, 1)


def test_every_card_builds_what_it_says() -> None:
    for found in cards("defense"):
        assert found.build().name == found.name
    assert card("defense", "dropout-0.5").part.socket == "training"


def test_other_settings_are_asked_for_by_family() -> None:
    assert card("defense", "correlation-max-0.25").build() == CorrelationFilter(0.25, "max")
    with pytest.raises(UsageError, match="'much' is not a number"):
        card("defense", "correlation-max-much")
    with pytest.raises(UsageError, match=r"'corelation-max-0.5'.*'correlation-max-0.5'"):
        card("defense", "corelation-max-0.5")
