"""The one flow: parties, coalitions, sockets, and one training for scenarios that share it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from whatleaks import catalog
from whatleaks.arrays import Floats, sealed
from whatleaks.defenses.protocol import MessageDefense, ParameterDefense
from whatleaks.federation.additive.run import AdditiveFederation
from whatleaks.metrics.measurement import Measurement
from whatleaks.models.additive import Additive
from whatleaks.models.linear import Linear
from whatleaks.threat.grants import LinearModel
from whatleaks.trial.records import Trial
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_group, run_trial

BRIEF = Settings({"steps": 200})
BASE = Scenario(
    "wine", share=0.3, attacks=("equality-solving", "half-star"), model_options=BRIEF, targets=40
)


def error(trial: Trial, name: str) -> float:
    found = trial.outcome.measurements.get(name, trial.outcome.baselines.get(name))
    assert isinstance(found, Measurement)
    return found.value


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count how often an additive federation trains."""
    counted: list[int] = []
    real = AdditiveFederation.train

    def counting(self: Any, *args: Any, **kwargs: Any) -> Any:
        counted.append(1)
        return real(self, *args, **kwargs)

    monkeypatch.setattr(AdditiveFederation, "train", counting)
    return counted


def test_scenarios_that_share_a_training_train_once_and_are_not_changed_by_it(
    trainings: list[int],
) -> None:
    several = [BASE, replace(BASE, defense="noise-0.1"), replace(BASE, defense="rounding-1"), BASE]
    together = list(run_group(several))
    assert len(trainings) == 1
    for scenario, trial in zip(several, together, strict=True):
        by_itself = run_trial(scenario)
        assert by_itself.outcome.measurements == trial.outcome.measurements


def test_exact_scores_give_columns_below_the_number_of_classes_away() -> None:
    trial = run_trial(replace(BASE, share=0.0, unknown=2))  # wine has 3 classes
    assert error(trial, "equality-solving") < 1e-12
    assert error(trial, "half") > 1e-3


def test_a_coalition_sees_its_members_columns_and_attacks_only_the_others() -> None:
    three = replace(BASE, share=0.0, unknown=6, parties=3)
    alone = run_trial(three)
    assert alone.outcome.measurements["unknown"] == 6
    assert error(alone, "equality-solving") > 1e-6  # 6 unknown columns, 2 equations
    pooled = run_trial(replace(three, coalition=("passive-2", "passive-3")))
    assert pooled.outcome.measurements["unknown"] == 2
    assert len(pooled.records.columns) == 2
    assert error(pooled, "equality-solving") < 1e-12  # 2 unknown columns, 2 equations


def test_a_coalition_needs_victims_and_known_parties() -> None:
    with pytest.raises(ValueError, match="nobody is attacked"):
        run_trial(replace(BASE, coalition=("passive",)))
    with pytest.raises(ValueError, match="no party 'passive-2'"):
        run_trial(replace(BASE, coalition=("passive-2",)))


def test_several_parties_train_what_one_would() -> None:
    """Linear parts are drawn per party, so weights differ; the accuracy must not collapse."""
    one = run_trial(replace(BASE, share=0.0, unknown=6))
    three = run_trial(replace(BASE, share=0.0, unknown=6, parties=3))
    first, second = (t.outcome.measurements["accuracy"] for t in (one, three))
    assert isinstance(first, Measurement)
    assert isinstance(second, Measurement)
    assert abs(first.value - second.value) < 0.2


def test_trees_of_several_parties_are_attacked_by_a_coalition_too() -> None:
    scenario = Scenario(
        "wine",
        unknown=6,
        parties=2,
        model="tree",
        threat="white-box-tree",
        attacks=("path-restriction", "path-restriction-values"),
        measures=(),
        seed=1,
    )
    alone, pooled = run_group([scenario, replace(scenario, coalition=("passive-2",))])
    assert alone.outcome.measurements["unknown"] == 6
    assert pooled.outcome.measurements["unknown"] == 3
    assert (
        "path-restriction" not in pooled.outcome.measurements
        or error(pooled, "path-restriction") <= 1.0
    )


@dataclass(frozen=True)
class Silenced(MessageDefense):
    """Has the passive party send zeros instead of its outputs."""

    @property
    def name(self) -> str:
        return "silenced"

    def alter(self, sender: str, kind: str, values: Floats, rng: np.random.Generator) -> Floats:
        return np.zeros_like(values) if (sender, kind) == ("passive", "outputs") else values


@dataclass(frozen=True)
class Blurred(ParameterDefense):
    """Discloses other weights than the federation uses."""

    by: float = 0.5

    @property
    def name(self) -> str:
        return "blurred"

    def disclose(self, grant: Any, columns: Floats, rng: np.random.Generator) -> Any:
        assert isinstance(grant, LinearModel)
        part = grant.model.passive
        assert isinstance(part, Linear)
        moved = Linear(sealed(part.weights * (1.0 + self.by)), part.bias)
        return LinearModel(Additive(grant.model.active, moved))


@pytest.fixture
def own_defenses() -> Iterator[None]:
    with catalog.adopted([Silenced(), Blurred()]):
        yield


@pytest.mark.usefixtures("own_defenses")
def test_a_message_defense_acts_before_the_channel_encodes() -> None:
    plain = replace(BASE, share=0.0, unknown=2)
    free, silent = run_trial(plain), run_trial(replace(plain, defense="silenced"))
    assert error(free, "equality-solving") < 1e-12
    assert error(silent, "equality-solving") > 1e-2  # what was released knows nothing of it


@pytest.mark.usefixtures("own_defenses")
def test_a_parameter_defense_changes_what_is_granted_and_no_score(trainings: list[int]) -> None:
    plain = replace(BASE, share=0.0, unknown=2)
    free, blurred = run_group([plain, replace(plain, defense="blurred")])
    assert len(trainings) == 1  # the federation keeps the true parameters
    assert free.outcome.measurements["accuracy"] == blurred.outcome.measurements["accuracy"]
    assert error(free, "equality-solving") < 1e-12
    assert error(blurred, "equality-solving") > 1e-4


def test_a_gate_withholds_and_what_it_releases_is_what_is_attacked() -> None:
    gated = replace(
        BASE,
        share=0.0,
        unknown=4,
        defense="gate-0.2",
        defense_options=Settings({"attack": "equality-solving"}),
        measures=("below-0.2",),
    )
    trial = run_trial(gated)
    withheld = trial.outcome.measurements["withheld"]
    assert isinstance(withheld, Measurement)
    assert 0.0 < withheld.value < 1.0
    assert trial.outcome.measurements["equality-solving below"] == 0.0
    assert trial.records.targets == round((1 - withheld.value) * trial.records.asked)


def test_a_data_defense_with_nothing_to_do_says_so() -> None:
    trial = run_trial(replace(BASE, defense="correlation-max-1"))
    assert trial.outcome.measurements == {}
    assert "none of your columns" in trial.outcome.notes[0]


def test_an_attack_that_refuses_is_a_note_and_no_number() -> None:
    scenario = Scenario(
        "wine",
        unknown=4,
        model="encrypted",
        threat="encrypted",
        attacks=("gram-inversion",),
        model_options=Settings({"epochs": 2, "key_bits": 2048}),
    )
    trial = run_trial(scenario)
    assert any(
        note.startswith("gram-inversion: a partner with 4 columns") for note in trial.outcome.notes
    )
    assert "gram-inversion" not in trial.outcome.measurements
