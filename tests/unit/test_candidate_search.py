"""Candidate search: exact where one record fits, the middle of what fits elsewhere."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.attacks.candidate_search import CandidateSearch
from whatleaks.attacks.candidate_search_trees import CandidateSearchForest, CandidateSearchTree
from whatleaks.catalog import card
from whatleaks.defenses.rounding import Rounding
from whatleaks.models.additive import Additive
from whatleaks.models.candidate_search import Candidates, candidate_mean
from whatleaks.models.forest import Forest
from whatleaks.models.grids import BOOLEAN, Grid, Grids, free, whole_numbers
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.leaf_products import ScoredByTrees
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network
from whatleaks.models.possible_records import possible_records
from whatleaks.models.reproduced import Reproduced
from whatleaks.models.tree import Tree
from whatleaks.threat.grants import Ranges, Schema
from whatleaks.threat.views.prediction import WhiteBoxLinearView, WhiteBoxPredictionView
from whatleaks.threat.views.tree import WhiteBoxForestView, WhiteBoxTreeView
from whatleaks.trial.plan import fits, worth_trying


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def part(inputs: int, outputs: int, seed: int, hidden: int = 6) -> Network:
    draw = rng(seed)
    return Network(
        (sealed(draw.normal(size=(inputs, hidden))), sealed(draw.normal(size=(hidden, outputs)))),
        (sealed(draw.normal(size=hidden)), sealed(draw.normal(size=outputs))),
        "tanh",
    )


def rising(own: int = 2) -> Additive:
    """A strictly rising score of one unknown column that is no straight line."""
    bend = Network(
        (sealed([[2.0, 1.0]]), sealed([[3.0], [2.0]])), (sealed([-1.0, 0.3]), sealed([0.1])), "tanh"
    )
    return Additive(part(own, 1, 3), bend)


def shown(
    model: Any, own: Floats, truth: Floats, grids: Grids | None = None
) -> WhiteBoxPredictionView:
    schema = None if grids is None else Schema(grids)
    scores = sealed(model.scores(own, truth))
    return WhiteBoxPredictionView(sealed(own), scores, truth.shape[1], model, schema=schema)


def stump(threshold: float, feature: int = 1, low: float = 0.2, high: float = 0.9) -> Tree:
    """One test of a joined column; the first column is the active party's."""
    return Tree(
        sealed_ints([feature, -1, -1]),
        sealed([threshold, 0.0, 0.0]),
        sealed_ints([1, -1, -1]),
        sealed_ints([2, -1, -1]),
        sealed([[0.5, 0.5], [1 - low, low], [1 - high, high]]),
        1,
    )


def small_forest(columns: int = 3, own: int = 2, soft: bool = False) -> Forest:
    from sklearn.ensemble import RandomForestClassifier

    from whatleaks.models.forest import forest_from_sklearn

    x = rng(5).random((120, columns))
    y = (x.sum(axis=1) + 0.2 * rng(6).normal(size=120) > columns / 2).astype(int)
    grown = RandomForestClassifier(12, max_depth=4, random_state=0).fit(x, y)
    return Forest(forest_from_sklearn(grown, own, 2).trees, soft=soft)


@pytest.mark.parametrize("grid", [free(), whole_numbers(0, 6_000_000, 0, 6_000_000)])
def test_one_column_is_read_to_its_last_cent(grid: Grid) -> None:
    """To come near names nobody: a salary in cents has millions of values."""
    truth = np.floor(rng(1).random((60, 1)) * 6_000_001) / 6_000_000
    view = shown(rising(), rng(2).random((60, 2)), truth, Grids((grid,)))
    found = CandidateSearch().infer(view, rng()).values
    assert np.abs(found - truth).max() < 1e-9


