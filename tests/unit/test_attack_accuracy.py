"""Attack accuracy (J Eq 24) and errors by steps: measured by the evaluator, not by attacks."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.arrays import sealed
from whatleaks.errors import AttackError
from whatleaks.threat.guess import ValueGuess
from whatleaks.trial.evaluator import Evaluator
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial
from whatleaks.trial.truth import Committed, Truth


def test_the_share_of_records_that_are_classed_alike() -> None:
    truth = sealed(np.array([[0.1], [0.9], [0.8], [0.2]]))
    judge = Evaluator(Truth(truth))
    answer = Committed("guess", ValueGuess(sealed(np.array([[0.4], [0.4], [0.6], [0.3]]))), 0.0, "")

    def classes(values: np.ndarray) -> np.ndarray:
        return (values[:, 0] > 0.5).astype(np.int64)

    with pytest.raises(AttackError, match="score the values of guess first"):
        judge.attack_accuracy(answer, classes)
    judge.score(answer, "attack")
    assert judge.attack_accuracy(answer, classes) == (3, 4)
    assert judge.error(answer) == pytest.approx((0.09 + 0.25 + 0.04 + 0.01) / 4, abs=1e-15)


def test_an_exact_attack_has_accuracy_one_and_errors_fall_with_steps() -> None:
    scenario = Scenario(
        "wine", unknown=2, targets=18, seed=3,
        attacks=("equality-solving", "gradient-inversion-kl"),
        attack_options=Settings({"steps": 640, "learning_rate": 0.01}),
        model_options=Settings({"steps": 200}),
        measures=("attack-accuracy", "by-steps"),
    )  # fmt: skip
    outcome = run_trial(scenario).outcome
    found = outcome.measurements
    assert found["equality-solving"].value < 1e-12
    assert found["equality-solving accuracy"].value == 1.0
    assert 0.0 <= outcome.baselines["uniform accuracy"].value <= 1.0
    assert found["gradient-inversion-kl steps"] == [10.0, 40.0, 160.0, 640.0]
    errors = found["gradient-inversion-kl error by steps"]
    assert errors[-1] == pytest.approx(found["gradient-inversion-kl"].value, rel=1e-12)
    assert errors[-1] < errors[0]
