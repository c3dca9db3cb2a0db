"""The passive party of an encrypted regression reads the labels off its own first pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from whatleaks.arrays import sealed
from whatleaks.attacks.label_reading import LabelReading
from whatleaks.auditor.spec import AuditSpec
from whatleaks.data.holdings import Holdings
from whatleaks.errors import UsageError
from whatleaks.models.grids import BOOLEAN, Grid, Grids
from whatleaks.models.label_reading import determined, nearest_labels
from whatleaks.models.regression_history import OwnSteps
from whatleaks.threat.model import LABEL
from whatleaks.threat.views.encrypted_label import EncryptedLabelView
from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial, stage_of, train
from whatleaks.wire.parties import ACTIVE

QUICK = {"key_bits": 512, "insecure_test_key": True, "epochs": 2, "whole": True}


def scenario(model: str, **more: object) -> Scenario:
    return Scenario(
        "breast-cancer",
        data=Settings({"rows": 100}),
        unknown=12,
        model=model,
        model_options=Settings({**QUICK, **more}),
        threat="encrypted-label",
        attacks=("label-reading",),
        references=("baselines", "alone", "control"),
    )


@pytest.mark.parametrize("model", ["encrypted", "encrypted-logistic"])
def test_the_labels_of_a_training_on_ciphertexts_are_named(model: str) -> None:
    done = run_trial(scenario(model))
    named = {scored.name: scored.named.mean() for scored in done.records.scored}
    assert done.records.columns == (LABEL,)
    assert named["label-reading"] > 0.95
    assert named["label-reading control"] < 0.8  # the messages of others name no label
    assert "most frequent label" in done.outcome.measurements
    # 18 columns of the active party make batches of 18: the passive one pads its 12.
    assert done.outcome.measurements["attacker columns"] == 18


def steps(
    y: np.ndarray, z: np.ndarray, columns: np.ndarray, slope: float, offset: float
) -> OwnSteps:
    """Two epochs of two batches with given parts of the others, in doubles."""
    batches = tuple(np.array_split(np.arange(len(y)), 2))
    weights, gradients = np.zeros((4, columns.shape[1])), np.zeros((4, columns.shape[1]))
    weights[0] = 0.1
    for k in range(4):
        rows = batches[k % 2]
        d = slope * (columns[rows] @ weights[k] + z[rows, k // 2]) + offset - y[rows]
        gradients[k] = columns[rows].T @ d + 0.5 * weights[k]
        if k < 3:
            weights[k + 1] = weights[k] - 0.01 * gradients[k]
    return OwnSteps(
        sealed(columns), sealed(weights), sealed(gradients), batches, 0.01, 0.5, slope, offset
    )


@pytest.mark.parametrize(("slope", "offset"), [(1.0, 0.0), (0.25, 0.5)])
def test_what_is_left_is_the_label_less_the_others_output(slope: float, offset: float) -> None:
    rng = np.random.default_rng(1)
    y, z = rng.integers(0, 2, 12).astype(float), rng.normal(0.0, 0.05, (12, 2))
    held = steps(y, z, rng.uniform(size=(12, 8)), slope, offset)
    view = EncryptedLabelView(held, Grids((BOOLEAN,)))
    assert np.abs(view.foreign() - (y[:, None] - slope * z)).max() < 1e-9
    assert (LabelReading().infer(view, rng).values[:, 0] == y).all()
    # Exchanged, every record's part comes from another.
    order = np.roll(np.arange(12), 1)
    assert np.abs(view.exchanged(order).foreign() - view.foreign()[order]).max() < 1e-9
    # No information: where the others' output is as large as the label, signs mean nothing.
    drowned = replace(view, steps=steps(y, 400.0 * z, held.columns, slope, offset))
    assert (LabelReading().infer(drowned, rng).values[:, 0] != y).any()


def test_a_common_shift_is_taken_off_and_numbers_stay() -> None:
    y = np.array([0.0, 0.5, 1.0, 0.5, 0.0, 1.0])
    assert (nearest_labels(y + 0.2, Grid(0.0, 0.5, 3)) == y).all()
    assert (nearest_labels(y - 0.2, Grid(0.0, 0.5, 3)) == y).all()
    number = np.array([0.123, 0.7])
    assert (nearest_labels(number, Grid(0.0, 1.0, 0)) == number).all()


def test_fewer_columns_than_records_give_what_a_regression_on_them_says() -> None:
    rng = np.random.default_rng(2)
    columns = rng.uniform(-1.0, 1.0, (40, 4))
    y = (columns @ [1.0, -1.0, 0.5, 0.0] > 0.0).astype(float)
    assert not determined(columns, [np.arange(40)])
    assert determined(columns, [np.arange(4)])
    held = steps(2.0 * y - 1.0, np.zeros((40, 2)), columns, 1.0, 0.0)
    view = EncryptedLabelView(held, Grids((Grid(-1.0, 2.0, 2),)))
    # Labels go with the columns, so even 8 equations for 40 records name most of them.
    named = LabelReading().infer(view, rng).values[:, 0] == 2.0 * y - 1.0
    assert named.mean() > 0.8
    # No information: labels that are drawn do not.
    drawn = 2.0 * rng.integers(0, 2, 40) - 1.0
    other = replace(view, steps=steps(drawn, np.zeros((40, 2)), columns, 1.0, 0.0))
    assert (LabelReading().infer(other, rng).values[:, 0] == drawn).mean() < 0.9


def test_the_label_becomes_a_column_on_its_own_grid() -> None:
    held = Holdings({ACTIVE: np.zeros((3, 1))}, {ACTIVE: ("a",)}, np.array([0, 2, 1]), 3)
    made = held.with_label(LABEL, "kind")
    assert made.joined((LABEL,))[:, 0].tolist() == [0.0, 1.0, 0.5]
    assert made.joined_names((LABEL,)) == ("kind",)
    assert made.joined_grids((LABEL,)).columns == (Grid(0.0, 0.5, 3),)
    number = replace(held, target=sealed([0.1, 0.2, 0.9])).with_label(LABEL, "price")
    assert number.joined_grids((LABEL,)).columns[0].free


def test_the_adversary_is_shown_no_label() -> None:
    wanted = scenario("encrypted")
    parts = plan(wanted)
    training = train(wanted, parts, None)
    assert not isinstance(training, str)
    stage = stage_of(wanted, parts, training)
    view = stage.view(stage.rows.targets)
    assert type(view.steps) is OwnSteps  # not the record of the party that holds targets
    labels = stage.holdings.joined((LABEL,), stage.rows.targets)[:, 0]
    # What it is shown are numbers that follow from the labels, never these themselves.
    told = [view.steps.columns, view.steps.weights.T, view.foreign()]
    assert not any(np.array_equal(part, labels) for table in told for part in table.T)


def test_an_audit_says_what_it_protects() -> None:
    spec = AuditSpec("y", ("a",), protect="label")
    assert (spec.protect, spec.threats) == ("label", ("encrypted-label",))
    assert AuditSpec("y", ("a",), "encrypted", ("encrypted-label",)).protect == "label"
    assert AuditSpec("y", ("a",)).protect == "columns"
    assert "encrypted-label" not in AuditSpec("y", ("a",), "encrypted").threats
    with pytest.raises(UsageError, match=r"after the columns.*use threats encrypted-label"):
        AuditSpec("y", ("a",), "encrypted", ("encrypted",), protect="label")
    with pytest.raises(UsageError, match="Did you mean 'label'"):
        AuditSpec("y", ("a",), protect="labels")
    with pytest.raises(UsageError, match=r"in .*model.* forest: use .*model.* encrypted"):
        AuditSpec("y", ("a",), "forest", protect="label")
