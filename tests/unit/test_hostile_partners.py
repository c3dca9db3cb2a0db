"""What a malicious partner tries, and what it gets: an error with a name, and no number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.keys import generate_keys
from whatleaks.errors import CryptoError, SpecError, WhatleaksError, WireError
from whatleaks.federation.boost.passive import PassiveParty as BoostPassive
from whatleaks.federation.boost.settings import PairFormat, SecureBoostSettings
from whatleaks.federation.regression.parties import (
    ActiveParty,
    Arbiter,
    PassiveParty,
    gradient_width,
)
from whatleaks.federation.regression.prediction import return_scores
from whatleaks.federation.regression.settings import LINEAR, SecureLinearSettings
from whatleaks.models.boosted_trees import FRACTION, BoostSettings, derivatives
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Cipher, Message, Payload, Plain
from whatleaks_lab.psi import Answering, Asking

Keys = tuple[PublicKey, SecretKey]
SMALL = SecureLinearSettings(epochs=1, key_bits=512, insecure_test_key=True)


@pytest.fixture(scope="module")
def keys() -> Keys:
    return generate_keys("paillier", 512, insecure_test_key=True)


class Heard:
    """A post that keeps what is handed in."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def send(self, step: int, sender: str, receiver: str, kind: str, payload: Payload) -> None:
        self.messages.append(Message(step, sender, receiver, kind, payload))


# The arbiter: it answers with a gradient of the right shape, scale and size, or not at all.


@pytest.mark.parametrize("settings", [SecureLinearSettings])
def test_okamoto_uchiyama_is_refused_where_decryptions_are_returned(settings: Any) -> None:
    with pytest.raises(SpecError, match=r"okamoto-uchiyama.*secret key"):
        settings(backend="okamoto-uchiyama")


@pytest.mark.parametrize("masked", [False, True])
def test_the_arbiter_returns_no_number_that_no_gradient_can_be(keys: Keys, masked: bool) -> None:
    public, _ = keys
    settings = SecureLinearSettings(
        epochs=1, key_bits=512, insecure_test_key=True, mask_gradients=masked
    )
    width = gradient_width(public, masked)
    most = public.largest_bits
    for bits in (most - 2, public.packed_bits(2, width) + 2):
        heard = Heard()
        served = Arbiter(*keys, settings, heard).serve(5, {"active": 2})
        due = next(served)
        count = due.shape[0]
        # Written as a gradient, but far too large: what Okamoto-Uchiyama reduces modulo p.
        large = public.encrypt_integers(np.full(count, 1 << bits - 1, dtype=object), bits)
        told = public._made(large.vector, count, 2 * public.numbers.fraction, 8)
        with pytest.raises(WhatleaksError):
            served.send(Cipher(public.scheme, (count,), public.outgoing(told)))
        assert not heard.messages


def test_the_sender_does_not_choose_the_scale_of_what_comes_back(keys: Keys) -> None:
    public, _ = keys
    for fraction in (0, public.numbers.fraction, 200):
        heard = Heard()
        served = Arbiter(*keys, SMALL, heard).serve(5, {"active": 2})
        count = next(served).shape[0]
        chosen = public.encrypt_integers(np.full(count, 3, dtype=object), 8)
        told = public._made(chosen.vector, count, fraction, 8)
        with pytest.raises(CryptoError, match="fraction"):
            served.send(Cipher(public.scheme, (count,), public.outgoing(told)))
        assert not heard.messages


def test_what_the_arbiter_cannot_see_a_malicious_party_reads(keys: Keys) -> None:
    """docs/security.md says that this protocol cannot stop it: here it is, so that it stays true."""
    public, _ = keys
    heard, z = Heard(), np.array([0.625, -1.5])
    width = gradient_width(public, False)
    served = Arbiter(*keys, SMALL, heard).serve(5, {"active": 2})
    next(served)
    theirs = public.incoming(  # [[z]] of two records, as the passive party sends it
        public.outgoing_values(z), 2, public.numbers.fraction, public.numbers.bits
    )
    disguised = public.pack(public.matmul_plain(np.eye(2), theirs), width)
    with pytest.raises(StopIteration):
        served.send(Cipher(public.scheme, (disguised.count,), public.outgoing(disguised)))
    (answer,) = heard.messages
    assert isinstance(answer.payload, Plain)
    np.testing.assert_allclose(answer.payload.values, z, atol=1e-12)


