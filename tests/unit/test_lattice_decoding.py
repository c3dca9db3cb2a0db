"""The attack: exact where it can be, the posterior elsewhere, and what its settings mean."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.special import softmax

from lattice_worlds import every_point, world
from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.half_star import HalfStar
from whatleaks.attacks.lattice_decoding import LatticeDecoding
from whatleaks.codec import decode, encode
from whatleaks.errors import AttackError, UsageError
from whatleaks.models.additive import Additive
from whatleaks.models.grid_posterior import posterior
from whatleaks.models.grid_priors import (
    auxiliary_prior,
    flat_prior,
    frequency_prior,
    to_points,
)
from whatleaks.models.grids import BOOLEAN, Grids, free, listed, whole_numbers
from whatleaks.models.lattice import CANNOT, UNIQUE, LatticeSettings
from whatleaks.models.lattice_basis import unknowns
from whatleaks.models.network import Network
from whatleaks.models.precision import float64
from whatleaks.models.purifier import trained_purifier, undone
from whatleaks.threat.grants import Auxiliary, Schema
from whatleaks.threat.views.prediction import WhiteBoxLinearView

PIXELS = whole_numbers(0, 100, 0, 100)
SMALL = Grids(
    (whole_numbers(0, 6, 0, 6), BOOLEAN, whole_numbers(0, 4, 0, 4), BOOLEAN, BOOLEAN), ((3, 4),)
)


@dataclass(frozen=True)
class KnowingView(WhiteBoxLinearView):
    """A white box that was also given complete records."""

    auxiliary: Auxiliary


def knowing(own, scores, unknown, model, grids, known_own, known) -> KnowingView:
    labels = sealed_ints(np.zeros(len(known)))
    records = Auxiliary(sealed(known_own), sealed(known), labels)
    return KnowingView(own, scores, unknown, model, records, schema=Schema(grids))


def view_of(case) -> WhiteBoxLinearView:
    return WhiteBoxLinearView(
        case.own, case.scores, len(case.grids), case.model, schema=Schema(case.grids)
    )


@pytest.mark.parametrize("precision", ["64", "32"])
def test_exact_at_64_and_32_bits(precision: str) -> None:
    case = world(Grids((PIXELS,) * 9), 6, precision, np.random.default_rng(0), records=40)
    attack = LatticeDecoding()
    guess = attack.infer(view_of(case), np.random.default_rng(0)).values
    assert np.abs(guess - case.secret).max() < 1e-12
    values, status = attack.decode(case.own, case.scores, case.model, case.grids, case.precision)
    assert (status == UNIQUE).all()
    assert (values == guess).all()


def test_the_attack_and_its_view_travel() -> None:
    case = world(SMALL, 3, "64", np.random.default_rng(1), records=2)
    attack = LatticeDecoding("frequencies", "mode", settings=LatticeSettings(width=8))
    assert decode(encode(attack)) == attack
    again = decode(encode(view_of(case)))
    assert again.schema == Schema(case.grids)
    assert again.evidence().shape == (2, 2 + 3 + 2)


@pytest.mark.parametrize("precision", ["2", "1"])
def test_the_flat_posterior_is_the_mean_of_all_points_that_fit(precision: str) -> None:
    rng = np.random.default_rng(2)
    case = world(SMALL, 3, precision, rng, records=30)
    readings = case.readings
    points = every_point(SMALL)
    wide = LatticeSettings(width=4096, wider=4096)
    found = posterior(readings, SMALL, flat_prior(SMALL), wide)
    checked = 0
    for i in np.flatnonzero(found.listed & ~np.isneginf(readings.low).any(axis=1)):
        fits = readings.fits(points, np.full(len(points), i))
        assert found.mean[i] == pytest.approx(points[fits].mean(axis=0), abs=1e-9)
        assert found.sure[i] == pytest.approx(1.0 / fits.sum())
        checked += 1
    assert checked >= 5


@pytest.mark.parametrize("weights", [[[3.0], [1.1], [1.5]], [[0.4], [-0.9], [2.0]]])
def test_a_free_column_tells_by_its_range_which_points_fit(weights: list[list[float]]) -> None:
    """It takes the only equation, and before, nothing was read of either column."""
    grids = Grids((BOOLEAN, whole_numbers(0, 4, 0, 4), free()))
    rng = np.random.default_rng(8)
    case = world(grids, 2, "64", rng, records=60, weights=np.array(weights))
    points = every_point(Grids(grids.columns[:2]))
    told = case.secret @ np.array(weights)
    solved = (told - points @ np.array(weights)[:2, 0]) / weights[2][0]  # records x points
    fits = (solved >= 0.0) & (solved <= 1.0)
    found = LatticeDecoding().infer(view_of(case), rng).values
    for i in range(60):
        best = np.append(points[fits[i]].mean(axis=0), solved[i][fits[i]].mean())
        assert found[i] == pytest.approx(best, abs=1e-9)
    assert (fits.sum(axis=1) < len(points)).any()


def test_a_diagnosis_beside_a_free_column_is_read_whole() -> None:
    """Steps between the categories are longer than the free column's reach: nothing else fits."""
    rng = np.random.default_rng(9)
    weights = np.array([[0.0], [2.0], [-1.5], [1.2]])
    grids = Grids((BOOLEAN, BOOLEAN, BOOLEAN, free()), ((0, 1, 2),))
    case = world(grids, 2, "64", rng, records=60, weights=weights)
    found = LatticeDecoding().infer(view_of(case), rng).values
    assert case.read(found).all()
    two = Grids((BOOLEAN, free(), free()))
    case = world(two, 2, "3", rng, records=60, weights=np.array([[3.0], [1.0], [0.8]]))
    found = LatticeDecoding().infer(view_of(case), rng).values
    assert case.exact(found).all()  # two free columns share what is left, the bit is sure


