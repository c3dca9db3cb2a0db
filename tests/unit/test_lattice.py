"""The lattice decoder against every point tried, and at its edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lattice_worlds import World, count_by_trying, random_grids, world
from whatleaks.errors import AttackError, UsageError
from whatleaks.models.bits_rule import bits_of, simple_rule
from whatleaks.models.grids import BOOLEAN, Grids, free, whole_numbers
from whatleaks.models.lattice import (
    CANNOT,
    NONE,
    SEVERAL,
    UNIQUE,
    LatticeSettings,
    decode,
)
from whatleaks.models.linear import Linear
from whatleaks.models.precision import Precision, decimals, float32, float64, seen_precision
from whatleaks.models.readings import score_readings, sum_readings

PIXELS = whole_numbers(0, 120, 10, 110)


@pytest.mark.parametrize(
    ("columns", "classes", "precision"), [(30, 6, "64"), (18, 4, "64"), (12, 6, "32"), (6, 2, "64")]
)
def test_every_cell_is_exact_where_the_bits_suffice(
    columns: int, classes: int, precision: str
) -> None:
    rng = np.random.default_rng(columns)
    case = world(Grids((PIXELS,) * columns), classes, precision, rng, records=60)
    found = decode(case.readings, case.grids)
    assert np.abs(found.values - case.secret).max() < 1e-12
    assert found.reductions == 1


def test_thirty_yes_no_columns_from_one_score() -> None:
    case = world(Grids((BOOLEAN,) * 30), 2, "64", np.random.default_rng(0), records=60)
    found = decode(case.readings, case.grids)
    assert (found.values == case.secret).all()
    assert (found.status == UNIQUE).all()


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_count_is_that_of_trying_every_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grids = random_grids(rng, most=4, freely=False)
    if grids.bits() > 12:
        return
    precision = str(rng.choice(["64", "32", "6", "4", "3", "2", "1"]))
    case = world(grids, int(rng.integers(2, 7)), precision, rng, records=5)
    found = decode(case.readings, grids, LatticeSettings(width=4096, wider=4096))
    truly = count_by_trying(case.readings, grids)
    known = found.complete
    assert (found.fits[known] == truly[known]).all()
    assert (found.fits <= truly).all()
    assert (truly >= 1).all()  # the truth always fits
    assert not (found.status == NONE).any()


@given(st.integers(0, 10**6))
@settings(max_examples=80, deadline=None)
def test_decoded_and_unique_when_the_rule_says_so_with_room_to_spare(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grids = random_grids(rng)
    precision = str(rng.choice(["64", "32", "8", "6", "4", "3"]))
    case = world(grids, int(rng.integers(2, 8)), precision, rng, records=8)
    found = decode(case.readings, grids)
    certain = found.status == UNIQUE
    assert case.exact(found.values)[certain].all()
    for row in range(8):
        bits = bits_of(case.readings, grids, row)
        if bits.decodable and bits.luck < -20.0:
            # A free column may be solved and still be known too loosely to be called read.
            assert certain[row] or (grids.free and found.fits[row] == 1)


def test_free_columns_take_an_equation_each_and_the_rest_is_decoded() -> None:
    rng = np.random.default_rng(5)
    grids = Grids((PIXELS, free(), PIXELS, PIXELS, free(), PIXELS, PIXELS, PIXELS, PIXELS, PIXELS))
    case = world(grids, 6, "64", rng, records=40)
    found = decode(case.readings, grids)
    assert (found.status == UNIQUE).all()
    assert np.abs(found.values - case.secret).max() < 1e-9


def test_equality_solving_is_the_case_of_free_columns_only() -> None:
    rng = np.random.default_rng(6)
    few = world(Grids((free(),) * 5), 6, "64", rng)
    found = decode(few.readings, few.grids)
    assert (found.status == UNIQUE).all()
    assert np.abs(found.values - few.secret).max() < 1e-10
    assert bits_of(few.readings, few.grids).decodable
    many = world(Grids((free(),) * 6), 6, "64", rng)
    assert (decode(many.readings, many.grids).status == SEVERAL).all()
    assert not bits_of(many.readings, many.grids).decodable


def test_equal_weights_are_several_and_zero_weights_too() -> None:
    rng = np.random.default_rng(7)
    grids = Grids((PIXELS,) * 4)
    weights = rng.normal(size=(4, 4))
    weights[1] = weights[0]
    twins = world(grids, 4, "64", rng, weights=weights)
    found = decode(twins.readings, grids)
    swapped = np.abs(twins.secret[:, 0] - twins.secret[:, 1]) > 1e-9
    assert (found.status[swapped] == SEVERAL).all()
    assert not (found.status == UNIQUE).any()
    weights = rng.normal(size=(4, 4))
    weights[2] = 0.0
    blind = world(grids, 4, "64", rng, weights=weights)
    assert not (decode(blind.readings, grids).status == UNIQUE).any()
    silent = world(grids, 4, "64", rng, weights=np.zeros((4, 4)))
    assert (decode(silent.readings, grids).status == CANNOT).all()


def test_a_column_that_moves_no_logit_apart_tells_nothing() -> None:
    # The same weight in every class cancels in the softmax.
    rng = np.random.default_rng(8)
    weights = rng.normal(size=(3, 4))
    weights[0] = 0.7
    case = world(Grids((PIXELS,) * 3), 4, "64", rng, weights=weights)
    assert not (decode(case.readings, case.grids).status == UNIQUE).any()


def test_a_wrong_grid_has_no_solution() -> None:
    rng = np.random.default_rng(9)
    grids = Grids((PIXELS,) * 6)
    halves = world(grids, 6, "64", rng, shift=np.array([0.005, 0, 0, 0, 0, 0.0]))
    assert (decode(halves.readings, grids).status == NONE).all()
    beyond = world(grids, 6, "64", rng, shift=np.array([0, 0, 0, 2.0, 0, 0]))
    assert (decode(beyond.readings, grids).status == NONE).all()
    one_bad = Grids((BOOLEAN,) * 6, ((0, 1, 2),))
    two_chosen = world(one_bad, 6, "64", rng, shift=np.array([1.0, 0, 0, 0, 0, 0]))
    assert (decode(two_chosen.readings, one_bad).status == NONE).all()


def test_scores_that_do_not_sum_to_one_fit_nothing() -> None:
    case = world(Grids((PIXELS,) * 6), 6, "64", np.random.default_rng(10))
    halved = World(case.model, case.grids, case.own, case.secret, case.scores * 0.9, case.precision)
    assert (decode(halved.readings, case.grids).status == NONE).all()


def test_scores_of_zero_and_one_are_no_equations() -> None:
    grids = Grids((PIXELS,) * 3)
    case = world(grids, 3, "64", np.random.default_rng(11), records=3)
    hard = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    extreme = World(case.model, grids, case.own, case.secret, hard, case.precision)
    found = decode(extreme.readings, grids)
    assert not (found.status == UNIQUE).any()
    assert np.isfinite(found.values).all()


@pytest.mark.parametrize("bad", [np.nan, -0.1, 1.1])
def test_a_score_that_is_none_is_refused(bad: float) -> None:
    case = world(Grids((PIXELS,) * 3), 3, "64", np.random.default_rng(12), records=2)
    scores = case.scores.copy()
    scores[1, 1] = bad
    with pytest.raises(AttackError, match="from 0 to 1"):
        _ = World(case.model, case.grids, case.own, case.secret, scores, case.precision).readings


def test_shapes_that_do_not_match_are_refused() -> None:
    case = world(Grids((PIXELS,) * 3), 3, "64", np.random.default_rng(13), records=2)
    active, passive = case.model.active, case.model.passive
    assert isinstance(active, Linear)
    assert isinstance(passive, Linear)
    with pytest.raises(AttackError, match="3 classes"):
        score_readings(case.own, case.scores[:, :2], active, passive, case.grids, float64())
    with pytest.raises(AttackError, match="2 columns"):
        score_readings(case.own, case.scores, active, passive, Grids((PIXELS,) * 2), float64())
    with pytest.raises(AttackError, match="1 sums"):
        sum_readings(np.zeros((2, 2)), np.ones((3, 1)), case.grids)


def test_a_free_column_is_read_only_where_it_is_sharp() -> None:
    rng = np.random.default_rng(17)
    grids = Grids((free(), PIXELS))
    case = world(grids, 4, "4", rng)
    assert not (decode(case.readings, grids).status == UNIQUE).any()
    loose = decode(case.readings, grids, LatticeSettings(sharp=0.5))
    assert case.exact(loose.values)[loose.status == UNIQUE].all()


def test_a_trusted_grid_needs_no_bits_to_spare() -> None:
    rng = np.random.default_rng(18)
    grids = Grids((PIXELS,) * 3)
    case = world(grids, 6, "4", rng, records=60)
    careful = decode(case.readings, grids)
    trusting = decode(case.readings, grids, LatticeSettings(trust_grid=True))
    assert (trusting.status == UNIQUE).sum() > (careful.status == UNIQUE).sum()
    assert case.exact(trusting.values)[trusting.status == UNIQUE].all()


def test_no_records_are_no_answers() -> None:
    case = world(Grids((PIXELS,) * 3), 3, "64", np.random.default_rng(14), records=0)
    found = decode(case.readings, case.grids)
    assert found.values.shape == (0, 3)
    assert found.words == ()


def test_plain_partial_sums_are_decoded() -> None:
    rng = np.random.default_rng(15)
    grids = Grids((PIXELS,) * 5)
    weights = rng.normal(size=(5, 1))
    secret = world(grids, 2, "64", rng, records=30).secret
    found = decode(sum_readings(secret @ weights, weights, grids), grids)
    assert np.abs(found.values - secret).max() < 1e-12
    # 40-bit fixed point, as encrypted regression decodes it.
    fixed = np.round(secret @ weights * 2.0**40) / 2.0**40
    found = decode(sum_readings(fixed, weights, grids, 2.0**-41), grids)
    assert (np.abs(found.values - secret).max(axis=1) < 1e-12).mean() > 0.9


def test_the_error_of_a_log_ratio_follows_the_score() -> None:
    low, high = decimals(4).logarithms(np.array([0.5, 0.001, 0.00004]))
    assert high[0] - low[0] == pytest.approx(2e-4, rel=1e-3)
    assert high[1] - low[1] == pytest.approx(0.1, rel=1e-2)
    assert low[2] == -np.inf  # it may have been zero
    low, high = float32().logarithms(np.array([0.5, 1e-9]))
    assert (high - low) == pytest.approx(2.0**-23, rel=1e-3)
    low, high = float64().logarithms(np.array([1e-300, 0.0]))
    assert high[0] - low[0] < 1e-14 * 300
    assert low[1] == -np.inf


def test_the_precision_shows_in_the_scores() -> None:
    scores = np.random.default_rng(16).dirichlet(np.ones(4), 50)
    assert seen_precision(scores) == float64()
    assert seen_precision(scores.astype(np.float32).astype(np.float64)) == float32()
    for digits in (1, 3, 6, 10):
        assert seen_precision(np.round(scores, digits)) == decimals(digits)


def test_the_rule_before_any_model() -> None:
    grids = Grids((PIXELS,) * 10 + (free(),))
    released, hidden = simple_rule(6, float64(), grids)
    assert released > hidden == pytest.approx(10 * np.log2(121))
    assert simple_rule(6, decimals(3), grids)[0] < hidden
    assert simple_rule(2, float64(), grids)[0] == 0.0  # the free column took the only equation


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Precision(0.6), "relative"),
        (lambda: decimals(-1), "decimals"),
        (lambda: LatticeSettings(width=0), "width"),
        (lambda: LatticeSettings(doubt=0.0), "doubt"),
    ],
)
def test_settings_with_no_meaning_are_refused(make, match: str) -> None:
    with pytest.raises(UsageError, match=match):
        make()
