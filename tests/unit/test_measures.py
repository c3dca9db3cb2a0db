"""What claims measure beside errors, on real trials of a set that ships with scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from whatleaks.metrics.measurement import Measurement
from whatleaks.trial.outcome import Outcome
from whatleaks.trial.scenario import from_dict
from whatleaks.trial.trial import run_trial

GRN = "generative-regression"
BRIEF = {"attack_options": {"least_steps": 20, "epochs": 1}}
TRAINED_BRIEFLY = {"model_options": {"steps": 50}}


def run(**fields: Any) -> Outcome:
    base = {"dataset": "breast-cancer", "share": 0.3, "targets": 40}
    outcome = run_trial(from_dict({**base, **fields})).outcome
    assert Outcome.from_dict(outcome.to_dict()) == outcome  # plain values only
    return outcome


def number(outcome: Outcome, name: str) -> float:
    found = outcome.measurements.get(name, outcome.baselines.get(name))
    assert found is not None, name
    return found.value if isinstance(found, Measurement) else float(found)  # type: ignore[arg-type]


def test_models_with_one_seed_are_attacked_on_the_same_values() -> None:
    """The guesses use nothing but the truth's shape: equal errors mean equal columns and records."""
    linear = run(**TRAINED_BRIEFLY)
    network = run(model="joint-network", model_options={"hidden": (8, 4), "steps": 20})
    forest = run(model="forest", threat="white-box-forest")
    for other in (network, forest):
        for name in ("uniform", "gaussian", "half"):
            assert number(other, name) == number(linear, name)


def test_errors_by_column_average_to_the_error() -> None:
    outcome = run(
        model="joint-network", attacks=GRN, measures=["by-column", "correlations"],
        model_options={"hidden": (8, 4), "steps": 20, "dropout": 0.5}, **BRIEF,
    )  # fmt: skip
    by_column = outcome.measurements[f"{GRN} by column"]
    assert isinstance(by_column, list)
    assert np.mean(by_column) == pytest.approx(number(outcome, GRN), rel=1e-12)
    for name in ("own correlation by column", "score correlation by column"):
        found = outcome.measurements[name]
        assert isinstance(found, list)
        assert len(found) == outcome.measurements["unknown"]
        assert 0.0 <= min(found) <= max(found) <= 1.0


def test_each_number_of_predictions_is_attacked() -> None:
    data = {"rows": 200, "training_fraction": 0.5}
    for part, count in ((0.1, 20), (0.5, 100)):
        outcome = run(targets=0, part=part, data=data, **TRAINED_BRIEFLY)
        assert outcome.measurements["records"] == count
        half = outcome.baselines["half"]
        assert isinstance(half, Measurement)
        assert half.n == count


def test_path_restriction_is_rated_beside_a_random_path() -> None:
    names = ("path-restriction", "random-path", "path-restriction-own-columns")
    outcome = run(
        model="tree", threat="white-box-tree", attacks=names, measures=["advantage"], references=[]
    )
    gain = outcome.measurements["advantage"]
    assert isinstance(gain, Measurement)
    assert gain.n <= 40
    assert number(outcome, "candidates") >= 1.0
    for name in names:
        for kind in (name, f"{name} pooled"):
            assert 0.0 <= number(outcome, kind) <= 1.0
    assert not outcome.baselines


def test_the_gate_leaves_nothing_below_its_threshold_for_the_attack_it_simulates() -> None:
    trial = {
        "attacks": ["half-star", "equality-solving"],
        "model_options": {"steps": 200},
        "measures": ["below-0.1"],
    }
    plain = run(**trial)
    gated = run(**trial, defense="gate-0.1", defense_options={"attack": "half-star"})
    assert number(plain, "half-star below") > 0.0
    assert number(gated, "withheld") == number(plain, "half-star below")
    assert number(gated, "half-star below") == 0.0


def test_the_error_on_kept_columns_is_that_of_the_columns_which_the_filter_leaves() -> None:
    trial: dict[str, Any] = {"attacks": "equality-solving", **TRAINED_BRIEFLY}
    rule = "correlation-max-0.9"
    before = run(**trial, measures=["by-column", f"kept-{rule}"])
    after = run(**trial, defense=rule)
    assert 0 < after.measurements["unknown"] < before.measurements["unknown"]  # type: ignore[operator]
    # The constant guess errs by the truth alone: the kept columns are those of the other run.
    assert number(before, "half kept") == pytest.approx(number(after, "half"), rel=1e-12)
    assert "half kept" in before.baselines
    by_column = before.measurements["equality-solving by column"]
    assert isinstance(by_column, list)
    assert min(by_column) <= number(before, "equality-solving kept") <= max(by_column)


def test_a_filter_that_keeps_all_or_nothing() -> None:
    every = run(measures=["kept-correlation-max-1"], **TRAINED_BRIEFLY)
    assert number(every, "half kept") == pytest.approx(number(every, "half"), rel=1e-12)
    none = run(measures=["kept-correlation-max-0"], **TRAINED_BRIEFLY)
    assert "half kept" not in none.baselines
    assert none.notes == ("correlation-max-0 would keep no column",)


def test_an_empty_pool_can_be_chosen_from() -> None:
    """A regression attacks what trains, so nothing is left over to draw from."""
    from whatleaks.arrays import sealed_ints
    from whatleaks.data.holdings import choose_rows

    rng = np.random.default_rng(0)
    chosen = choose_rows(sealed_ints([4, 5]), sealed_ints([]), 10, rng)
    assert len(chosen.targets) == len(chosen.others) == 0
    pool = sealed_ints(np.arange(100, 150))
    chosen = choose_rows(sealed_ints([]), pool, 10, np.random.default_rng(7))
    assert chosen.targets.tolist() == np.random.default_rng(7).permutation(pool)[:10].tolist()