def test_two_free_columns_and_noise_weigh_the_points_as_far_as_they_go() -> None:
    """Of three classes two free columns take both equations; noise bounds nothing."""
    grids = Grids((BOOLEAN, free(), free()))
    case = world(grids, 3, "64", np.random.default_rng(104), records=100)
    found = LatticeDecoding().infer(view_of(case), np.random.default_rng(0)).values
    assert case.read(found).mean() > 0.8
    # Noise: as a mixture of two normal densities, the free column's spread and the noise's in each.
    few, weights, sigma = Grids((BOOLEAN, free())), np.array([[2.0], [1.0]]), 0.3
    case = world(few, 2, "64", np.random.default_rng(100), records=80, weights=weights)
    readings, half = case.readings, sigma * np.sqrt(3.0)
    middle = 0.5 * (readings.low + readings.high)
    middle = middle + sigma * np.random.default_rng(1).normal(size=middle.shape)
    wide = replace(readings, low=middle - half, high=middle + half)
    found = posterior(wide, few, flat_prior(few), LatticeSettings(), noisy=True).mean[:, 0]
    told = middle - readings.known
    told = told[:, 1] - told[:, 0] if told.shape[1] == 2 else told[:, 0]
    spread = 1.0 / 12.0 + sigma**2 * middle.shape[1]
    odds = np.exp(((told - 0.5) ** 2 - (told - 2.5) ** 2) / (2.0 * spread))
    assert found == pytest.approx(odds / (1.0 + odds), abs=1e-6)


def test_known_people_weigh_what_a_free_column_makes_up_for() -> None:
    rng = np.random.default_rng(10)
    grids = Grids((BOOLEAN, free()))
    case = world(grids, 2, "64", rng, records=500, weights=np.array([[0.5], [2.0]]))
    secret = case.secret.copy()
    secret[:, 1] = np.clip(0.5 + 0.04 * rng.normal(size=500), 0.0, 1.0)  # a narrow column
    own = rng.random((500, case.own.shape[1]))
    scores = case.model.scores(own, secret)
    view = knowing(own[:100], scores[:100], 2, case.model, grids, own[100:], secret[100:])
    found = LatticeDecoding("auxiliary", answer="mode").infer(view, rng).values
    assert (found[:, 0] == secret[:100, 0]).mean() > 0.95


