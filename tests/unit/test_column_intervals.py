"""Intervals of many columns at once are those of each column alone with the same resamples."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.metrics.column_intervals import Resamples
from whatleaks.metrics.intervals import leakage_over_records, mean_over_records
from whatleaks.metrics.measurement import Measurement


def ends(measured: Measurement) -> tuple[float, float, float]:
    return measured.value, measured.low, measured.high


@pytest.mark.parametrize("records", [12, 20, 90, 700, 1000, 1001])
@pytest.mark.parametrize("drawn", [True, False])
def test_they_are_those_of_each_column(records: int, drawn: bool) -> None:
    table = np.random.default_rng(records)
    errors = table.exponential(size=(records, 4))
    errors[:, 3] = 0.25  # no spread at all
    deviations = table.exponential(size=(records, 4))

    def rng() -> np.random.Generator | None:
        return np.random.default_rng(7) if drawn else None

    together = Resamples(records, rng())
    for j, (mean, told) in enumerate(
        zip(together.means(errors, "mse"), together.recovered(errors, deviations), strict=True)
    ):
        alone = mean_over_records(errors[:, j], "mse", rng())
        assert ends(mean) == pytest.approx(ends(alone), abs=1e-9)
        alone = leakage_over_records(errors[:, j], deviations[:, j], rng())
        assert ends(told) == pytest.approx(ends(alone), abs=1e-9)


def test_a_column_that_does_not_vary_has_nothing_to_recover() -> None:
    deviations = np.array([[0.0, 1.0], [0.0, 2.0]] * 20)
    found = Resamples(40, np.random.default_rng(0)).recovered(np.ones((40, 2)), deviations)
    assert ends(found[0]) == (0.0, 0.0, 0.0)
    assert found[1].value == pytest.approx(1 - 1 / 1.5)