def test_a_number_beside_yes_no_and_a_category_is_read_to_the_end() -> None:
    """What can be listed is, so one axis is searched: before, such a number was only come near to."""
    bend = Network(
        (
            sealed([[1.0, 0.0], [0.0, 1.0], [0.0, 0.5], [0.0, 0.0], [0.0, -0.6]]),
            sealed([[1.0], [4.0]]),
        ),
        (sealed([0.0, 0.0]), sealed([0.1])),
        "tanh",
    )
    draw, grids = rng(3), Grids((free(), *(BOOLEAN,) * 4), ((2, 3, 4),))
    group = np.eye(3)[draw.integers(0, 3, 60)]
    truth = np.column_stack([draw.random(60), draw.integers(0, 2, 60), group])
    model = Additive(part(2, 1, 3), bend)
    view = shown(model, draw.random((60, 2)), truth, grids)
    found = CandidateSearch().infer(view, rng()).values
    others = np.array(list(itertools.product([0.0, 1.0], range(3))))
    outputs = bend.logits(
        np.column_stack([np.zeros(6), others[:, 0], np.eye(3)[others[:, 1].astype(int)]])
    )
    mine = bend.logits(truth)[:, 0]
    # Alone: no other category puts the score within the reach of the number.
    reach = np.tanh(1.0)
    alone = ((mine[:, None] >= outputs[:, 0]) & (mine[:, None] <= outputs[:, 0] + reach)).sum(
        axis=1
    ) == 1
    assert alone.sum() > 10
    assert np.abs(found - truth)[alone].max() < 1e-9


def test_a_value_on_the_grid_is_read_exactly() -> None:
    grids = Grids((whole_numbers(0, 90, 0, 90),))
    truth = rng(1).integers(0, 91, (40, 1)) / 90
    guess = CandidateSearch().infer(shown(rising(), rng(2).random((40, 2)), truth, grids), rng())
    assert np.abs(guess.values - truth).max() < 1e-12


def test_a_free_value_is_read_to_half_a_step_and_closer() -> None:
    truth = rng(1).random((60, 1))
    guess = CandidateSearch().infer(shown(rising(), rng(2).random((60, 2)), truth), rng())
    assert np.abs(guess.values - truth).max() <= 0.5 / 1024
    inner = (truth > 0.01) & (truth < 0.99)
    assert np.abs(guess.values - truth)[inner].max() < 2e-5


def test_of_two_values_that_score_alike_the_mean_is_answered() -> None:
    # |x - 1/2|: both sides fit alike, so the best answer is the middle.
    bend = Network(
        (sealed([[1.0, -1.0]]), sealed([[4.0], [4.0]])),
        (sealed([-0.5, 0.5]), sealed([0.0])),
        "relu",
    )
    model = Additive(part(2, 1, 3), bend)
    truth = rng(1).uniform(0.05, 0.45, (30, 1))
    guess = CandidateSearch().infer(shown(model, rng(2).random((30, 2)), truth), rng())
    assert np.abs(guess.values - 0.5).max() < 0.12
    assert abs(float(guess.values.mean()) - 0.5) < 0.03


def test_yes_no_columns_and_a_category_are_read_together() -> None:
    grids = Grids((BOOLEAN, BOOLEAN, BOOLEAN, BOOLEAN, whole_numbers(0, 9, 0, 9)), ((1, 2, 3),))
    draw = rng(4)
    truth = np.zeros((50, 5))
    truth[:, 0] = draw.integers(0, 2, 50)
    truth[np.arange(50), draw.integers(1, 4, 50)] = 1.0
    truth[:, 4] = draw.integers(0, 10, 50) / 9
    model = JointNetwork(
        Linear(sealed(draw.normal(size=(2, 7))), sealed(draw.normal(size=7))),
        Linear(sealed(draw.normal(size=(5, 7))), sealed(np.zeros(7))),
        part(7, 3, 8),
        "sigmoid",
    )
    guess = CandidateSearch().infer(shown(model, draw.random((50, 2)), truth, grids), rng())
    assert np.abs(guess.values - truth).max() < 1e-12


