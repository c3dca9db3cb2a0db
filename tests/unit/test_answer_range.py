"""Regressions on few people answer where values can be: a bar that is absurd is no bar."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.auxiliary_baselines import AuxiliaryRegression
from whatleaks.attacks.known_regression import KnownRegression
from whatleaks.attacks.known_votes_regression import KnownVotesRegression
from whatleaks.models.ridge import learnt
from whatleaks.threat.grants import KnownPeople, Ranges
from whatleaks.threat.views.known import KnownView
from whatleaks.threat.views.known_trees import KnownVotesView
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.trial import run_trial

PUBLIC = Ranges(sealed([0.0, -1.0]), sealed([1.0, 2.0]))


def few() -> tuple[KnownPeople, np.ndarray, np.ndarray]:
    """Six people on a line, and three others: among them, a little beyond, and far away."""
    own = np.linspace(0.4, 0.6, 6)[:, None]
    scores = np.full((6, 2), 0.5)
    people = KnownPeople(
        sealed(own), sealed(np.concatenate([own, 1 - own], axis=1)),
        sealed_ints(np.zeros(6)), sealed(scores),
    )  # fmt: skip
    return people, np.array([[0.5], [0.7], [30.0]]), scores[:3]


def answers(ranges: Ranges | None) -> list[np.ndarray]:
    people, own, scores = few()
    seen = KnownView(
        own=sealed(own), scores=sealed(scores), unknown=2, auxiliary=people, ranges=ranges
    )
    votes = KnownVotesView(
        own=sealed(own), unknown=2, auxiliary=people, released=sealed(scores), ranges=ranges
    )
    rng = np.random.default_rng(0)
    return [
        AuxiliaryRegression().infer(seen, rng).values,
        AuxiliaryRegression().infer(votes, rng).values,
        KnownRegression().infer(seen, rng).values,
        KnownVotesRegression().infer(votes, rng).values,
    ]


def test_answers_are_moved_into_the_public_range_and_no_further() -> None:
    people, own, _ = few()
    plain = learnt(people.own, people.passive, own)
    assert plain[2, 0] > 25  # without a range: one such record spoils a mean
    for found in answers(PUBLIC):
        assert found[:2] == pytest.approx(plain[:2], abs=1e-12)
        assert found[2].tolist() == [1.0, -1.0]


def test_without_public_ranges_the_known_peoples_values_are_the_range() -> None:
    for found in answers(None):
        assert found[0] == pytest.approx([0.5, 0.5], abs=1e-9)
        assert found[1:] == pytest.approx(np.array([[0.6, 0.4], [0.6, 0.4]]), abs=1e-12)


def test_a_trial_grants_the_range_and_no_error_on_values_from_0_to_1_is_above_one() -> None:
    """Three people; without the range one record of this seed misses by 2.5, squared."""
    known = Scenario("wine", share=0.5, threat="white-box-known", known=3, seed=1)
    trial = run_trial(replace(known, attacks=("known-regression",)))
    held = {one.name: one.squared for one in trial.records.scored}
    for name in ("known-regression", "auxiliary-regression"):
        assert held[name].size
        assert held[name].max() <= 1.0 + 1e-12
