"""The regression without an arbiter: the plain one's weights, from shares that say nothing."""

from __future__ import annotations

import numpy as np
import pytest
from test_hostile_partners import Heard

from whatleaks.crypto.fixed_point import FixedPoint
from whatleaks.crypto.keys import generate_keys
from whatleaks.crypto.ring import BITS, cut, drawn, encoded, opened, reduced
from whatleaks.errors import SpecError
from whatleaks.federation.regression.linear import plain_regression
from whatleaks.federation.sshe.parties import SharingParty
from whatleaks.federation.sshe.settings import SharedSettings
from whatleaks.federation.sshe.training import run_shared
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Cipher, Plain

FAST = SharedSettings(
    epochs=3,
    batch_size=4,
    learning_rate=0.05,
    backend="phe-paillier",
    key_bits=512,
    insecure_test_key=True,
)


@pytest.fixture(scope="module")
def keys():  # type: ignore[no-untyped-def]
    pytest.importorskip("phe")
    return tuple(generate_keys("phe-paillier", 512, insecure_test_key=True) for _ in range(2))


def tables():  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(5)
    y = (rng.uniform(size=10) > 0.5).astype(float)
    return rng.normal(size=(10, 3)), rng.normal(size=(10, 2)), y


def test_cutting_shares_errs_by_one_step_at_most() -> None:
    numbers = FixedPoint()
    values = np.array([3.25, -1e6, 0.0, 2.0**30, -(2.0**-40)])
    whole = reduced(encoded(values, numbers) << 48)
    one = drawn(5)
    parts = cut(one, 48, True), cut(reduced(whole - one), 48, False)
    assert np.abs(opened(*parts, numbers) - values).max() <= 2.0**-47


@pytest.mark.parametrize("link", ["linear", "logistic"])
def test_the_weights_are_those_of_the_plain_regression(keys, link: str) -> None:  # type: ignore[no-untyped-def]
    from dataclasses import replace

    x_active, x_passive, y = tables()
    settings = replace(FAST, link=link)
    channel = Channel()
    shared = run_shared(x_active, x_passive, y, settings, Streams(7), channel, keys)
    plain = plain_regression(
        settings.formula, x_active, x_passive, y, settings.regression, Streams(7)
    )
    np.testing.assert_allclose(shared.active_weights, plain.active_weights, atol=1e-12)
    np.testing.assert_allclose(shared.passive_weights, plain.passive_weights, atol=1e-12)


def test_nothing_is_sent_in_the_clear_but_uniform_shares(keys) -> None:  # type: ignore[no-untyped-def]
    seen = []
    for scale in (1.0, 3.0):
        x_active, x_passive, y = tables()
        channel = Channel()
        run_shared(x_active * scale, x_passive, y, FAST, Streams(7), channel, keys)
        received = channel.transcript.received_by("passive")
        plain = [m for m in received if isinstance(m.payload, Plain)]
        assert {m.kind for m in plain} == {"weight-share"}
        assert len(plain) == 2  # at the start and at the end
        kinds = {m.kind for m in received if isinstance(m.payload, Cipher)}
        assert kinds == {"output-share", "output-product", "residual-share", "residual-product"}
        seen.append(channel.transcript.traffic())
    assert seen[0] == seen[1]  # sizes depend on no value


def test_unusable_settings_are_refused() -> None:
    with pytest.raises(SpecError, match="Did you mean 'logistic'"):
        SharedSettings(link="logistik")
    with pytest.raises(SpecError, match="heu-ou"):
        SharedSettings(backend="heu-ou")


# A partner that encrypts other numbers than its shares.


def test_a_share_larger_than_any_reads_nothing_of_the_others_columns(keys) -> None:  # type: ignore[no-untyped-def]
    """Unit vectors far above the ring, announced as shares, would come back as a column."""
    (public, secret), (_, _) = keys
    x = np.array([[0.25, 1.0], [0.75, 0.5], [0.5, 0.0]])
    scale = public.largest_bits - public.numbers.bits - 2
    assert scale > BITS + 40  # a mask that only fits the ring would not reach it
    read = []
    for _ in range(2):
        heard = Heard()
        victim = SharingParty(
            ("passive", "active"),
            x,
            2,
            FAST,
            np.random.default_rng(0),
            keys[1],
            public,
            heard,
        )
        asked = public.encrypt_integers(np.array([1 << scale, 0], dtype=object), scale + 1)
        lie = public._made(asked.vector, 2, 0, BITS)  # announced as shares of 256 bits
        programme = victim._multiply(1, "output", x, 2)
        next(programme)
        with pytest.raises(StopIteration):
            programme.send(Cipher(public.scheme, (2,), public.outgoing(lie)))
        (answer,) = heard.messages
        opened = public.incoming(
            answer.payload.data, 3, public.numbers.fraction, public.largest_bits
        )
        found = secret._decrypt(opened.vector)  # whoever cheats checks no sizes
        read.append([int(number) / 2.0 ** (scale + public.numbers.fraction) for number in found])
    for attempt in read:
        assert np.abs(np.array(attempt) - x[:, 0]).max() > 1e-3  # not the column
    assert np.abs(np.array(read[0]) - np.array(read[1])).max() > 1e-3  # but another random answer
