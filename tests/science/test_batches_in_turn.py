"""Gram inversion where batches take turns: exact on all records, as on one batch."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.arrays import sealed
from whatleaks.attacks.gram_inversion import GramInversion
from whatleaks.errors import AttackError
from whatleaks.federation.regression.settings import RegressionSettings
from whatleaks.threat.grants import Queries, Ranges
from whatleaks.threat.views.encrypted import EncryptedLinearView


def trained(
    unknown: int, records: int = 120, batch: int = 12, epochs: int = 12, seed: int = 0
) -> tuple[EncryptedLinearView, np.ndarray]:
    """Train in doubles, batch after batch; return what the active party holds, and the truth."""
    rng = np.random.default_rng(seed)
    own, theirs = rng.random((records, batch + 2)), rng.random((records, unknown))
    labels = (own[:, 0] + theirs[:, 0] > 1.0).astype(float)
    eta, alpha = 1.0 / (batch * (2 * batch + unknown)), 0.01
    w_own, w = rng.normal(0, 0.1, own.shape[1]), rng.normal(0, 0.1, unknown)
    batches = tuple(np.arange(i, i + batch) for i in range(0, records, batch))
    gradients, weights = [], []
    for _ in range(epochs):
        for rows in batches:
            d = own[rows] @ w_own + theirs[rows] @ w - labels[rows]
            gradients.append(own[rows].T @ d + alpha * w_own)
            weights.append(w_own)
            w_own = w_own - eta * gradients[-1]
            w = w - eta * (theirs[rows].T @ d + alpha * w)
    asked = rng.random((unknown, unknown))
    view = EncryptedLinearView(
        own=sealed(own),
        labels=sealed(labels),
        gradients=sealed(np.array(gradients)),
        weights=sealed(np.array(weights)),
        batches=batches,
        learning_rate=eta,
        alpha=alpha,
        queries=Queries(sealed(asked), sealed(asked @ w)),
        ranges=Ranges(sealed(np.zeros(unknown)), sealed(np.ones(unknown))),
        unknown=unknown,
    )
    return view, theirs


@pytest.mark.parametrize("unknown", [1, 2])
@pytest.mark.parametrize("batch", [12, 24])
def test_all_records_of_ten_batches_are_exact(unknown: int, batch: int) -> None:
    for seed in range(5):
        view, truth = trained(unknown, 10 * batch, batch, seed=seed)
        guess = GramInversion().infer(view, np.random.default_rng(0))
        tables = [guess.values, *guess.alternatives]
        assert min(np.abs(table - truth).max() for table in tables) < 1e-4


def test_too_few_epochs_and_three_columns_are_refused() -> None:
    with pytest.raises(AttackError, match="span"):
        GramInversion().infer(trained(2, epochs=1)[0], np.random.default_rng(0))
    with pytest.raises(AttackError, match="3 columns"):
        GramInversion().infer(trained(3)[0], np.random.default_rng(0))


def test_an_audit_trains_on_the_whole_table() -> None:
    settings = RegressionSettings(whole=True)
    assert settings.sizes(15, 341) == (330, 15)
    assert settings.sizes(3, 341) == (340, 10)
    assert settings.sizes(100, 10_000) == (400, 40)
    assert RegressionSettings().sizes(15, 341) == (15, 15)
    assert RegressionSettings(records=30).sizes(15, 341) == (30, 30)
    assert settings.for_batch(np.random.default_rng(0).random((40, 6)), 2).fake_columns == 4
