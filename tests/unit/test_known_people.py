"""An adversary who knows some people: what it is given, and what it makes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.known_regression import KnownRegression
from whatleaks.data.holdings import Rows, with_known
from whatleaks.errors import AttackError
from whatleaks.models.ridge import STRENGTHS, learnt
from whatleaks.threat.grants import KnownPeople, Ranges
from whatleaks.threat.views.known import KnownView
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial


def left_out(known: np.ndarray, wanted: np.ndarray, strength: float) -> float:
    """Fit again without each record in turn, on inputs scaled once: the slow reference."""
    inputs = (known - known.mean(axis=0)) / known.std(axis=0)
    missed = []
    for i in range(len(known)):
        rest = np.arange(len(known)) != i
        fitted = Ridge(alpha=strength).fit(inputs[rest], wanted[rest])
        missed.append(float(fitted.predict(inputs[[i]])[0] - wanted[i]))
    return float(np.mean(np.square(missed)))


def test_the_strength_is_that_of_leaving_one_out() -> None:
    rng = np.random.default_rng(4)
    known = rng.random((14, 5))
    wanted = known[:, 0] - known[:, 3] + 0.3 * rng.normal(size=14)
    best = min(STRENGTHS * 14, key=lambda s: left_out(known, wanted, s))
    inputs = (known - known.mean(axis=0)) / known.std(axis=0)
    asked = rng.random((6, 5))
    fitted = Ridge(alpha=best).fit(inputs, wanted)
    expected = fitted.predict((asked - known.mean(axis=0)) / known.std(axis=0))
    assert np.allclose(learnt(known, wanted[:, None], asked)[:, 0], expected, atol=1e-12)


def test_a_constant_input_says_nothing_and_too_few_records_are_refused() -> None:
    rng = np.random.default_rng(0)
    known, wanted = rng.random((9, 2)), rng.random((9, 1))
    known[:, 1] = 0.5
    asked = np.array([[0.3, 0.5], [0.3, 900.0]])
    one, other = learnt(known, wanted, asked)
    assert np.array_equal(one, other)
    with pytest.raises(AttackError, match="at least 3 known records, got 2"):
        learnt(known[:2], wanted[:2], asked)


def test_known_people_are_those_whom_nobody_attacks() -> None:
    rows = Rows(
        sealed_ints(range(10)), sealed_ints(range(10, 20)), sealed_ints(range(20, 24)),
        sealed_ints([]), sealed_ints(range(10, 24)),
    )  # fmt: skip
    few = with_known(rows, 3, np.random.default_rng(0))
    assert set(few.known) < set(range(20, 24))
    assert np.array_equal(few.targets, rows.targets)
    more = with_known(rows, 9, np.random.default_rng(0))
    assert set(range(20, 24)) < set(more.known) < {*range(10), *range(20, 24)}
    most = with_known(rows, 17, np.random.default_rng(0))
    assert len(most.known) == 17
    assert not set(most.known) & set(most.targets)
    assert len(most.targets) == 7
    assert len(with_known(rows, 1000, np.random.default_rng(0)).targets) == 5


def test_a_score_that_is_a_linear_image_of_the_column_gives_it_away() -> None:
    rng = np.random.default_rng(1)
    own, secret = rng.random((60, 3)), rng.random((60, 1))
    logit = own @ [[1.0], [-2.0], [0.5]] + 3.0 * secret
    scores = np.concatenate([1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(logit))], axis=1)
    known = KnownPeople(
        sealed(own[:20]), sealed(secret[:20]), sealed_ints(np.zeros(20)), sealed(scores[:20])
    )
    view = KnownView(
        own=sealed(own[20:]),
        scores=sealed(scores[20:]),
        unknown=1,
        auxiliary=known,
        ranges=Ranges(sealed([0.0]), sealed([1.0])),
    )
    guess = KnownRegression().infer(view, rng)
    assert np.abs(guess.values - secret[20:]).max() < 2e-3  # the weakest ridge leaves a trace
    other = view.exchanged(sealed_ints(np.roll(np.arange(40), 1)))
    assert other.auxiliary is view.auxiliary
    control = KnownRegression().infer(other, rng)
    assert np.abs(control.values - secret[20:]).mean() > 0.1


@pytest.mark.parametrize("threat", ["black-box", "white-box"])
def test_knowing_people_changes_no_training_and_helps(threat: str) -> None:
    base = Scenario("wine", share=0.4, threat=threat, targets=40, references=("baselines",))
    knows = replace(base, threat=f"{threat}-known", attacks=("known-regression",), known=20)
    assert base.training_key() == knows.training_key()
    outcome = run_trial(knows)
    assert outcome.records.granted == 20
    found, bars = outcome.outcome.measurements, outcome.outcome.baselines
    assert found["known-regression"].value < bars["half"].value
    assert bars["auxiliary-regression"].value < bars["half"].value


def test_digits_and_known_people_together_tell_more_than_either() -> None:
    scenario = Scenario(
        "wine",
        share=0.5,
        threat="white-box-known",
        attacks=("known-regression", "lattice-decoding", "lattice-decoding-auxiliary"),
        targets=50,
    )
    exact = run_trial(scenario).outcome.measurements
    assert (
        exact["lattice-decoding-auxiliary"].value < 1e-24
    )  # every digit: nothing is left to weigh
    options = Settings({"cut": 3})
    cut = run_trial(replace(scenario, defense="rounding-3", attack_options=options)).outcome
    both = cut.measurements["lattice-decoding-auxiliary"].value
    assert both < cut.measurements["known-regression"].value
    assert both < cut.measurements["lattice-decoding"].value
    assert both < cut.baselines["auxiliary-regression"].value