def test_frequencies_weigh_the_points_that_fit() -> None:
    rng = np.random.default_rng(3)
    case = world(SMALL, 3, "1", rng, records=20)
    sample = case.secret[:15]
    prior = frequency_prior(SMALL, sample)
    found = posterior(case.readings, SMALL, prior, LatticeSettings(4096, 4096))
    points = every_point(SMALL)
    where = to_points(points, SMALL, unknowns(SMALL))
    weight = np.exp(prior.logs(where, np.zeros(len(where), dtype=np.int64)))
    assert weight.sum() == pytest.approx(1.0, rel=0.2)  # a group's smoothing is not normalised
    sure = found.listed & ~np.isneginf(case.readings.low).any(axis=1)
    assert sure.any()
    for i in np.flatnonzero(sure):
        fits = case.readings.fits(points, np.full(len(points), i))
        share = weight[fits] / weight[fits].sum()
        assert found.mean[i] == pytest.approx(share @ points[fits], abs=1e-9)


def test_each_bit_of_knowledge_lowers_the_error() -> None:
    rng = np.random.default_rng(4)
    columns = 10
    case = world(Grids((PIXELS,) * columns), 4, "3", rng, records=200)
    # Columns that follow one another and the own ones, and lean to small values.
    hidden = rng.beta(2, 5, (600, 1)) + 0.05 * rng.normal(size=(600, columns))
    secret = case.grids.snap(hidden)
    own = hidden[:, :1] + 0.02 * rng.normal(size=(600, 2))
    scores = np.round(case.model.scores(own, secret), 3)

    def error(attack: LatticeDecoding | HalfStar, view) -> float:
        return float(((attack.infer(view, rng).values - secret[:200]) ** 2).mean())

    view = knowing(
        own[:200], scores[:200], columns, case.model, case.grids, own[200:], secret[200:]
    )
    half = error(HalfStar(), WhiteBoxLinearView(own[:200], scores[:200], columns, case.model))
    none, freq, aux = (
        error(LatticeDecoding(prior), view) for prior in ("none", "frequencies", "auxiliary")
    )
    assert aux < freq < none < 1.001 * half  # with many columns half* is the flat mean
    assert aux < 0.1 * none


def test_free_columns_stay_where_the_prior_and_the_scores_put_them() -> None:
    rng = np.random.default_rng(9)
    grids = Grids((PIXELS, free(-3.0, 30.0), BOOLEAN, free(), free(), free()))
    case = world(grids, 3, "3", rng, records=100)
    hidden = case.grids.snap(rng.random((400, 6)))
    own = rng.random((400, 2))
    scores = np.round(case.model.scores(own, hidden), 3)
    view = knowing(own[:100], scores[:100], 6, case.model, grids, own[100:], hidden[100:])
    half = ((0.5 - hidden[:100]) ** 2).mean()
    for prior in ("none", "frequencies", "auxiliary"):
        guess = LatticeDecoding(prior).infer(view, rng).values
        assert ((guess - hidden[:100]) ** 2).mean() < half


def test_free_columns_alone_are_solved_exactly_or_weighed_never_far_out_of_range() -> None:
    case = world(Grids((free(),) * 4), 6, "64", np.random.default_rng(5), records=40)
    rng = np.random.default_rng(0)
    exact = LatticeDecoding().infer(view_of(case), rng).values
    assert np.abs(exact - case.secret).max() < 1e-6
    coarse = replace(view_of(case), scores=sealed(np.round(case.scores, 2)))
    values = LatticeDecoding().infer(coarse, rng).values
    assert values.min() >= 0.0
    assert values.max() <= 1.0
    half = float(((0.5 - case.secret) ** 2).mean())
    assert float(((values - case.secret) ** 2).mean()) < half


def test_noise_is_never_a_proof_and_its_mean_beats_half_star() -> None:
    rng = np.random.default_rng(5)
    case = world(Grids((BOOLEAN,) * 6), 4, "64", rng, records=200)
    noisy = np.clip(case.scores + rng.normal(scale=0.01, size=case.scores.shape), 1e-6, 1.0)
    attack = LatticeDecoding(noise=0.01)
    view = WhiteBoxLinearView(case.own, noisy, 6, case.model, schema=Schema(case.grids))
    guess = attack.infer(view, rng).values
    plain = HalfStar().infer(WhiteBoxLinearView(case.own, noisy, 6, case.model), rng).values
    assert ((guess - case.secret) ** 2).mean() < 0.7 * ((plain - case.secret) ** 2).mean()
    _, status = attack.decode(case.own, noisy, case.model, case.grids, float64())
    assert (status == CANNOT).all()


