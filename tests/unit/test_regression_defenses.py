"""Countermeasures of an encrypted regression, and an arbiter that joins the active party."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from whatleaks.auditor.plan import threats_of
from whatleaks.auditor.spec import AuditSpec
from whatleaks.catalog import card
from whatleaks.errors import SpecError
from whatleaks.federation.regression.settings import RegressionSettings
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import Trial, run_trial

QUICK = {"key_bits": 512, "insecure_test_key": True, "records": 6, "learning_rate": 0.05}


def trial(threat: str, attack: str, defense: str = "", **options: Any) -> Trial:
    scenario = Scenario(
        "wine",
        unknown=3,
        model="encrypted",
        model_options=Settings({**QUICK, **options}),
        threat=threat,
        attacks=(attack,),
        references=(),
        measures=("relative",),
    )
    return run_trial(replace(scenario, defense=defense))


def test_with_the_arbiter_the_table_follows_from_its_gradients() -> None:
    done = trial("colluding-arbiter", "arbiter-inversion", epochs=40)
    assert done.outcome.measurements["arbiter-inversion relative"] < 0.1
    assert "colluding-arbiter" not in threats_of("encrypted")  # trusted unless it is named
    few = trial("colluding-arbiter", "arbiter-inversion", epochs=3)
    assert any("train for more epochs" in note for note in few.outcome.notes)


def test_masks_leave_the_arbiter_nothing_and_the_party_its_own() -> None:
    done = trial("colluding-arbiter", "arbiter-inversion", "masked-gradients", epochs=2)
    assert any("what the arbiter decrypted was masked" in note for note in done.outcome.notes)
    own = trial("encrypted", "intermediate-recovery", "masked-gradients", epochs=2)
    assert own.outcome.measurements["intermediate-recovery"] < 1e-6


def test_a_closed_prediction_leaves_no_threat_that_needs_it() -> None:
    closed = card("defense", "closed-prediction").build()
    assert closed.adapt(RegressionSettings()).queries is False
    from whatleaks.auditor.plan import scenarios

    tried = {
        threat: {
            s.defense
            for s in scenarios(
                AuditSpec("y", ("a",), "encrypted", (threat,), seeds=1), "t", "0" * 64
            )
        }
        for threat in ("encrypted", "encrypted-outputs")
    }
    assert "closed-prediction" in tried["encrypted"]
    assert "closed-prediction" not in tried["encrypted-outputs"]


def test_large_batches_and_no_made_up_columns_leave_too_few_equations() -> None:
    own = np.random.default_rng(0).random((200, 6))
    settings = RegressionSettings(whole=True, least_batch=80)
    assert settings.sizes(6, 200) == (160, 80)
    assert settings.for_batch(own[:160], 3).fake_columns == 0
    done = trial(
        "encrypted", "intermediate-recovery", "least-batch-80", whole=True, records=0, epochs=2
    )
    assert any("cannot determine the residuals of 80 records" in n for n in done.outcome.notes)
    with pytest.raises(SpecError, match="least_batch is -1"):
        RegressionSettings(least_batch=-1)


def test_shuffled_batches_are_read_all_the_same() -> None:
    done = trial(
        "encrypted", "intermediate-recovery", "shuffled-batches", whole=True, records=0, epochs=2
    )
    assert done.outcome.measurements["intermediate-recovery"] < 1e-6
