"""The tasks behind Luo's claims, run for real on a set that ships with scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whatleaks.experiments.outcome import Outcome
from whatleaks.experiments.spec import from_dict
from whatleaks.experiments.tasks import find, prepare
from whatleaks.metrics.measurement import Measurement
from whatleaks.seeds import Streams

GRN = "generative-regression"
BRIEF = {"attack_options": {"least_steps": 20, "epochs": 1}}


def run(**fields: Any) -> Outcome:
    base = {"dataset": "breast-cancer", "share": 0.3, "targets": 40}
    job = prepare(from_dict({**base, **fields}))
    outcome = find(job.spec.task).run(job.spec, Streams(job.spec.seed))
    assert Outcome.from_dict(outcome.to_dict()) == outcome  # plain values only
    return outcome


def number(outcome: Outcome, name: str) -> float:
    found = outcome.measurements.get(name, outcome.baselines.get(name))
    assert found is not None, name
    return found.value if isinstance(found, Measurement) else float(found)  # type: ignore[arg-type]


def test_tasks_with_one_seed_attack_the_same_values() -> None:
    """The guesses use nothing but the truth's shape: equal errors mean equal columns and records."""
    common = {"model": "lr", "attack": "equality-solving", "model_options": {"steps": 50}}
    ours = run(task="feature-inference", **common)
    theirs = run(task="score-attack", threat="white-box", **common)
    for name in ("uniform", "gaussian", "half", "equality-solving"):
        assert number(ours, name) == pytest.approx(number(theirs, name), rel=1e-12)
    forest = run(task="forest-attack", options={"steps": 10})
    assert number(forest, "half") == pytest.approx(number(ours, "half"), rel=1e-12)


def test_errors_by_column_average_to_the_error() -> None:
    outcome = run(
        task="feature-inference", model="joint-network", attack=GRN,
        model_options={"hidden": "8,4", "steps": 20, "dropout": 0.5}, **BRIEF,
    )  # fmt: skip
    by_column = outcome.measurements[f"{GRN} by column"]
    assert np.mean(by_column) == pytest.approx(number(outcome, GRN), rel=1e-12)
    for name in ("own correlation by column", "score correlation by column"):
        found = outcome.measurements[name]
        assert isinstance(found, list)
        assert len(found) == outcome.measurements["unknown"]
        assert 0.0 <= min(found) <= max(found) <= 1.0


def test_each_number_of_predictions_is_attacked() -> None:
    outcome = run(
        task="feature-inference", model="lr", attack=GRN, targets=0, model_options={"steps": 50},
        options={"rows": 200, "training_fraction": 0.5, "predictions": "0.1,0.5"}, **BRIEF,
    )  # fmt: skip
    counts = [outcome.baselines[f"half at {part}"].n for part in (0.1, 0.5)]  # type: ignore[union-attr]
    assert counts == [20, 100]


def test_path_restriction_is_rated_beside_a_random_path() -> None:
    outcome = run(task="tree-attack")
    gain = outcome.measurements["advantage"]
    assert isinstance(gain, Measurement)
    assert gain.n <= 40
    assert number(outcome, "candidates") >= 1.0
    for name in ("path-restriction", "path-restriction-own-columns", "random-path"):
        for kind in (name, f"{name} pooled"):
            assert 0.0 <= number(outcome, kind) <= 1.0


def test_the_gate_leaves_nothing_below_its_threshold_for_the_attack_it_simulates() -> None:
    outcome = run(
        task="gated-release", model="lr", attack="half-star+equality-solving",
        model_options={"steps": 200}, options={"threshold": 0.1},
    )  # fmt: skip
    assert number(outcome, "half-star before below") > 0.0
    assert number(outcome, "withheld") == number(outcome, "half-star before below")
    assert number(outcome, "half-star below") == 0.0


def test_the_check_before_collaboration_leaves_columns_out_and_flags_what_can_be_solved() -> None:
    outcome = run(
        task="collaboration-check", model="lr", attack="equality-solving",
        model_options={"steps": 50}, options={"threshold": 0.9},
    )  # fmt: skip
    kept, unknown = outcome.measurements["kept"], outcome.measurements["unknown"]
    assert 0 < kept < unknown  # type: ignore[operator]
    assert outcome.measurements["solvable"] is False  # 9 columns, 2 classes
    assert "equality-solving after" in outcome.measurements
    none = run(
        task="collaboration-check", model="lr", attack="equality-solving",
        model_options={"steps": 50}, options={"threshold": 1.0},
    )  # fmt: skip
    assert none.measurements["kept"] == unknown
    assert "equality-solving after" not in none.measurements