def test_scores_that_are_saturated_are_compared_by_their_logarithms() -> None:
    steep = Linear(sealed([[600.0]]), sealed([0.0]))
    truth = rng(1).random((30, 1))
    guess = CandidateSearch().infer(
        shown(
            Additive(Linear(sealed(np.zeros((2, 1))), sealed([0.0])), steep),
            rng(2).random((30, 2)),
            truth,
        ),
        rng(),
    )
    assert np.abs(guess.values - truth).max() <= 0.5 / 1024


def test_what_fits_a_step_is_answered_by_its_middle() -> None:
    own, truth = np.full((4, 1), 0.5), np.array([[0.1], [0.29], [0.31], [0.9]])
    forest = Forest((stump(0.3), stump(0.6)), soft=True)
    released = sealed(forest.fractions(np.concatenate([own, truth], axis=1)))
    view = WhiteBoxForestView(sealed(own), released, 1, forest)
    guess = CandidateSearchForest().infer(view, rng())
    assert np.abs(guess.values[:, 0] - [0.15, 0.15, 0.45, 0.8]).max() < 1e-12


def test_the_public_range_and_the_grid_bound_the_step() -> None:
    own, forest = np.full((1, 1), 0.5), Forest((stump(0.3),), soft=True)
    released = sealed(forest.fractions(np.array([[0.5, 0.7]])))
    ranges = Ranges(sealed([0.1]), sealed([0.8]))
    view = WhiteBoxForestView(sealed(own), released, 1, forest, ranges=ranges)
    assert CandidateSearchForest().infer(view, rng()).values[0, 0] == pytest.approx(0.55, abs=1e-12)
    schema = Schema(Grids((whole_numbers(0, 4, 0, 4),)))
    gridded = WhiteBoxForestView(sealed(own), released, 1, forest, ranges=ranges, schema=schema)
    guess = CandidateSearchForest().infer(gridded, rng())
    assert guess.values[0, 0] == pytest.approx(0.75, abs=1e-12)  # 0.5, 0.75 and 1


def test_a_trees_class_leaves_the_paths_by_their_size() -> None:
    own, truth = np.full((2, 1), 0.5), np.array([[0.1], [0.7]])
    tree = stump(0.3)
    released = sealed(np.eye(2)[tree.predict(np.concatenate([own, truth], axis=1))])
    guess = CandidateSearchTree().infer(WhiteBoxTreeView(sealed(own), released, 1, tree), rng())
    assert np.abs(guess.values[:, 0] - [0.15, 0.65]).max() < 1e-12


@pytest.mark.parametrize("unknown", [1, 2, 30])
def test_a_model_that_tells_nothing_leaves_one_half(unknown: int) -> None:
    deaf = Linear(sealed(np.zeros((unknown, 1))), sealed([0.3]))
    model = Additive(part(2, 1, 3), deaf)
    view = shown(model, rng(2).random((20, 2)), rng(1).random((20, unknown)))
    guess = CandidateSearch().infer(view, rng())
    assert np.abs(guess.values - 0.5).max() < 1e-3


@pytest.mark.parametrize("soft", [False, True])
def test_a_forest_is_searched_as_a_plain_loop_would(soft: bool) -> None:
    forest = small_forest(soft=soft)
    own, truth = rng(7).random((25, 2)), rng(8).random((25, 1))
    released = sealed(forest.fractions(np.concatenate([own, truth], axis=1)))
    view = WhiteBoxForestView(sealed(own), released, 1, forest)
    fast = CandidateSearchForest().infer(view, rng()).values
    tests = np.concatenate([t.threshold[t.passive] for t in forest.trees])
    ends = np.unique([0.0, *tests, 1.0])
    for i in range(len(own)):
        total = weight = 0.0
        for low, high in itertools.pairwise(ends):
            votes = forest.fractions(np.array([[*own[i], (low + high) / 2]]))
            if np.abs(votes - released[i]).max() < 1e-9:
                total += (high - low) * (low + high) / 2
                weight += high - low
        assert fast[i, 0] == pytest.approx(total / weight, abs=1e-12)


