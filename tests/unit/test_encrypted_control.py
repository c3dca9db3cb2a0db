"""Controls of encrypted trainings: the partner's records are others', the own columns stay."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import whatleaks
from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.intermediate_recovery import recover_intermediate
from whatleaks.catalog import adopted
from whatleaks.crypto.keys import generate_keys
from whatleaks.federation.regression import linear
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.colluding_arbiter import ColludingArbiterView
from whatleaks.threat.views.encrypted import EncryptedLinearView
from whatleaks.threat.views.encrypted_known import EncryptedKnownView
from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.stage import Stage
from whatleaks.trial.trial import run_trial, stage_of, train

QUICK = {"key_bits": 512, "insecure_test_key": True, "epochs": 2}
SCENARIO = Scenario(
    "wine",
    unknown=3,
    model="encrypted",
    model_options=Settings({**QUICK, "records": 12}),
    threat="encrypted",
    references=("control",),
)


def own_sum(view: Any) -> ValueGuess:
    """Guess every column by a mixture of one's own, labels included: no message is looked at."""
    held = getattr(view, "training", view)
    own = view.own + 0.1 * held.labels[: len(view.own), None]
    return ValueGuess(sealed(np.repeat(own.sum(axis=1)[:, None], view.unknown, axis=1)))


@dataclass(frozen=True)
class OwnColumns:
    """An attack of somebody's own that reads no message of the training."""

    name: str = "own-columns"

    def infer(self, view: EncryptedLinearView, rng: np.random.Generator) -> ValueGuess:
        """Mix the own columns."""
        return own_sum(view)


@dataclass(frozen=True)
class OwnColumnsWithArbiter:
    """The same of a party that the arbiter joins."""

    name: str = "own-columns-with-arbiter"

    def infer(self, view: ColludingArbiterView, rng: np.random.Generator) -> ValueGuess:
        """Mix the own columns."""
        return own_sum(view)


@dataclass(frozen=True)
class OwnColumnsWithPeople:
    """The same of a party that knows some people."""

    name: str = "own-columns-with-people"

    def infer(self, view: EncryptedKnownView, rng: np.random.Generator) -> ValueGuess:
        """Mix the own columns."""
        return own_sum(view)


def staged(threat: str, **changes: Any) -> Stage:
    """Train on ciphertexts and return the stage of a threat."""
    options = {**QUICK, "records": 12, **changes.pop("options", {})}
    wanted = replace(SCENARIO, threat=threat, model_options=Settings(options), known=4, **changes)
    parts = plan(wanted)
    training = train(wanted, parts, None)
    assert not isinstance(training, str)
    return stage_of(wanted, parts, training)


def numbers(view: Any) -> dict[str, Floats]:
    """Return all arrays of a view by name, those of its parts too."""
    found = {}
    for field in fields(view):
        value = getattr(view, field.name)
        for at, one in enumerate(value if isinstance(value, tuple) else (value,)):
            if isinstance(one, np.ndarray):
                found[f"{field.name} {at}"] = one
            elif is_dataclass(one):
                found |= {f"{field.name} {key}": part for key, part in numbers(one).items()}
    return found


@pytest.mark.parametrize(
    ("threat", "changes"),
    [
        ("encrypted", {"model": "encrypted-logistic"}),
        ("encrypted", {"options": {"batch_size": 5, "shuffle": True}}),
        ("encrypted", {"options": {"mask_gradients": True}}),
        ("encrypted", {"options": {"queries": False}}),
        ("encrypted-values", {"options": {"optimiser": "adam"}}),
        ("encrypted-outputs", {}),
        ("colluding-arbiter", {"parties": 2}),
        ("colluding-arbiter", {"options": {"optimiser": "adam"}}),
    ],
)
def test_nothing_exchanged_is_nothing_changed(threat: str, changes: dict[str, Any]) -> None:
    """In the clear the parties hold what they hold after a training on ciphertexts."""
    stage = staged(threat, **changes)
    targets = stage.rows.targets
    before, after = numbers(stage.view(targets)), numbers(stage.replayed(np.arange(len(targets))))
    assert before.keys() == after.keys()
    for name, values in before.items():
        assert np.abs(after[name] - values).max(initial=0.0) < 1e-8, name


def test_the_partners_records_are_those_of_others_and_nothing_else_moves() -> None:
    stage = staged("encrypted-outputs")
    targets = stage.rows.targets
    order = np.roll(np.arange(len(targets)), 1)
    before, after = stage.view(targets), stage.replayed(order)
    for name in ("own", "labels", "batches"):
        assert np.array_equal(getattr(before, name), getattr(after, name)), name
    weights = np.linalg.solve(after.queries.records, after.queries.answers)
    assert np.abs(after.predicted - stage.truth[order] @ weights).max() < 1e-12
    first, moved = recover_intermediate(before)[:, 0], recover_intermediate(after)[:, 0]
    assert np.abs(moved - first[order]).max() < 1e-9  # the first weights are the same
    # The difference of two weights is a gradient: none is left of the true training.
    stepped = -np.diff(after.weights, axis=0) / after.learning_rate
    assert np.abs(stepped - after.gradients[:-1]).max() < 1e-9
    assert np.abs(after.gradients - before.gradients).max() > 1e-3 * np.abs(before.gradients).max()


@pytest.mark.parametrize(
    ("threat", "attack"),
    [
        ("encrypted", OwnColumns()),
        ("encrypted-values", OwnColumns()),
        ("encrypted-outputs", OwnColumns()),
        ("encrypted-known", OwnColumnsWithPeople()),
        ("colluding-arbiter", OwnColumnsWithArbiter()),
    ],
)
def test_an_attack_that_reads_no_message_is_its_own_control(threat: str, attack: Any) -> None:
    with adopted([attack]) as names:
        done = run_trial(replace(SCENARIO, threat=threat, attacks=names, known=4))
    mine, control = (s for s in done.records.scored if s.role in ("attack", "control"))
    assert control.name == f"{attack.name} control"
    assert np.array_equal(mine.off, control.off)


def test_an_audit_says_that_such_an_attack_adds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    short = generate_keys("paillier", 512, insecure_test_key=True)  # numbers do not depend on it
    monkeypatch.setattr(linear, "generate_keys", lambda *_, **__: short)
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(60, 6)), columns=list("abcdef"))
    frame["income"] = frame[list("abcdef")].sum(axis=1) + 0.3 * rng.normal(size=60)
    frame["deposit"] = rng.normal(size=60)
    frame["y"] = (frame["a"] + frame["deposit"] > 0).astype(int)
    report = whatleaks.audit(
        frame,
        label="y",
        passive=["income", "deposit"],
        model="encrypted",
        threats="encrypted",
        attacks=[OwnColumns()],
        quick=True,
        defenses=False,
    )
    (found,) = [
        guess
        for threat in report.result.threats
        for guess in threat.of("attack")
        if guess.name == "own-columns"
    ]
    income = next(column for column in found.columns if column.column == "income")
    assert income.leakage.value > 0.3
    for column in found.columns:
        assert column.leakage.value == column.control.value
        assert column.adds.value == 0.0
        assert (column.adds.low, column.adds.high) == (0.0, 0.0)
