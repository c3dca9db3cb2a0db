"""What an encrypted regression is worth: columns lie in [0, 1], so its minimum has an intercept."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.arrays import Floats, sealed, sealed_ints
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.federation.regression.settings import LINEAR, LOGISTIC, Link
from whatleaks.federation.regression.trained import ridge_classes, ridge_values

ROWS, TRAINED = 3000, 400


def table() -> tuple[Floats, Floats, Holdings]:
    """Return own columns, all columns, and a label that needs all of them and a constant."""
    rng = np.random.default_rng(0)
    raw = rng.normal(size=(ROWS, 10))
    total = raw.sum(axis=1) + rng.normal(size=ROWS)
    scaled = sealed((raw - raw.min(axis=0)) / np.ptp(raw, axis=0))
    columns = {"active": sealed(scaled[:, :6]), "passive": sealed(scaled[:, 6:])}
    names = {"active": tuple("abcdef"), "passive": tuple("ghij")}
    value = sealed((total - total.min()) / np.ptp(total))
    held = Holdings(columns, names, sealed_ints(total > 0.0), 2, target=value)
    return columns["active"], scaled, held


@pytest.mark.parametrize("link", [LINEAR, LOGISTIC])
def test_a_label_around_zero_is_classed_as_well_as_its_columns_allow(link: Link) -> None:
    own, both, held = table()
    batch, asked = sealed_ints(range(TRAINED)), sealed_ints(range(TRAINED, ROWS))
    right = [
        float((ridge_classes(columns, held, batch, asked, 0.01, link) == held.labels[asked]).mean())
        for columns in (own, both)
    ]
    # The angle between the label's score and what the columns tell of it: 6 and 10 of 11 parts.
    for found, parts in zip(right, (6, 10), strict=True):
        assert found == pytest.approx(1.0 - np.arccos(np.sqrt(parts / 11)) / np.pi, abs=0.04)


def test_a_numeric_label_is_predicted_with_an_intercept() -> None:
    _, both, held = table()
    assert held.target is not None
    batch, asked = sealed_ints(range(TRAINED)), sealed_ints(range(TRAINED, ROWS))
    rows = Rows(batch, asked, sealed_ints([]), sealed_ints([]), asked)
    left = ridge_values(both, held, rows, 0.01) - held.target[asked]
    assert np.var(left) / np.var(held.target[asked]) == pytest.approx(1 / 11, abs=0.02)
