"""The encrypted regression: equal to plain maths, and its messages show nothing in the clear."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from whatleaks.arrays import Floats
from whatleaks.codec import encode
from whatleaks.crypto.fixed_point import FixedPoint
from whatleaks.errors import CryptoError, SpecError, TableError, WireError
from whatleaks.federation.regression.linear import (
    PassiveParty,
    Run,
    SecureLinearSettings,
    gradient_error,
    plain_linear,
    run,
)
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Cipher, Plain

FAST = SecureLinearSettings(
    epochs=4, learning_rate=0.02, alpha=0.05, key_bits=512, insecure_test_key=True
)
STREAMS = Streams(11)


def tables(seed: int, records: int = 7) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.uniform(size=(records, 4)), rng.uniform(size=(records, 2)), rng.normal(size=records)


def train(seed: int = 0, **changes: Any) -> Run:
    return run(*tables(seed), replace(FAST, **changes), STREAMS, Channel())


@pytest.mark.parametrize("batch_size", [None, 3])
def test_training_equals_the_plain_maths(batch_size: int | None) -> None:
    settings = replace(FAST, batch_size=batch_size)
    secure = run(*tables(0), settings, STREAMS, Channel())
    plain = plain_linear(*tables(0), settings, STREAMS)
    np.testing.assert_allclose(secure.active_weights, plain.active_weights, atol=1e-13)
    np.testing.assert_allclose(secure.passive_weights, plain.passive_weights, atol=1e-13)
    np.testing.assert_allclose(secure.losses, plain.losses, rtol=1e-12)
    assert len(secure.losses) == settings.epochs + 1


def test_the_first_gradient_keeps_the_stated_error() -> None:
    x_active, _, _ = tables(0)
    secure, plain = train(epochs=1), plain_linear(*tables(0), FAST, STREAMS)
    d = plain.residuals[0]
    received = secure.transcript.received_by("active")
    gradient = next(m.payload.values for m in received if m.kind == "gradient")
    exact = x_active.T @ d + FAST.alpha * secure.active.weights[0]
    rounding = 1e-15 * (np.abs(x_active).T @ np.abs(d) + 1.0)  # of the doubles themselves
    assert (np.abs(gradient - exact) <= gradient_error(x_active, d, FixedPoint()) + rounding).all()
    assert gradient_error(x_active, d, FixedPoint()).max() < 1e-13


def test_keys_change_no_bit() -> None:
    runs = [train(), train(), train(key_bits=768)]
    results = {encode((r.active_weights, r.passive_weights, r.active)) for r in runs}
    assert len(results) == 1


def test_plain_training_reaches_the_closed_form_of_ridge() -> None:
    x_active, x_passive, y = tables(3)
    settings = SecureLinearSettings(epochs=20000, learning_rate=0.05, alpha=0.05)
    plain = plain_linear(x_active, x_passive, y, settings, STREAMS)
    x = np.concatenate([x_active, x_passive], axis=1)
    ridge = np.linalg.solve(x.T @ x + 0.05 * np.eye(6), x.T @ y)
    weights = np.concatenate([plain.active_weights, plain.passive_weights])
    np.testing.assert_allclose(weights, ridge, atol=1e-10)


def test_message_kinds_and_counts() -> None:
    traffic = train(batch_size=3).transcript.traffic()  # 4 epochs of 3 batches
    seen = {(t.sender, t.receiver, t.kind, t.readable): t.count for t in traffic}
    assert seen == {
        ("passive", "active", "intermediate", False): 12,
        ("active", "passive", "residuals", False): 12,
        ("active", "arbiter", "encrypted-gradient", False): 12,
        ("passive", "arbiter", "encrypted-gradient", False): 12,
        ("arbiter", "active", "gradient", True): 12,
        ("arbiter", "passive", "gradient", True): 12,
        ("active", "passive", "query", True): 1,
        ("passive", "active", "intermediate", True): 1,
    }


def test_traffic_does_not_depend_on_the_secrets() -> None:
    first, second = (train(seed).transcript.traffic() for seed in (1, 2))
    assert first == second


def test_no_plain_value_of_a_party_reaches_another() -> None:
    x_active, x_passive, y = tables(0)
    plain = plain_linear(*tables(0), FAST, STREAMS)
    transcript = train(queries=False).transcript
    first_passive = STREAMS.rng("passive/weights").normal(0.0, FAST.initial_spread, 2)
    first_active = STREAMS.rng("active/weights").normal(0.0, FAST.initial_spread, 4)
    outputs = np.concatenate([*plain.outputs, *plain.residuals])
    of_active = np.concatenate([x_active.ravel(), y, first_active, outputs])
    of_passive = np.concatenate([x_passive.ravel(), first_passive, outputs])
    hidden = {
        "active": of_passive,
        "passive": of_active,
        "arbiter": np.concatenate([of_active, of_passive]),
    }
    for party, secrets in hidden.items():
        messages = transcript.received_by(party)
        assert messages
        everything = b"".join(encode(message) for message in messages)
        for number in secrets:
            assert np.float64(number).tobytes() not in everything
            assert np.float64(number).byteswap().tobytes() not in everything
        readable = [m.payload.values for m in messages if isinstance(m.payload, Plain)]
        for values in readable:  # nor any number that is close to a secret
            gap = np.abs(values[:, None] - secrets[None, :]).min()
            assert gap > 1e-9
        assert party != "arbiter" or not readable


def test_a_scan_of_the_answers_would_find_them() -> None:
    # The scan above can fail: the prediction phase does send plain numbers.
    training = train()
    records, answers = training.queries or (None, None)
    assert records is not None
    np.testing.assert_allclose(answers, records @ training.passive_weights, rtol=1e-15)
    everything = b"".join(encode(m) for m in training.transcript.received_by("active"))
    assert all(np.float64(z).tobytes() in everything for z in answers)


def test_every_ciphertext_on_the_wire_is_new() -> None:
    transcript = train().transcript
    sent = [
        m.payload.data
        for party in ("active", "passive", "arbiter")
        for m in transcript.received_by(party)
        if isinstance(m.payload, Cipher)
    ]
    assert len(sent) == len(set(sent)) == 16


def test_queries_can_be_closed() -> None:
    training = train(queries=False)
    assert training.queries is None
    assert "query" not in {t.kind for t in training.transcript.traffic()}


def test_fake_columns_belong_to_the_active_party() -> None:
    training = train(fake_columns=3, fake_spread=0.2)
    x_active, _, _ = tables(0)
    np.testing.assert_array_equal(training.active.columns[:, :4], x_active)
    fakes = training.active.columns[:, 4:]
    assert fakes.shape == (7, 3)
    assert np.abs(fakes).max() <= 0.2
    assert training.active.weights.shape == (FAST.epochs, 7)
    again = train(fake_columns=3, fake_spread=0.2)
    np.testing.assert_array_equal(fakes, again.active.columns[:, 4:])


def test_a_diverging_training_is_refused() -> None:
    with pytest.raises(CryptoError, match="lower the learning rate"):
        train(epochs=30, learning_rate=50.0)


def test_a_query_of_the_wrong_width_is_refused() -> None:
    from whatleaks.crypto.keys import generate_keys

    public, _ = generate_keys("paillier", 512, insecure_test_key=True)
    rng = np.random.default_rng(0)
    passive = PassiveParty("passive", tables(0)[1], FAST, rng, public, Channel())
    with pytest.raises(WireError, match="2 columns"):
        passive.answer(0, np.zeros((1, 3)))


def test_tables_that_do_not_match_are_refused() -> None:
    x_active, x_passive, y = tables(0)
    with pytest.raises(TableError, match="6 passive"):
        run(x_active, x_passive[:6], y, FAST, STREAMS, Channel())
    with pytest.raises(TableError, match="not finite"):
        run(x_active, x_passive * np.inf, y, FAST, STREAMS, Channel())
    with pytest.raises(TableError, match="one column"):
        run(x_active, x_passive, y[:, None], FAST, STREAMS, Channel())


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"epochs": 0}, "epochs"),
        ({"batch_size": 0}, "batch_size"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"alpha": -1.0}, "alpha"),
        ({"fake_columns": -1}, "fake_columns"),
        ({"backend": "heu-paillier"}, "Did you mean 'paillier'"),
        ({"insecure_test_key": False}, "key_bits is 512"),
    ],
)
def test_settings_that_cannot_train_are_refused(change: dict[str, Any], name: str) -> None:
    with pytest.raises(SpecError, match=name):
        replace(FAST, **change)
