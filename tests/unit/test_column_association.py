"""All columns at once say what each column says by itself."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.metrics.association import followed, gained
from whatleaks.metrics.column_association import Followed, Gained, follow, gain
from whatleaks.metrics.measurement import Measurement

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


def parts(truth: np.ndarray, guess: np.ndarray) -> Parts:
    """Return products, the guess's and the truth's squared deviations, column by column."""
    a, b = guess - guess.mean(axis=0), truth - truth.mean(axis=0)
    return a * b, a * a, b * b


def ends(measured: Measurement) -> tuple[float, ...]:
    return measured.value, measured.low, measured.high, measured.n


def ends_of(made: Followed | Gained, j: int) -> tuple[float, ...]:
    return made.value[j], made.low[j], made.high[j], made.n


@pytest.mark.parametrize("records", [2, 4, 30, 200])
@pytest.mark.parametrize("seed", range(3))
def test_they_are_those_of_each_column(records: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(records, 9))
    truth[:, 8] = 0.5  # does not vary
    tables = []
    for strength in (0.7, 0.3):
        guess = strength * truth + rng.normal(size=truth.shape)
        guess[:, 0] = truth[:, 0]  # exact
        guess[:, 1] = 0.25  # constant
        guess[:, 2] = -truth[:, 2]  # the wrong way, exactly
        guess[:, 3] = 2.0 * truth[:, 3] + 1.0
        tables.append(guess)
    tables[1][:, 4] = tables[0][:, 4]  # both alike
    tables[1][:, 0] = rng.normal(size=records)
    one, other = (parts(truth, guess) for guess in tables)
    first, second = follow(*one), follow(*other)
    lead = gain(first, second)
    for j in range(truth.shape[1]):
        plain = [tuple(part[:, j] for part in side) for side in (one, other)]
        for made, side in zip((first, second), plain, strict=True):
            assert ends_of(made, j) == pytest.approx(ends(followed(*side)), abs=1e-10)
        wanted, chance = gained(plain[0][:2], plain[1][:2], plain[0][2])
        assert ends_of(lead, j) == pytest.approx(ends(wanted), abs=1e-10)
        assert lead.chance[j] == pytest.approx(chance, abs=1e-10)