@pytest.mark.parametrize("kept", [np.float32, np.float64])
def test_a_model_that_computes_in_32_bits_is_read_with_coarser_equations(kept: type) -> None:
    rng = np.random.default_rng(10)
    case = world(Grids((PIXELS,) * 5), 6, "64", rng, records=60)
    narrow = [
        part.astype(np.float32)
        for part in (
            case.own,
            case.model.active.weights,
            case.secret,
            case.model.passive.weights,
            case.model.active.bias,
        )
    ]
    logits = narrow[0] @ narrow[1] + narrow[2] @ narrow[3] + narrow[4]
    scores = softmax(logits.astype(kept), axis=1).astype(np.float64)
    assert logits.dtype == np.float32
    view = WhiteBoxLinearView(case.own, scores, 5, case.model, schema=Schema(case.grids))
    guess = LatticeDecoding().infer(view, rng).values
    assert (np.abs(guess - case.secret).max(axis=1) < 1e-9).mean() > 0.9


def test_ones_own_part_may_be_a_network() -> None:
    rng = np.random.default_rng(8)
    case = world(Grids((PIXELS,) * 8), 4, "64", rng, records=30)
    weights = (rng.normal(size=(2, 5)), rng.normal(size=(5, 4)))
    network = Network(weights, (rng.normal(size=5), rng.normal(size=4)), "tanh")
    mixed = Additive(network, case.model.passive)
    scores = mixed.scores(case.own, case.secret)
    values, status = LatticeDecoding().decode(case.own, scores, mixed, case.grids, float64())
    assert (status == UNIQUE).all()
    assert np.abs(values - case.secret).max() < 1e-12


def test_listed_values_and_groups_are_found_again() -> None:
    grids = Grids(
        (listed((0.1, 0.5, 0.7), 0.0, 1.0), BOOLEAN, BOOLEAN, BOOLEAN, PIXELS), ((1, 2, 3),)
    )
    case = world(grids, 3, "64", np.random.default_rng(6), records=30)
    unknown = unknowns(grids)
    points = to_points(case.secret, grids, unknown)
    assert unknown.inside(points).all()
    assert unknown.values(points) == pytest.approx(case.secret, abs=1e-12)
    values, status = LatticeDecoding().decode(
        case.own, case.scores, case.model, grids, case.precision
    )
    assert (status == UNIQUE).all()
    assert np.abs(values - case.secret).max() < 1e-12


def test_what_it_cannot_attack_is_refused() -> None:
    case = world(SMALL, 3, "64", np.random.default_rng(7), records=2)
    with pytest.raises(AttackError, match="auxiliary"):
        LatticeDecoding("frequencies").infer(view_of(case), np.random.default_rng(0))
    with pytest.raises(AttackError, match="at least 3"):
        auxiliary_prior(SMALL, case.own, case.own[:1], case.secret[:1])
    weights = (np.ones((2, 2)), np.ones((2, 3)))
    deep = Network(weights, (np.zeros(2), np.zeros(3)), "tanh")
    with pytest.raises(AttackError, match="linear"):
        LatticeDecoding().decode(
            case.own, case.scores, Additive(case.model.active, deep), SMALL, float64()
        )
    for wrong in ({"prior": "all"}, {"answer": "best"}, {"noise": -1.0}):
        with pytest.raises(UsageError):
            LatticeDecoding(**wrong)


@pytest.mark.parametrize("prior", ["none", "auxiliary"])
def test_a_public_autoencoder_on_two_scores_is_undone(prior: str) -> None:
    """Two scores are one number, and so is its code: before, such a defense seemed to hold."""
    rng = np.random.default_rng(11)
    case = world(Grids((PIXELS, BOOLEAN)), 2, "64", rng, records=60)
    passed = trained_purifier(2).apply(case.scores)
    view = knowing(case.own[:40], passed[:40], 2, case.model, case.grids,
                   case.own[40:], case.secret[40:])  # fmt: skip
    told = LatticeDecoding(prior, purifier="random").infer(view, rng).values
    assert (np.abs(told - case.secret[:40]) < 1e-9).all(axis=1).mean() > 0.9
    blind = LatticeDecoding(prior).infer(view, rng).values
    assert (np.abs(blind - case.secret[:40]) < 1e-9).all(axis=1).mean() < 0.5
    three = np.full((4, 3), 1.0 / 3.0)
    assert undone(trained_purifier(3), three) is three
