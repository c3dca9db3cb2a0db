"""Chosen gradients read every bin from one tree; the spot check notices, and never by mistake."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.keys import generate_keys
from whatleaks.errors import SpecError, WireError
from whatleaks.federation.boost.chosen import Alphabet, ChosenGradients, Spelled
from whatleaks.federation.boost.passive import PassiveParty
from whatleaks.federation.boost.run import run
from whatleaks.federation.boost.settings import PairFormat, SecureBoostSettings
from whatleaks.federation.boost.spot_check import draws, modulus_bits
from whatleaks.models.boosted_trees import BoostSettings, derivatives
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.parties import ACTIVE, PASSIVE
from whatleaks.wire.transcript import Transcript

RECORDS = 60
BOOST = BoostSettings(rounds=1, max_depth=2, max_bin=6)


@pytest.fixture(scope="module")
def keys() -> tuple[PublicKey, SecretKey]:
    return generate_keys("heu-paillier", 512, insecure_test_key=True)


def settings(checks: int = 0) -> SecureBoostSettings:
    return SecureBoostSettings(BOOST, key_bits=512, insecure_test_key=True, spot_checks=checks)


def tables() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(3)
    return rng.uniform(size=(RECORDS, 2)), rng.uniform(size=(RECORDS, 3)), np.arange(RECORDS) % 2


def spell(
    keys: tuple[PublicKey, SecretKey], checks: int = 0, unnoticed: bool = False
) -> tuple[list[Spelled], PassiveParty]:
    own, theirs, labels = tables()
    exchange = Exchange(Channel(Transcript([])))
    chosen = settings(checks)
    cheat = ChosenGradients(own, labels, chosen, Streams(1), keys, exchange, (PASSIVE,))
    passive = PassiveParty(PASSIVE, theirs, chosen, np.random.default_rng(0), keys[0], exchange)
    programmes: dict[str, Any] = {ACTIVE: cheat.spell(unnoticed), PASSIVE: passive.train(1)}
    return exchange.drive(programmes)[ACTIVE], passive


def sets(left: Any) -> list[tuple[bool, ...]]:
    return sorted(tuple(row) for row in left.tolist())


@pytest.mark.parametrize("unnoticed", [False, True])
def test_the_sums_of_one_tree_name_the_records_left_of_every_candidate(
    keys: tuple[PublicKey, SecretKey], unnoticed: bool
) -> None:
    found, passive = spell(keys, unnoticed=unnoticed)
    given, seen = passive.columns.given, passive.columns.seen
    column, cut = np.divmod(given.cell, given.buckets)
    assert len(found) == 2  # nodes of the last level, as it pleased
    for node in found:
        assert len(node.left) == len(given.cell)
        truth = cut[:, None] >= seen[node.records][:, column].T
        assert sets(node.left) == sets(truth)
    letters = Alphabet.of(PairFormat.of(RECORDS, 2), RECORDS, unnoticed).letters
    assert sum(len(node.records) for node in found) == min(RECORDS, 2 * letters)
    assert letters == (4 if unnoticed else 64)


def test_a_spot_check_ends_it(keys: tuple[PublicKey, SecretKey]) -> None:
    # Chance lets it pass only if no pair of 30 was drawn or sums vanish: below 2**-30 each, 6 times.
    with pytest.raises(WireError, match="not those of the first round's loss"):
        spell(keys, checks=6)


def test_what_is_a_multiple_of_the_modulus_passes(keys: tuple[PublicKey, SecretKey]) -> None:
    found, _ = spell(keys, checks=3, unnoticed=True)
    assert [len(node.records) for node in found] == [4, 4]


@pytest.mark.parametrize("classes", [2, 3])
def test_honest_training_is_never_stopped(keys: tuple[PublicKey, SecretKey], classes: int) -> None:
    own, theirs, _ = tables()
    labels = np.arange(RECORDS) % classes
    checked = run(own, [theirs], labels, settings(5), Streams(1), Channel(Transcript([])), keys)
    plain = run(own, [theirs], labels, settings(), Streams(1), Channel(Transcript([])), keys)
    assert np.array_equal(checked.margins, plain.margins)


@pytest.mark.parametrize("classes", [2, 3, 5, 7])
def test_derivatives_of_one_margin_leave_no_remainder(classes: int) -> None:
    labels = np.random.default_rng(classes).integers(0, classes, 50)
    g, h = derivatives(np.zeros((50, 1 if classes == 2 else classes)), labels)
    form = PairFormat.of(50, 3)
    pairs = g.astype(object) * (1 << form.shift) + h.astype(object)
    marks = 1 - draws(50, 20).astype(object)
    assert (marks.sum(axis=0) == 0).all()
    for output in range(g.shape[1]):
        sums = marks.T @ pairs[:, output]
        assert not (sums % (1 << modulus_bits(form.shift))).any()


def test_a_remainder_tells_no_label_but_that_of_a_half_would() -> None:
    # Whoever multiplies a ciphertext by the inverse of 2 has half of it opened: the check's price.
    form = PairFormat.of(50, 3)
    g, h = derivatives(np.zeros((2, 1)), np.array([0, 1]))
    pairs = g[:, 0].astype(object) * (1 << form.shift) + h[:, 0].astype(object)
    modulus = 1 << modulus_bits(form.shift)
    assert pairs[0] % modulus == pairs[1] % modulus
    assert not (pairs % 2).any()
    assert (pairs[0] // 2) % modulus != (pairs[1] // 2) % modulus


def test_impossible_numbers_of_checks_are_refused() -> None:
    with pytest.raises(SpecError, match="spot_checks -1"):
        SecureBoostSettings(spot_checks=-1)
    with pytest.raises(SpecError, match="use backend heu-paillier"):
        SecureBoostSettings(backend="heu-ou", spot_checks=1)
