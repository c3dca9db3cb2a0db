"""The passive party of an encrypted logistic regression reads the labels in the first epoch."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from whatleaks.arrays import sealed
from whatleaks.errors import AttackError
from whatleaks.federation.regression.logistic import run_logistic
from whatleaks.federation.regression.settings import SecureLinearSettings, draw_weights
from whatleaks.models.label_reading import labels_from_gradients
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import PASSIVE
from whatleaks.wire.transcript import Transcript


def test_batches_no_larger_than_its_columns_give_every_label() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    x = sealed(((x - x.min(axis=0)) / (x.max(axis=0) - x.min(axis=0)))[:60])
    y = sealed(y[:60].astype(np.float64))
    settings = SecureLinearSettings(
        epochs=1, batch_size=10, learning_rate=0.01, queries=False,
        key_bits=512, insecure_test_key=True,
    )  # fmt: skip
    transcript = Transcript([PASSIVE])
    done = run_logistic(x[:, 20:], x[:, :20], y, settings, Streams(4), Channel(transcript))
    first = draw_weights(20, settings, Streams(4).rng(f"{PASSIVE}/weights"))
    gradients = np.stack(
        [
            m.payload.values
            for m in transcript.received_by(PASSIVE)
            if m.kind == "gradient" and isinstance(m.payload, Plain)
        ]
    )
    found = labels_from_gradients(
        x[:, :20], gradients, first, settings.batches(60), 0.01, settings.alpha
    )
    assert (found == (y > 0.5)).all()
    assert 0.2 < found.mean() < 0.8
    # Its own steps end where the protocol ended.
    assert np.abs(first - 0.01 * gradients.sum(axis=0) - done.weights[PASSIVE]).max() < 1e-12


def test_batches_larger_than_its_columns_are_refused() -> None:
    with pytest.raises(AttackError, match="6 columns made up would"):
        labels_from_gradients(
            np.random.default_rng(0).uniform(size=(10, 4)), np.zeros((1, 4)), np.zeros(4),
            [np.arange(10)], 0.01, 0.0,
        )  # fmt: skip
