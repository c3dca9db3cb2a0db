"""The catalog's encrypted regression: settings that fit the batch, and what it could grant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from staging import chosen, held, scaled
from whatleaks.arrays import sealed, sealed_ints
from whatleaks.codec import decode, encode
from whatleaks.defenses.protocol import OPEN
from whatleaks.errors import SpecError
from whatleaks.federation.regression.run import RegressionFederation
from whatleaks.federation.regression.settings import RegressionSettings, SecureLinearSettings
from whatleaks.federation.regression.trained import RegressionTrained
from whatleaks.models.regression_history import OwnSteps, RegressionHistory
from whatleaks.models.residuals import partner_outputs
from whatleaks.seeds import Streams
from whatleaks.threat.grants import KnownValues, Queries, Ranges
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript

FAST = RegressionSettings(key_bits=512, insecure_test_key=True)
FEDERATION = RegressionFederation()


def train(settings: RegressionSettings = FAST, passives: int = 1) -> RegressionTrained:
    """Nine own columns of wine; four of one passive party, or shared by two."""
    x, y = scaled(load_wine)
    cuts = [np.s_[:4]] if passives == 1 else [np.s_[:3], np.s_[3:4]]
    holdings = held(x, y, cuts, np.s_[4:])
    rows = chosen(range(0, 178, 2))
    pool = sealed_ints(range(1, 178, 2))
    rows = FEDERATION.choose_rows(holdings, rows, pool, settings, Streams(3))
    return FEDERATION.train(holdings, rows, settings, Streams(3), Channel(Transcript(["active"])))


@pytest.mark.parametrize(
    ("own", "training", "records", "size"),
    [(4, 90, 0, 10), (12, 90, 0, 12), (29, 90, 0, 29), (12, 8, 0, 8), (12, 90, 15, 15)],
)
def test_the_batch_is_as_large_as_the_attack_can_solve(
    own: int, training: int, records: int, size: int
) -> None:
    x, y = scaled(load_breast_cancer)
    holdings = held(x, y, [np.s_[29:]], np.s_[:own])
    before, pool = chosen(range(training)), sealed_ints(range(200, 300))
    rows = FEDERATION.choose_rows(
        holdings, before, pool, replace(FAST, records=records), Streams(3)
    )
    assert len(rows.training) == size
    assert np.array_equal(rows.training, rows.targets)  # those that train are attacked
    assert set(rows.training.tolist()) <= set(range(training))
    assert np.array_equal(rows.judged, pool)
    assert len(rows.others) == 0


def test_the_settings_fit_the_batch() -> None:
    own = sealed(np.random.default_rng(0).random((10, 4)))
    plain = RegressionSettings().for_batch(own, 3)
    assert type(plain) is SecureLinearSettings
    assert (plain.epochs, plain.fake_columns) == (12, 6)
    assert plain.learning_rate == 1 / (10 * (4 + 10 + 3))
    given = RegressionSettings(fake_columns=2, epochs=3).for_batch(own, 3)
    assert (given.fake_columns, given.epochs) == (2, 3)
    assert given.learning_rate == 1 / (10 * (4 + 2 + 3))
    assert RegressionSettings(learning_rate=0.5).for_batch(own, 3).learning_rate == 0.5
    twice = sealed(np.concatenate([own, own], axis=1))  # of rank 4 still
    assert RegressionSettings().for_batch(twice, 3).fake_columns == 6


@pytest.mark.parametrize(
    "bad", [{"records": -1}, {"fake_columns": -2}, {"learning_rate": -0.1}, {"epochs": 0}]
)
def test_bad_settings_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(SpecError):
        RegressionSettings(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("passives", [1, 2])
def test_what_is_remembered_determines_what_the_evaluator_holds(passives: int) -> None:
    trained = train(passives=passives)
    (history,) = trained.memory("active")
    assert isinstance(history, RegressionHistory)
    assert isinstance(decode(encode(history)), RegressionHistory)
    assert type(trained.memory("passive")[0]) is OwnSteps  # its own steps, and no target
    recovered = partner_outputs(
        history.columns,
        history.targets,
        history.gradients,
        history.weights,
        history.batches,
        history.alpha,
    )
    outputs = trained.outputs()
    assert outputs is not None
    assert outputs.shape == (10, 12)
    assert np.abs(recovered - outputs).max() < 1e-9  # Li et al.: the partner's z, exactly
    assert np.array_equal(history.targets, trained.holdings.labels[trained.rows.training] / 2)


def test_outputs_stand_by_record_where_there_are_several_batches() -> None:
    one, three = (train(replace(FAST, batch_size=size)).outputs() for size in (None, 4))
    assert one is not None
    assert three is not None
    assert three.shape == (10, 12)
    assert np.array_equal(one[:4, 0], three[:4, 0])  # the first batch starts from the same weights


@pytest.mark.parametrize("passives", [1, 2])
def test_answers_to_queries_are_the_victims(passives: int) -> None:
    trained = train(passives=passives)
    ranges, queries, _ = trained.offer(("active",))
    assert isinstance(ranges, Ranges)
    assert isinstance(queries, Queries)
    assert len(ranges.low) == 4
    weights = np.linalg.solve(queries.records, queries.answers)
    assert np.abs(weights - trained.run.passive_weights).max() < 1e-12
    if passives == 2:
        _, left, _ = trained.offer(("active", "passive-2"))
        assert isinstance(left, Queries)
        assert left.records.shape == (3, 3)
    assert FEDERATION.offers(FAST) == {Ranges, KnownValues, Queries}
    silent = replace(FAST, queries=False)
    assert FEDERATION.offers(silent) == {Ranges, KnownValues}
    assert len(train(silent).offer(("active",))) == 2


def test_its_worth_is_the_minimum_of_the_loss_on_the_batch() -> None:
    trained = train()
    holdings, rows = trained.holdings, trained.rows
    together = trained.classes(rows.judged, OPEN)
    alone = FEDERATION.alone(holdings, rows, FAST, Streams(3))
    for found, parties in ((together, ("active", "passive")), (alone, ("active",))):
        x, y = holdings.joined(parties), holdings.labels[rows.training] / 2
        x = np.column_stack([x, np.ones(len(x))])  # an intercept, as whoever predicts has one
        batch = x[rows.training]
        # The gradient of the loss is zero at its minimum.
        w = np.linalg.lstsq(
            np.concatenate([batch, 0.1 * np.eye(x.shape[1])]),
            np.concatenate([y, np.zeros(x.shape[1])]),
            rcond=None,
        )[0]
        wanted = np.clip(np.rint(2 * (x[rows.judged] @ w)), 0, 2)
        assert np.array_equal(found, wanted)


def test_a_target_beside_the_class_is_what_is_regressed() -> None:
    x, y = scaled(load_wine)
    target = sealed(np.random.default_rng(0).random(178))
    holdings = replace(held(x, y, [np.s_[:4]], np.s_[4:]), target=target)
    rows = chosen(range(10))
    trained = FEDERATION.train(holdings, rows, FAST, Streams(3), Channel())
    (history,) = trained.memory("active")
    assert np.array_equal(history.targets, target[:10])
    facts = dict(trained.facts())
    assert 0.0 < facts.pop("loss") < 1.0
    assert facts == {"attacker columns": 10, "victim columns": 4, "records": 10}
    assert trained.release(np.arange(3), Channel(), OPEN) is None


def test_the_notes_say_what_the_protocol_cannot_stop() -> None:
    trained = train(replace(FAST, epochs=1, fake_columns=1))
    assert "decrypt 10 numbers of its choice in every step" in trained.notes()[-1]
