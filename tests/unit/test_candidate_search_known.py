"""Candidate search by one who knows some people: values are as likely as they are among these."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats, sealed, sealed_ints
from whatleaks.attacks.candidate_search import CandidateSearch
from whatleaks.attacks.candidate_search_known import CandidateSearchKnown
from whatleaks.catalog import card
from whatleaks.models.additive import Additive
from whatleaks.models.grids import BOOLEAN, Grids, whole_numbers
from whatleaks.models.likely_records import likely_records
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network
from whatleaks.models.possible_records import possible_records
from whatleaks.threat.grants import KnownPeople, Schema
from whatleaks.threat.views.known import KnownLinearView, KnownWhiteBoxView
from whatleaks.trial.plan import fits, worth_trying

HALVES = Grids((whole_numbers(0, 2, 0, 2),))  # 0, 1/2, 1


def bent(passive: Floats) -> Additive:
    """A model that adds up bent unknown columns, which therefore is no linear one."""
    hidden = Network((sealed(passive), sealed([[5.0]])), (sealed([0.0]), sealed([0.0])), "tanh")
    return Additive(Linear(sealed([[1.0], [-1.0]]), sealed([0.0])), hidden)


def shown(
    model: Additive, truth: Floats, people: Floats, grids: Grids | None = None
) -> KnownWhiteBoxView:
    draw = np.random.default_rng(3)
    own, theirs = draw.random((len(truth), 2)), draw.random((len(people), 2))
    labels = sealed_ints(np.zeros(len(people), dtype=np.int64))
    released = sealed(model.scores(theirs, people))
    known = KnownPeople(sealed(theirs), sealed(people), labels, released)
    schema = None if grids is None else Schema(grids)
    scores = sealed(model.scores(own, truth))
    return KnownWhiteBoxView(
        own=sealed(own),
        scores=scores,
        unknown=truth.shape[1],
        model=model,
        schema=schema,
        auxiliary=known,
    )


def answered(view: KnownWhiteBoxView) -> Floats:
    return CandidateSearchKnown().infer(view, np.random.default_rng(0)).values


def test_the_next_person_falls_into_every_gap_between_those_known_alike() -> None:
    free = possible_records(1, None, np.zeros(1), np.ones(1))
    likely = likely_records(free, np.array([[0.6], [0.2], [0.5]]))
    quarters = np.array([[0.0], [0.25], [0.5], [0.75], [1.0], [0.125]])
    wanted = [0.0, 0.2, 0.5, 0.6, 1.0, 0.1]
    assert np.abs(likely.values(quarters)[:, 0] - wanted).max() < 1e-15


def test_a_level_weighs_what_falls_nearest_to_it() -> None:
    levels = possible_records(1, HALVES, np.zeros(1), np.ones(1))
    likely = likely_records(levels, np.array([[0.0], [0.0], [1.0]]))
    weights = likely.weights(levels.values(levels.whole()))
    assert np.abs(weights - [0.5625, 0.125, 0.3125]).max() < 1e-15
    even = (np.arange(1600) + 0.5)[:, None] / 1600  # and even places give these shares
    counts = np.unique(likely.values(even), return_counts=True)[1]
    assert np.abs(counts / 1600 - weights).max() <= 1 / 1600


def test_a_category_weighs_what_laplace_says() -> None:
    grids = Grids((BOOLEAN, BOOLEAN, BOOLEAN), ((0, 1, 2),))
    group = possible_records(3, grids, np.zeros(3), np.ones(3))
    likely = likely_records(group, np.eye(3)[[0, 0, 2]])
    assert np.abs(likely.weights(np.eye(3)) - np.array([3, 1, 2]) / 6).max() < 1e-15
    even = (np.arange(600) + 0.5)[:, None] / 600
    assert np.abs(likely.values(even).mean(axis=0) - np.array([3, 1, 2]) / 6).max() < 1e-15


def test_of_records_that_score_alike_the_likely_ones_weigh_more() -> None:
    # x1 + x2 is told. Of a sum of one half either column may have it.
    grids = Grids((whole_numbers(0, 2, 0, 2), whole_numbers(0, 2, 0, 2)))
    people = np.array([[0.0, 1.0], [0.0, 0.5], [1.0, 0.5]])
    view = shown(
        bent(np.ones((2, 1))), np.array([[0.5, 0.0], [0.0, 0.5], [1.0, 1.0]]), people, grids
    )
    first, second = [0.5625, 0.125, 0.3125], [0.125, 0.5, 0.375]
    ways = first[1] * second[0], first[0] * second[1]
    mean = np.array([ways[0], ways[1]]) * 0.5 / sum(ways)
    assert np.abs(answered(view) - [mean, mean, [1.0, 1.0]]).max() < 1e-12


def test_where_scores_tell_nothing_it_answers_what_is_to_be_expected() -> None:
    people = np.array([[0.0], [0.0], [1.0]])
    view = shown(bent(np.zeros((1, 1))), np.array([[0.0], [1.0]]), people, HALVES)
    assert np.abs(answered(view) - (0.5 * 0.125 + 0.3125)).max() < 1e-12


def expected(total: float, first: Floats, second: Floats) -> float:
    """The mean of x1 given x1 + x2, where both have even densities in gaps that end at these places."""
    cuts = np.unique(
        np.concatenate([first, total - second]).clip(max(0.0, total - 1.0), min(1.0, total))
    )
    middle = 0.5 * (cuts[1:] + cuts[:-1])
    mine, theirs = 1.0 / np.diff(first), 1.0 / np.diff(second)
    density = mine[np.searchsorted(first, middle) - 1]
    density = density * theirs[np.searchsorted(second, total - middle) - 1] * np.diff(cuts)
    return float(density @ middle / density.sum())


def test_free_columns_are_answered_by_the_mean_of_what_is_likely_and_fits() -> None:
    draw = np.random.default_rng(1)
    people = np.stack([draw.uniform(0.0, 0.2, 25), draw.uniform(0.3, 1.0, 25)], axis=1)
    truth = np.stack([draw.uniform(0.0, 0.2, 30), draw.uniform(0.3, 1.0, 30)], axis=1)
    view = shown(bent(np.ones((2, 1))), truth, people)
    ends = np.concatenate([[[0.0, 0.0]], np.sort(people, axis=0), [[1.0, 1.0]]])
    exact = np.array([expected(x, ends[:, 0], ends[:, 1]) for x in truth.sum(axis=1)])
    flat = CandidateSearch().infer(view, np.random.default_rng(0)).values[:, 0]
    # A hundred candidates or so are averaged: a tenth of their spread is the luck of the draw.
    assert np.abs(answered(view)[:, 0] - exact).mean() < 0.1 * np.abs(flat - exact).mean()


def test_a_person_outside_the_public_range_counts_at_its_end() -> None:
    free = possible_records(1, None, np.zeros(1), np.ones(1))
    likely = likely_records(free, np.array([[-0.5], [1.5]]))
    assert np.abs(likely.values(np.array([[1 / 3], [2 / 3]]))[:, 0] - [0.0, 1.0]).max() < 1e-15


def test_audits_try_it_on_networks_and_not_on_linear_models() -> None:
    entry = card("attack", "candidate-search-known")
    assert worth_trying(entry, KnownWhiteBoxView)
    assert fits(entry, KnownLinearView)  # whoever names it gets it
    assert not worth_trying(entry, KnownLinearView)
