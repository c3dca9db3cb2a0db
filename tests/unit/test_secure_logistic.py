"""Vertical regressions of any link, with masks, shuffling and several parties: all equal plain maths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.arrays import Floats
from whatleaks.codec import encode
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.keys import generate_keys
from whatleaks.crypto.masking import HIDING_BITS, digit_count, from_digits, mask, to_digits
from whatleaks.errors import SpecError, TableError
from whatleaks.federation.regression.linear import PlainRun, Run, plain_regression, run_regression
from whatleaks.federation.regression.logistic import plain_logistic, run_logistic
from whatleaks.federation.regression.prediction import predict
from whatleaks.federation.regression.settings import LINEAR, LOGISTIC, SecureLinearSettings
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Plain

FAST = SecureLinearSettings(
    epochs=3,
    batch_size=4,
    learning_rate=0.05,
    alpha=0.1,
    queries=False,
    key_bits=512,
    insecure_test_key=True,
)
STREAMS = Streams(5)


def tables(records: int = 10) -> tuple[Floats, list[Floats], Floats]:
    rng = np.random.default_rng(0)
    others = [rng.uniform(size=(records, 2)), rng.uniform(size=(records, 3))]
    return rng.uniform(size=(records, 4)), others, (rng.uniform(size=records) > 0.5).astype(float)


def both(**changes: Any) -> tuple[Run, PlainRun]:
    chosen = replace(FAST, **changes)
    secure = run_logistic(*tables(), chosen, STREAMS, Channel())
    return secure, plain_logistic(*tables(), chosen, STREAMS)


@pytest.mark.parametrize("link", [LINEAR, LOGISTIC], ids=lambda link: link.name)
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("masks", [False, True])
def test_three_parties_equal_the_plain_maths(link: Any, shuffle: bool, masks: bool) -> None:
    chosen = replace(FAST, shuffle=shuffle, mask_gradients=masks)
    secure = run_regression(link, *tables(), chosen, STREAMS, Channel())
    plain = plain_regression(link, *tables(), chosen, STREAMS)
    np.testing.assert_allclose(secure.active_weights, plain.active_weights, atol=1e-13)
    np.testing.assert_allclose(secure.passive_weights, plain.passive_weights, atol=1e-13)
    np.testing.assert_allclose(secure.losses, plain.losses, rtol=1e-12)
    assert list(secure.weights) == ["active", "passive", "passive-2"]


def test_logistic_first_step_by_hand() -> None:
    x_active, others, y = tables(records=4)
    chosen = replace(FAST, epochs=1, batch_size=None, initial_spread=0.0)
    secure = run_logistic(x_active, others, y, chosen, STREAMS, Channel())
    # From zero weights d = 1/2 - y, so W = -eta X^T (1/2 - y).
    np.testing.assert_allclose(
        secure.active_weights, -0.05 * x_active.T @ (0.5 - y), rtol=1e-13, atol=1e-15
    )


@given(seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_the_gradient_is_the_derivative_of_the_loss(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z, y = rng.normal(size=6), rng.integers(0, 2, 6).astype(float)
    for link in (LINEAR, LOGISTIC):
        d = link.slope * z + link.offset - y
        h = 1e-6 * np.eye(6)
        slope = [(link.loss(z + e, y) - link.loss(z - e, y)) / 2e-6 for e in h]
        np.testing.assert_allclose(slope, d, atol=1e-8)


def test_the_polynomial_is_the_sigmoid_to_third_order() -> None:
    for z in (1e-2, 1e-1, 0.3):
        gap = abs(1 / (1 + np.exp(-z)) - (LOGISTIC.slope * z + LOGISTIC.offset))
        assert gap <= z**3 / 48  # the next term of the series, which alternates


def test_masks_do_not_change_a_bit_and_the_arbiter_sees_noise() -> None:
    open_, _ = both()
    hidden, _ = both(mask_gradients=True)
    assert encode(dict(open_.weights)) == encode(dict(hidden.weights))
    kinds = {(t.sender, t.kind) for t in hidden.transcript.traffic()}
    assert ("arbiter", "masked-gradient") in kinds
    assert ("arbiter", "gradient") not in kinds


def test_what_the_arbiter_decrypts_under_a_mask_does_not_depend_on_the_value() -> None:
    key, secret = generate_keys("paillier", 512, insecure_test_key=True)
    quarter = np.zeros(2)
    count = 200
    for row, value in enumerate((-5.0, 5.0)):
        masked, drawn = mask(key, key.encrypt(np.full(count, value)))
        seen = secret.decrypt_integers(masked)
        assert (seen > 0).all()
        np.testing.assert_array_equal(from_digits(to_digits(seen, digit_count(masked.bits))), seen)
        exact = int(value * 2**key.numbers.fraction)
        assert set(seen - drawn) == {exact}
        size = key.numbers.bits
        quarter[row] = np.mean([s > (1 << size + HIDING_BITS - 1) for s in seen])
    # Both are uniform over the mask's range: half of 200 draws lie in its upper half. Six
    # standard deviations of the difference are 6 sqrt(2 / 4 / 200) = 0.3.
    assert abs(quarter[0] - quarter[1]) < 0.3
    assert abs(quarter.mean() - 0.5) < 0.22


def test_shuffling_takes_every_row_once_and_another_order_each_epoch() -> None:
    chosen = replace(FAST, shuffle=True)
    epochs = [np.concatenate(chosen.batches(10, epoch)) for epoch in range(3)]
    for order in epochs:
        assert sorted(order) == list(range(10))
    assert len({tuple(order) for order in epochs}) == 3
    secure, _ = both(shuffle=True)
    assert len(secure.active.batches) == len(secure.active.weights) == 9
    assert len(both()[0].active.batches) == 3
    other = replace(chosen, shuffle_seed=1)
    assert tuple(np.concatenate(other.batches(10, 0))) != tuple(epochs[0])


@pytest.fixture(scope="module")
def keys() -> tuple[PublicKey, SecretKey]:
    return generate_keys("paillier", 512, insecure_test_key=True)


@pytest.mark.parametrize("link", [LINEAR, LOGISTIC], ids=lambda link: link.name)
def test_both_styles_of_prediction_give_one_score(
    link: Any, keys: tuple[PublicKey, SecretKey]
) -> None:
    x_active, others, _ = tables()
    secure, _ = both()
    parts = {"active": x_active, "passive": others[0], "passive-2": others[1]}
    z = sum(x @ secure.weights[name] for name, x in parts.items())
    expected = z if link is LINEAR else 1 / (1 + np.exp(-z))
    channels = {"plain": Channel(), "coordinator": Channel()}
    for style, channel in channels.items():
        scores = predict(link, parts, secure.weights, style, keys, channel)
        np.testing.assert_allclose(scores, expected, atol=1e-13)
    readable = {
        style: {m.kind for m in c.transcript.received_by("active") if isinstance(m.payload, Plain)}
        for style, c in channels.items()
    }
    assert readable == {"plain": {"output"}, "coordinator": {"score"}}
    with pytest.raises(SpecError, match="Did you mean 'plain'"):
        predict(link, parts, secure.weights, "plane", keys, Channel())


def test_other_targets_than_0_and_1_are_refused() -> None:
    x_active, others, y = tables()
    with pytest.raises(TableError, match="0 or 1"):
        run_logistic(x_active, others, y + 1.0, FAST, STREAMS, Channel())
    with pytest.raises(TableError, match="no passive party"):
        run_logistic(x_active, [], y, FAST, STREAMS, Channel())
