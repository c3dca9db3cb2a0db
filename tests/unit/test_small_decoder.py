"""The decoder on auxiliary pictures: learns what a line cannot, chooses without the truth, tells no message."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.auxiliary_baselines import AuxiliaryRegression
from whatleaks.attacks.auxiliary_decoder import AuxiliaryBest, AuxiliaryDecoder
from whatleaks.errors import AttackError
from whatleaks.models import small_decoder
from whatleaks.models.ridge import learnt
from whatleaks.models.small_decoder import DecoderSettings, decoded
from whatleaks.threat.grants import Auxiliary
from whatleaks.threat.views.split import SplitView

BRIEF = DecoderSettings(hidden=(32, 32))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def bent(count: int = 160) -> tuple[np.ndarray, np.ndarray]:
    """Values that follow from the size of a number, whatever its sign: no line goes through them."""
    own = rng(1).uniform(-1, 1, (count, 1))
    return own, np.abs(own) * np.array([[1.0, -0.5]])


def straight(count: int = 160) -> tuple[np.ndarray, np.ndarray]:
    own = rng(2).uniform(-1, 1, (count, 3))
    return own, own @ rng(3).normal(size=(3, 2))


def view(own: np.ndarray, wanted: np.ndarray, known: int = 120) -> SplitView:
    granted = Auxiliary(sealed(own[:known]), sealed(wanted[:known]), sealed_ints(np.zeros(known)))
    sent = sealed(rng(4).normal(size=(len(own) - known, 5)))
    return SplitView(sealed(own[known:]), wanted.shape[1], granted, sent)


def missed(values: np.ndarray, truth: np.ndarray) -> float:
    return float(((values - truth) ** 2).mean())


def test_it_learns_what_no_line_can_and_knows_it() -> None:
    own, wanted = bent()
    found = decoded(own[:120], wanted[:120], own[120:], rng(), BRIEF)
    line = learnt(own[:120], wanted[:120], own[120:])
    assert missed(found.values, wanted[120:]) < 0.3 * missed(line, wanted[120:])
    assert found.missed < 0.5 * found.regression
    assert 0 < found.rounds <= BRIEF.rounds


def test_where_a_line_is_exact_it_says_so() -> None:
    own, wanted = straight()
    found = decoded(own[:120], wanted[:120], own[120:], rng(), replace(BRIEF, rounds=5))
    assert found.regression < 0.1 * found.missed


def test_the_bar_is_the_one_that_did_better_on_records_left_out() -> None:
    lucky = rng(7).bit_generator.state
    for made, winner, rounds in (
        (bent(), AuxiliaryDecoder(30), 30),
        (straight(), AuxiliaryRegression(), 2),
    ):
        seen, answers = view(*made), []
        for one in (AuxiliaryBest(rounds), winner):
            luck = rng()
            luck.bit_generator.state = lucky
            answers.append(one.infer(seen, luck).values)
        assert np.array_equal(*answers)


def test_nothing_of_the_attacked_records_but_the_own_columns_is_used() -> None:
    """Other messages change nothing, and neither does who else is asked about."""
    seen = view(*bent())
    other = replace(seen, embeddings=sealed(rng(9).normal(size=seen.embeddings.shape)))
    first, second = (AuxiliaryBest(5).infer(v, rng()).values for v in (seen, other))
    assert np.array_equal(first, second)
    fewer = replace(seen, own=sealed(seen.own[:9]), embeddings=sealed(seen.embeddings[:9]))
    assert np.abs(AuxiliaryBest(5).infer(fewer, rng()).values - first[:9]).max() < 1e-5


def test_answers_stay_within_the_range_of_the_records_learnt_on() -> None:
    own, wanted = straight(40)
    far = decoded(own, wanted, 100.0 * own, rng(), DecoderSettings((8,), rounds=5)).values
    assert (far >= wanted.min(axis=0) - 1e-12).all()
    assert (far <= wanted.max(axis=0) + 1e-12).all()


def test_the_same_luck_gives_the_same_answers_and_other_luck_others() -> None:
    own, wanted = bent(60)
    brief = DecoderSettings((8,), rounds=4)
    found = []
    for seed in (0, 0, 1):
        small_decoder._decoded.cache_clear()  # what was learnt a moment ago is remembered
        found.append(decoded(own, wanted, own, rng(seed), brief).values)
    first, same, other = found
    assert np.array_equal(first, same)
    assert np.abs(first - other).max() > 1e-6


def test_too_few_records_are_refused_and_columns_that_do_not_vary_are_not() -> None:
    own, wanted = bent(7)
    with pytest.raises(AttackError, match="at least 8 complete records, got 7"):
        decoded(own, wanted, own, rng())
    flat = decoded(np.ones((9, 2)), np.full((9, 3), 0.25), np.ones((2, 2)), rng(), BRIEF)
    assert np.abs(flat.values - 0.25).max() < 1e-12