@pytest.mark.parametrize("soft", [False, True])
def test_products_of_leaves_are_the_forests_votes(soft: bool) -> None:
    forest = small_forest(5, 2, soft)
    own, values = rng(1).random((9, 2)), rng(2).random((31, 3))
    fast = ScoredByTrees(forest, own, soft=soft).shared(np.arange(2, 9), values)
    for i, record in enumerate(own[2:]):
        joined = np.concatenate([np.tile(record, (31, 1)), values], axis=1)
        assert np.abs(fast[i] - forest.fractions(joined)).max() < 1e-12


def test_several_columns_of_a_forest_beat_one_half() -> None:
    forest = small_forest(5, 2)
    own, truth = rng(1).random((200, 2)), rng(2).random((200, 3))
    released = sealed(forest.fractions(np.concatenate([own, truth], axis=1)))
    view = WhiteBoxForestView(sealed(own), released, 3, forest)
    guess = CandidateSearchForest().infer(view, rng()).values
    assert ((guess - truth) ** 2).mean() < 0.9 / 12  # uniform columns: one half scores 1/12
    followed = [np.corrcoef(guess[:, j], truth[:, j])[0, 1] for j in range(3)]
    assert min(followed) > 0.2


def test_as_many_equations_as_columns_are_solved_by_searching_on() -> None:
    model = Additive(part(2, 3, 3), part(2, 3, 4))  # 3 classes: 2 ratios, 2 columns
    own, truth = rng(1).random((60, 2)), rng(2).random((60, 2))
    guess = CandidateSearch().infer(shown(model, own, truth), rng()).values
    again = model.scores(own, guess)
    assert np.median(np.abs(guess - truth)) < 0.01
    assert np.median(np.abs(np.log(again) - np.log(model.scores(own, truth)))) < 0.01


def test_searching_on_keeps_all_records_alike() -> None:
    """With nothing told, drawing around some records must not move the mean towards them."""
    own = rng(1).random((40, 1))
    flat = Reproduced(sealed(np.full((40, 3), 1 / 3)), True)
    records = possible_records(2, None, np.zeros(2), np.ones(2))

    # A posterior that is a known box: the candidates' own places decide the distance.
    class Corner:
        cost, wide, redrawn = 1.0, 3, True

        def shared(self, rows: Ints, values: Floats) -> Floats:
            return self.each(rows, np.broadcast_to(values, (len(own[rows]), *values.shape)))

        def each(self, rows: Ints, values: Floats) -> Floats:
            outside = np.maximum(values - 0.5, 0.0) * 50.0
            return np.concatenate([outside, np.zeros((*values.shape[:2], 1))], axis=2)

    places = rng(3).random((512, 2))
    first = Candidates(places, places, np.ones(512), False)
    found = candidate_mean(Corner(), flat, records, first, rng(9))
    assert abs(float(found.mean()) - 0.25) < 0.02


def test_every_candidate_inside_a_released_step_counts() -> None:
    model = rising()
    own, truth = rng(2).random((50, 2)), rng(1).random((50, 1))
    plain = shown(model, own, truth)
    cut = sealed(Rounding(1).release(plain.scores, rng()))
    view = WhiteBoxPredictionView(plain.own, cut, 1, model)
    guess = CandidateSearch(cut=1).infer(view, rng()).values
    even = np.linspace(0.0, 1.0, 20001)
    for i in range(len(own)):
        scores = model.scores(np.tile(own[i], (len(even), 1)), even[:, None])
        fits_ = (np.floor(scores * 10 + 1e-9) / 10 == cut[i]).all(axis=1)
        assert guess[i, 0] == pytest.approx(even[fits_].mean(), abs=2e-3)


