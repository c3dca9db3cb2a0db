"""Asking about people again with other own parts: what the answers tell, and what ends it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from staging import chosen, held, linear_stage, on_stage
from whatleaks.arrays import Floats
from whatleaks.attacks.bisected_score import BisectedScore
from whatleaks.attacks.half_star import HalfStar
from whatleaks.codec import encode
from whatleaks.defenses.label_only import LabelOnly
from whatleaks.defenses.protocol import Guard, ReleaseDefense
from whatleaks.defenses.rounding import Rounding
from whatleaks.defenses.score_noise import ScoreNoise
from whatleaks.federation.additive.run import AdditiveFederation
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.models.additive import adjacent_differences
from whatleaks.models.asked_otherwise import QUESTIONS
from whatleaks.models.grids import BOOLEAN, Grids
from whatleaks.threat.asking import WHITE_BOX_ASKING
from whatleaks.threat.prediction import WHITE_BOX
from whatleaks.trial.stage import Stage

PASSIVE = 5


trained = cache(linear_stage)


def stage(
    *defenses: ReleaseDefense, load: Any = load_breast_cancer, threat: Any = WHITE_BOX_ASKING
) -> Stage:
    """Return logistic regression on the stage, with defenses at the door and forty questions."""
    staged: Stage = trained(load, PASSIVE, 100, 200, threat)
    return replace(staged, guard=Guard(defenses, rng=np.random.default_rng(0)), questions=40)


def shown(staged: Stage) -> Any:
    """Return the view of the targets."""
    return staged.view(staged.rows.targets)


@cache
def answered_yes_or_no() -> Stage:
    rng = np.random.default_rng(5)
    own, theirs = rng.random((300, 3)), rng.integers(0, 2, (300, 10)).astype(np.float64)
    odds = own @ rng.normal(size=3) + (theirs - 0.5) @ rng.normal(size=10)
    x, y = np.concatenate([own, theirs], axis=1), (odds > np.median(odds)).astype(np.int64)
    holdings = held(x, y, [slice(3, None)], slice(0, 3))
    holdings = replace(holdings, grids={"passive": Grids((BOOLEAN,) * 10)})
    rows = chosen(np.arange(200), np.arange(200, 300))
    settings = AdditiveSettings(steps=200)
    return on_stage(AdditiveFederation(), settings, holdings, rows, WHITE_BOX_ASKING)


def yes_or_no(*defenses: ReleaseDefense) -> Stage:
    """Return a stage on which the partner has ten yes/no columns."""
    return replace(answered_yes_or_no(), guard=Guard(defenses))


def missed(staged: Stage) -> tuple[Floats, Floats]:
    """Return how far the middle of what is told is off, and half of what stays open."""
    view = staged.view(staged.rows.targets)
    low, high = view.told()
    truth = adjacent_differences(view.model.logits(staged.own, staged.truth))
    return np.abs(0.5 * (low + high) - truth), 0.5 * (high - low)


@pytest.mark.parametrize("defense", [LabelOnly(), Rounding(1), Rounding(3)], ids=lambda d: d.name)
def test_forty_questions_tell_the_partners_part_to_nine_digits(defense: ReleaseDefense) -> None:
    error, reach = missed(stage(defense))
    assert error.max() < 1e-9
    assert (error <= reach + 1e-14).all()
    # Rounding takes 1e-9 of a digit for the next one: a border is 4e-10 log-odds wide on each side.
    assert reach.max() < (1e-10 if defense == LabelOnly() else 2e-9)


def test_sixty_questions_tell_it_to_the_last_bits_of_a_double() -> None:
    error, reach = missed(replace(stage(LabelOnly()), questions=QUESTIONS))
    assert error.max() < 1e-14
    assert reach.max() < 1e-15


def test_three_classes_take_forty_questions_for_each_pair() -> None:
    error, _ = missed(replace(stage(LabelOnly(), load=load_wine), questions=80))
    assert error.max() < 1e-9


def test_what_is_released_is_all_that_is_heard() -> None:
    view = stage(LabelOnly()).view(np.arange(100, 120))
    assert set(np.unique(view.asked.answers)) == {0.0, 1.0}
    assert view.asked.answers.shape == (40, 20, 2)


def test_one_question_tells_what_the_class_alone_tells() -> None:
    asked = replace(stage(LabelOnly()), questions=1)
    view, curious = (
        one.view(one.rows.targets) for one in (asked, stage(LabelOnly(), threat=WHITE_BOX))
    )
    assert encode(view.asked.answers[0]) == encode(curious.scores) == encode(view.scores)
    low, high = view.told()
    won = curious.scores[:, 1] > 0.5
    assert (low[won] >= 0.0).all()
    assert (high[~won] <= 0.0).all()
    wide = replace(view, asked=replace(view.asked, answers=view.asked.answers[:0])).told()
    assert (high[won] == wide[1][won]).all()
    assert (low[~won] == wide[0][~won]).all()


def test_whoever_is_sent_the_first_answer_again_has_one_answer() -> None:
    once, one = yes_or_no(LabelOnly(once=True)), replace(yes_or_no(LabelOnly()), questions=1)
    for then in ("half-star", "lattice"):
        first, second = (
            BisectedScore(then).infer(view, np.random.default_rng(0)).values
            for view in (shown(once), shown(one))
        )
        assert encode(first) == encode(second)


def test_noise_is_averaged_away_as_fast_as_near_balance_it_can_be() -> None:
    # Two scores near one half, each with noise s, scaled to one: s / sqrt(2) in each, 2 sqrt(2) s
    # in log-odds. Of 160 answers at least 144 are averaged: two honest ones, the rest to get near.
    error, reach = missed(replace(stage(ScoreNoise(0.1)), questions=160))
    root = float(np.sqrt((error**2).mean()))
    expected = 2.0 * np.sqrt(2.0) * 0.1 / np.sqrt(160.0)
    assert expected * 0.9 < root < expected * 1.15  # 469 people: 3.3 % of luck
    assert (error <= reach).mean() > 0.99


def test_the_class_alone_then_gives_what_exact_scores_give() -> None:
    asked, curious = (
        one.view(one.rows.targets) for one in (stage(LabelOnly()), stage(threat=WHITE_BOX))
    )
    luck = np.random.default_rng(0)
    guess, exact = BisectedScore().infer(asked, luck), HalfStar().infer(curious, luck)
    assert np.abs(guess.values - exact.values).max() < 1e-9


@pytest.mark.parametrize("defense", [LabelOnly(), Rounding(1)], ids=lambda d: d.name)
def test_every_yes_and_no_is_read_from_classes(defense: ReleaseDefense) -> None:
    staged = yes_or_no(defense)
    guess = BisectedScore("lattice").infer(shown(staged), np.random.default_rng(0))
    assert (guess.values == staged.truth).all()
    first = BisectedScore("lattice").infer(
        shown(replace(staged, questions=1)), np.random.default_rng(0)
    )
    assert not (np.round(first.values) == staged.truth).all(axis=1).any()


def test_people_whose_answers_are_exchanged_are_not_followed() -> None:
    staged = stage(LabelOnly())
    view = staged.view(staged.rows.targets)
    order = np.roll(np.arange(len(view.own)), 1)
    theirs = view.exchanged(order)
    truth = adjacent_differences(view.model.logits(staged.own, staged.truth))
    low, high = theirs.told()
    inside = np.abs(0.5 * (low + high) - truth[order]) < 1e-9
    assert inside.mean() > 0.5  # the others' log-odds lie where these people's cannot
    assert (theirs.own == view.own).all()
