"""Plain outputs of an encrypted regression, decoded into whole numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from whatleaks.arrays import sealed
from whatleaks.attacks.output_decoding import OutputDecoding, TrainingOutputDecoding
from whatleaks.errors import AttackError
from whatleaks.federation.regression.linear import plain_linear
from whatleaks.federation.regression.settings import SecureLinearSettings
from whatleaks.models.grids import Grid, Grids
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Queries, Ranges
from whatleaks.threat.views.encrypted_outputs import EncryptedOutputsView
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial

LEVELS = 65


def view(columns: int, records: int = 8, epochs: int = 12) -> tuple[EncryptedOutputsView, object]:
    """Train in doubles on whole numbers 0..64 on the scale 0 to 1; return what B would hold."""
    rng = np.random.default_rng(7)
    theirs = sealed(rng.integers(0, LEVELS, (records, columns)) / (LEVELS - 1))
    own, y = sealed(rng.uniform(size=(records, records))), sealed(rng.uniform(size=records))
    settings = SecureLinearSettings(epochs=epochs, learning_rate=0.05, alpha=0.01)
    done = plain_linear(own, theirs, y, settings, Streams(1))
    gradients, weights = [], [rng.normal(0, 0.1, records)]
    weights = [Streams(1).rng("active/weights").normal(0.0, settings.initial_spread, records)]
    for d in done.residuals:
        gradients.append(own.T @ d + settings.alpha * weights[-1])
        weights.append(weights[-1] - settings.learning_rate * gradients[-1])
    final = done.passive_weights
    asked = 0.5 * (np.ones((columns, columns)) + np.eye(columns))
    step = 1.0 / (LEVELS - 1)
    return EncryptedOutputsView(
        own=own,
        labels=y,
        gradients=sealed(np.stack(gradients)),
        weights=sealed(np.stack(weights[:-1])),
        batches=(np.arange(records),),
        learning_rate=settings.learning_rate,
        alpha=settings.alpha,
        queries=Queries(sealed(asked), sealed(asked @ final)),
        ranges=Ranges(sealed(np.zeros(columns)), sealed(np.ones(columns))),
        unknown=columns,
        predicted=sealed(theirs @ final),
        grids=Grids((Grid(0.0, step, LEVELS),) * columns),
    ), theirs


@pytest.mark.parametrize("columns", [1, 3, 5])
def test_outputs_of_prediction_are_read_exactly(columns: int) -> None:
    seen, truth = view(columns)
    found = OutputDecoding().infer(seen, np.random.default_rng(0)).values
    assert np.abs(found - truth).max() < 1e-12


def test_outputs_that_carry_too_few_bits_are_not() -> None:
    seen, truth = view(3)
    coarse = replace(seen, predicted=sealed(np.round(seen.predicted, 2)))
    found = OutputDecoding().infer(coarse, np.random.default_rng(0)).values
    assert np.abs(found - truth).max() > 1e-3


def test_outputs_of_training_are_read_where_they_are_precise() -> None:
    seen, truth = view(2)
    found = TrainingOutputDecoding().infer(seen, np.random.default_rng(0)).values
    assert np.abs(found - truth).max() < 1e-9
    with pytest.raises(AttackError, match="span 3 of its 7 columns"):
        TrainingOutputDecoding().infer(view(7, epochs=3)[0], np.random.default_rng(0))


def test_a_training_on_ciphertexts_leaks_its_whole_numbers_at_prediction() -> None:
    options = {"key_bits": 512, "insecure_test_key": True, "epochs": 2, "records": 12}
    scenario = Scenario(
        "digits",
        unknown=3,
        data=Settings({"rows": 60}),
        model="encrypted",
        model_options=Settings(options),
        threat="encrypted-outputs",
        attacks=("output-decoding",),
        references=("control",),
    )
    done = run_trial(scenario)
    named = {s.name: s.named.all(axis=1).mean() for s in done.records.scored}
    assert named["output-decoding"] == 1.0
    assert named["output-decoding control"] < 1.0