def test_noise_is_weighed_by_its_likelihood() -> None:
    model = rising()
    own, truth = rng(2).random((400, 2)), rng(1).random((400, 1))
    plain = shown(model, own, truth)
    noisy = np.clip(plain.scores + rng(5).normal(0, 0.1, plain.scores.shape), 0.0, None)
    view = WhiteBoxPredictionView(
        plain.own, sealed(noisy / noisy.sum(axis=1, keepdims=True)), 1, model
    )
    errors = [
        float(((CandidateSearch(noise=told).infer(view, rng()).values - truth) ** 2).mean())
        for told in (0.1, 0.0)
    ]
    assert errors[0] < errors[1]
    assert errors[0] < 1 / 12


def test_a_class_alone_leaves_all_that_gives_it() -> None:
    model = rising()
    own, truth = rng(2).random((50, 2)), rng(1).random((50, 1))
    plain = shown(model, own, truth)
    chosen = plain.scores.argmax(axis=1)
    view = WhiteBoxPredictionView(plain.own, sealed(np.eye(2)[chosen]), 1, model)
    guess = CandidateSearch().infer(view, rng()).values
    even = np.linspace(0.0, 1.0, 20001)
    for i in range(len(own)):
        scores = model.scores(np.tile(own[i], (len(even), 1)), even[:, None])
        assert guess[i, 0] == pytest.approx(
            even[scores.argmax(axis=1) == chosen[i]].mean(), abs=2e-3
        )


@given(seed=st.integers(0, 1000), unknown=st.integers(1, 4))
def test_two_secrets_with_equal_scores_give_equal_guesses(seed: int, unknown: int) -> None:
    weights = np.zeros((unknown + 1, 1))
    weights[:-1] = 2.0  # the last column says nothing: two secrets that differ there alone
    model = Additive(part(2, 1, 3), Linear(sealed(weights), sealed([0.1])))
    draw = rng(seed)
    own, truth = draw.random((5, 2)), draw.random((5, unknown + 1))
    other = truth.copy()
    other[:, -1] = draw.random(5)
    first, second = (
        CandidateSearch().infer(shown(model, own, secret), rng(1)).values
        for secret in (truth, other)
    )
    assert np.array_equal(first, second)


def test_many_columns_stay_in_bounds() -> None:
    model = Additive(part(3, 1, 3), part(300, 1, 4))
    view = shown(model, rng(1).random((20, 3)), rng(2).random((20, 300)))
    guess = CandidateSearch().infer(view, rng()).values
    assert guess.shape == (20, 300)
    assert ((guess > 0.2) & (guess < 0.8)).all()


def test_possible_records_are_the_schemas() -> None:
    grids = Grids((free(0.1, 0.4), BOOLEAN, BOOLEAN, whole_numbers(3, 5, 0, 10)), ((1, 2),))
    records = possible_records(4, grids, np.zeros(4), np.ones(4))
    values = records.values(rng(1).random((2000, 3)))
    assert values[:, 0].min() >= 0.1
    assert values[:, 0].max() <= 0.4
    assert (values[:, 1] + values[:, 2] == 1.0).all()
    assert set(np.round(values[:, 3], 9)) == {0.3, 0.4, 0.5}
    whole = possible_records(3, grids.pick((1, 2, 3)), np.zeros(3), np.ones(3))
    assert len(whole.whole()) == 6
    assert len(np.unique(whole.values(whole.whole()), axis=0)) == 6


def test_linear_models_are_left_to_others() -> None:
    entry = card("attack", "candidate-search")
    assert worth_trying(entry, WhiteBoxPredictionView)
    assert fits(entry, WhiteBoxLinearView)  # whoever names it gets it
    assert not worth_trying(entry, WhiteBoxLinearView)


@pytest.mark.parametrize("unknown", [3, 300])
def test_no_more_than_200_megabytes_are_held(unknown: int) -> None:
    model = Additive(part(3, 1, 3), part(unknown, 1, 4))
    view = shown(model, rng(1).random((400, 3)), rng(2).random((400, unknown)))
    tracemalloc.start()
    CandidateSearch().infer(view, rng())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6
