"""Countermeasures of an encrypted regression, and an arbiter that joins the active party."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from whatleaks.auditor.plan import threats_of
from whatleaks.auditor.spec import AuditSpec
from whatleaks.catalog import card
from whatleaks.errors import SpecError
from whatleaks.federation.regression.linear import plain_linear, run
from whatleaks.federation.regression.settings import RegressionSettings, SecureLinearSettings
from whatleaks.seeds import Streams
from whatleaks.trial.records import Trial
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript

QUICK = {"key_bits": 512, "insecure_test_key": True, "records": 6, "learning_rate": 0.05}


def trial(threat: str, attack: str, defense: str = "", unknown: int = 3, **options: Any) -> Trial:
    scenario = Scenario(
        "wine",
        unknown=unknown,
        model="encrypted",
        model_options=Settings({**QUICK, **options}),
        threat=threat,
        attacks=(attack,),
        references=("control",),
        measures=("relative",),
    )
    return run_trial(replace(scenario, defense=defense))


def test_with_the_arbiter_the_table_follows_from_its_gradients() -> None:
    done = trial("colluding-arbiter", "arbiter-inversion", epochs=40)
    assert done.outcome.measurements["arbiter-inversion relative"] < 0.1
    mine, others = (
        s for s in done.records.scored if s.role in ("attack", "control")
    )  # the control is others' values, as near as one's own were
    assert others.name == "arbiter-inversion control"
    assert others.squared.mean() > 10.0 * mine.squared.mean()
    adam = trial("colluding-arbiter", "arbiter-inversion", "arbiter-adam", epochs=40)
    assert adam.outcome.measurements["arbiter-inversion relative"] < 0.2
    assert "colluding-arbiter" not in threats_of("encrypted")  # trusted unless it is named
    few = trial("colluding-arbiter", "arbiter-inversion", epochs=3).outcome.measurements
    assert 0.01 < few["arbiter-inversion relative"] < few["half relative"]


def test_a_control_of_a_table_inversion_is_the_table_of_others() -> None:
    done = trial("encrypted", "gram-inversion", unknown=2, epochs=20)
    mine, others = (s for s in done.records.scored if s.role in ("attack", "control"))
    assert mine.squared.max() < 1e-6
    assert others.name == "gram-inversion control"
    assert others.squared.mean() > 1e-3


def test_masks_leave_the_arbiter_nothing_and_the_party_its_own() -> None:
    done = trial("colluding-arbiter", "arbiter-inversion", "masked-gradients", epochs=2)
    assert any("what the arbiter decrypted was masked" in note for note in done.outcome.notes)
    own = trial("encrypted", "intermediate-recovery", "masked-gradients", epochs=2)
    assert own.outcome.measurements["intermediate-recovery"] < 1e-6


def test_a_closed_prediction_leaves_no_threat_that_needs_it() -> None:
    closed = card("defense", "closed-prediction").build()
    assert closed.adapt(RegressionSettings()).queries is False
    from whatleaks.auditor.plan import scenarios

    def tried(threat: str, compare: bool = True) -> set[str]:
        spec = AuditSpec("y", ("a",), "encrypted", (threat,), seeds=1, compare_defenses=compare)
        return {planned.defense for planned in scenarios(spec, "t", "0" * 64)}

    assert "closed-prediction" in tried("encrypted")
    assert "closed-prediction" not in tried("encrypted-outputs")
    assert tried("encrypted", compare=False) == {""}  # each costs a training on ciphertexts


def test_large_batches_and_no_made_up_columns_leave_too_few_equations() -> None:
    own = np.random.default_rng(0).random((200, 6))
    settings = RegressionSettings(whole=True, least_batch=80)
    assert settings.sizes(6, 200) == (160, 80)
    assert settings.for_batch(own[:160], 3).fake_columns == 0
    for records in (40, 80, 90, 130, 160, 321, 390, 400):
        made = settings.for_batch(np.ones((records, 6)), 3).all_batches(records)
        assert sum(map(len, made)) == records
        assert min(map(len, made)) >= min(80, records)
    done = trial(
        "encrypted", "intermediate-recovery", "least-batch-80", whole=True, records=0, epochs=2
    )
    told = re.search(
        r"cannot determine the residuals of (\d+) records", " ".join(done.outcome.notes)
    )
    assert told is not None
    assert int(told[1]) >= 80
    with pytest.raises(SpecError, match="least_batch is -1"):
        RegressionSettings(least_batch=-1)


def test_behind_adam_spare_columns_read_every_batch() -> None:
    whole = {"whole": True, "records": 0, "epochs": 2}
    done = trial("encrypted-label", "label-reading", "arbiter-adam", **whole)
    plain = trial("encrypted-label", "label-reading", **whole)
    named = done.records.scored[0].named[:, 0]
    assert len(named) > 100
    assert named.mean() >= plain.records.scored[0].named.mean() - 0.05
    found = trial("encrypted", "intermediate-recovery", "arbiter-adam", **whole)
    assert found.outcome.measurements["intermediate-recovery"] < 1e-3
    few = trial("encrypted-label", "label-reading", "arbiter-adam", fake_columns=7, **whole)
    assert few.records.scored[0].named[10:].mean() < 0.8  # 3 + 7 columns: no spare one
    closed = trial("encrypted", "intermediate-recovery", "arbiter-adam", fake_columns=0, **whole)
    assert any("of 2 epochs can be undone" in note for note in closed.outcome.notes)
    gram = trial("encrypted", "gram-inversion", "arbiter-adam", epochs=2, unknown=2)
    assert any("steps along directions of adam" in note for note in gram.outcome.notes)
    with pytest.raises(SpecError, match="choose one"):
        RegressionSettings(optimiser="adam", mask_gradients=True)
    with pytest.raises(SpecError, match="Did you mean 'adam'"):
        RegressionSettings(optimiser="adm")


def test_adam_at_the_arbiter_is_adam_in_the_clear() -> None:
    rng = np.random.default_rng(5)
    own, theirs, y = rng.uniform(size=(6, 2)), rng.uniform(size=(6, 3)), rng.uniform(size=6)
    settings = SecureLinearSettings(
        epochs=4, learning_rate=0.05, optimiser="adam", key_bits=512, insecure_test_key=True
    )
    done = run(own, theirs, y, settings, Streams(1), Channel(Transcript([])))
    plain = plain_linear(own, theirs, y, settings, Streams(1))
    assert np.abs(done.passive_weights - plain.passive_weights).max() < 1e-6
    assert np.abs(done.active_weights - plain.active_weights).max() < 1e-6


def test_shuffled_batches_are_read_all_the_same() -> None:
    done = trial(
        "encrypted", "intermediate-recovery", "shuffled-batches", whole=True, records=0, epochs=2
    )
    assert done.outcome.measurements["intermediate-recovery"] < 1e-6