def test_a_sum_at_another_scale_is_no_score(keys: Keys) -> None:
    public, _ = keys
    heard = Heard()
    served = return_scores(2, 0, "coordinator", keys, heard, LINEAR)
    next(served)
    chosen = public.encrypt_integers(np.array([3, 4], dtype=object), 8)
    with pytest.raises(CryptoError, match="fraction"):
        served.send(Cipher(public.scheme, (2,), public.outgoing(chosen)))
    assert not heard.messages


def test_a_sum_larger_than_any_is_no_score(keys: Keys) -> None:
    public, _ = keys
    for chosen in (1 << public.largest_bits - 2, -(1 << public.numbers.bits + 20)):
        heard = Heard()
        served = return_scores(2, 0, "coordinator", keys, heard, LINEAR)
        next(served)
        large = public.encrypt_integers(np.array([chosen, 4], dtype=object), public.largest_bits)
        told = public._made(large.vector, 2, public.numbers.fraction, public.numbers.bits)
        with pytest.raises(CryptoError, match="larger than any"):
            served.send(Cipher(public.scheme, (2,), public.outgoing(told)))
        assert not heard.messages


def test_a_masked_gradient_below_zero_is_not_returned(keys: Keys) -> None:
    public, _ = keys
    masked = SecureLinearSettings(
        epochs=1, key_bits=512, insecure_test_key=True, mask_gradients=True
    )
    heard, width = Heard(), gradient_width(public, True)
    served = Arbiter(*keys, masked, heard).serve(5, {"active": 2})
    next(served)
    chosen = public.encrypt_integers(np.array([-5, 7], dtype=object), 8)
    told = public._made(chosen.vector, 2, 2 * public.numbers.fraction, 8)
    packed = public.pack(told, width)
    with pytest.raises(CryptoError, match="no mask can give"):
        served.send(Cipher(public.scheme, (packed.count,), public.outgoing(packed)))
    assert not heard.messages


def test_data_parties_take_no_ciphertext_at_another_scale(keys: Keys) -> None:
    public, _ = keys
    x, rng = np.ones((3, 2)), np.random.default_rng(0)
    chosen = public.encrypt_integers(np.array([3, 4, 5], dtype=object), 8)
    payload = Cipher(public.scheme, (3,), public.outgoing(chosen))
    passive = PassiveParty("passive", x, SMALL, rng, public, Heard()).train()
    active = ActiveParty(x, np.ones(3), SMALL, rng, public, Heard()).train()
    for programme in (passive, active):
        next(programme)
        with pytest.raises(CryptoError, match="fraction"):
            programme.send(payload)


def test_a_query_that_no_memory_holds_is_not_made(keys: Keys) -> None:
    x, rng = np.ones((3, 2)), np.random.default_rng(0)
    active = ActiveParty(x, np.ones(3), SMALL, rng, keys[0], Heard())
    with pytest.raises(WireError, match="columns"):
        next(active.ask_queries(1, {"passive": 10**6}))


# Private set intersection: 5 points announced, 500 asked, 250 members learnt.


def test_more_points_than_announced_are_refused() -> None:
    pytest.importorskip("cryptography")
    answering = Answering([f"id-{i}" for i in range(250)])
    many = Asking([f"id-{i}" for i in range(500)])
    with pytest.raises(CryptoError, match=r"500.*5"):
        answering.respond(many.request(), 5)
    few = Asking(["id-1", "id-2"])
    with pytest.raises(CryptoError):
        answering.respond(few.request(), 5)
    five = Asking([f"id-{i}" for i in range(5)])
    response = answering.respond(five.request(), 5)
    assert list(five.rows(answering.setup(), response, 250)) == [0, 1, 2, 3, 4]
    with pytest.raises(CryptoError):  # a setup of other sizes than announced
        five.rows(answering.setup(), response, 3)


# SecureBoost


def boost_party(
    key: PublicKey, post: Any, seed: int = 0, pack: bool = True, columns: int = 3
) -> BoostPassive:
    x = np.random.default_rng(1).normal(size=(60, columns))
    boost = BoostSettings(rounds=1, max_bin=2)
    settings = SecureBoostSettings(boost, key_bits=512, insecure_test_key=True, pack=pack)
    return BoostPassive("passive", x, settings, np.random.default_rng(seed), key, post)


def test_shuffles_never_repeat_although_the_seed_does(keys: Keys) -> None:
    public, _ = keys
    form = PairFormat.of(60, BoostSettings().max_depth)
    orders = set()
    for _ in range(2):
        party = boost_party(public, Channel(), columns=30)  # 30! orders: equal by chance never
        data = public.outgoing_new(np.arange(60).astype(object), form.bits)
        party.begin_tree(np.arange(60.0), Cipher(public.scheme, (60,), data))
        party.send_sums(0, np.zeros(60))
        orders.add(tuple(party._order[0].tolist()))
    assert len(orders) == 2


@pytest.mark.parametrize("outputs", [1, 3])
def test_derivatives_of_the_loss_keep_their_bound(outputs: int) -> None:
    margins = np.array([[-1e3], [-1.0], [0.0], [0.7], [1e3]]) * np.linspace(1.0, -1.0, outputs)
    for label in range(max(2, outputs)):
        g, h = derivatives(margins, np.full(5, label))
        assert np.abs(g).max() <= 1 << FRACTION
        assert 0 < h.min() <= h.max() <= 1 << FRACTION
    assert PairFormat.of(569, 3).width == 73  # what docs/security.md says


def test_derivatives_announced_larger_than_the_loss_allows_are_refused(keys: Keys) -> None:
    public, _ = keys
    form = PairFormat.of(60, BoostSettings().max_depth)
    party = boost_party(public, Channel())
    chosen = np.array([1 << 5 * i for i in range(60)], dtype=object)
    data = public.outgoing_new(chosen, form.bits + 300)
    with pytest.raises(CryptoError, match="bits"):
        party.begin_tree(np.arange(60.0), Cipher(public.scheme, (60,), data))


@pytest.mark.parametrize("pack", [True, False])
def test_derivatives_larger_than_the_loss_allows_drown(keys: Keys, pack: bool) -> None:
    # Record i gets 2**(5 i), announced as small: a sum would name the records that are in it.
    public, secret = keys
    form = PairFormat.of(60, BoostSettings().max_depth)
    chosen = np.array([1 << 5 * i for i in range(60)], dtype=object)
    honest = public.encrypt_integers(chosen, 300)
    told = public._made(honest.vector, 60, 0, form.bits)
    seen = []
    for _ in range(2):
        heard = Heard()
        party = boost_party(public, heard, pack=pack)
        party.begin_tree(np.arange(60.0), Cipher(public.scheme, (60,), public.outgoing(told)))
        party.send_sums(0, np.zeros(60))
        (sums,) = [message.payload for message in heard.messages]
        assert isinstance(sums, Cipher)
        most = public.largest_bits
        opened = secret.decrypt_integers(public.incoming(sums.data, sums.shape[1], 0, most))
        count = len(party.columns.given.cell)
        used = (public.packed_bits(count, form.width) if pack else form.width) + 1
        seen.append([int(number) >> used for number in opened])
    first, second = seen
    room = most - 1 - used
    assert room > 20
    assert not set(first) & set(second)  # what lies above the agreed width is random


def test_random_numbers_cover_every_number_that_a_ciphertext_can_hold(keys: Keys) -> None:
    # A derivative near the end of the range would stand out above random numbers that stop short.
    public, secret = keys
    used, draws = 100, 60
    top = public._ciphers.largest
    for chosen in (0, 1 << top.bit_length() - 2, top, -top):
        told = public._made(
            public._ciphers.encrypt(np.full(draws, chosen, dtype=object)), draws, 0, used
        )
        opened = secret._decrypt(public.drown(told, used).vector)
        for edge in (-top // 2, 0, top // 2):  # a quarter, half and three quarters lie below
            expected = (edge + top) / (2 * top)
            below = sum(int(number) < edge for number in opened) / draws
            assert abs(below - expected) < 0.33  # five standard deviations
