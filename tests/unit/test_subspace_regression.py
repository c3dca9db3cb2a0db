"""The attack with known records on encrypted regression: shown by trials on real ciphertexts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.intermediate_recovery import recover_intermediate
from whatleaks.attacks.subspace_regression import SubspaceRegression
from whatleaks.errors import AttackError
from whatleaks.federation.regression.linear import plain_linear
from whatleaks.federation.regression.settings import SecureLinearSettings, with_fakes
from whatleaks.seeds import Streams
from whatleaks.threat.grants import KnownPeople
from whatleaks.threat.views.encrypted import EncryptedLinearView
from whatleaks.threat.views.encrypted_known import EncryptedKnownView
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial

STREAMS = Streams(5)
QUICK = {"key_bits": 512, "insecure_test_key": True}


def world(known: int = 12, shuffle: bool = False, records: int = 40, n: int = 3):
    """A training in doubles, as its active party would remember it."""
    rng = np.random.default_rng(1)
    own, theirs = rng.uniform(size=(records, 4)), rng.uniform(size=(records, n))
    y = own @ rng.normal(size=4) + theirs @ rng.normal(size=n)
    settings = SecureLinearSettings(
        epochs=9, batch_size=10, learning_rate=0.02, fake_columns=8, shuffle=shuffle
    )
    plain = plain_linear(own, theirs, y, settings, STREAMS)
    wide = with_fakes(own, settings, STREAMS.rng("active/fakes"))
    weights, gradients, at = [], [], STREAMS.rng("active/weights").normal(0, 0.1, 12)
    steps = iter(plain.residuals)
    for epoch in range(settings.epochs):
        for rows in settings.batches(records, epoch):
            weights.append(at)
            gradients.append(wide[rows].T @ next(steps) + settings.alpha * at)
            at = at - settings.learning_rate * gradients[-1]
    held = EncryptedLinearView(
        wide, sealed(y), sealed(np.stack(gradients)), sealed(np.stack(weights)),
        settings.all_batches(records), settings.learning_rate, settings.alpha, None, None, n,
    )  # fmt: skip
    order = rng.permutation(records)
    people, targets = order[:known], np.sort(order[known:])
    grant = KnownPeople(
        own[people], theirs[people], sealed_ints(np.zeros(known)), sealed(np.zeros((known, 0))),
        sealed_ints(people),
    )  # fmt: skip
    view = EncryptedKnownView(own[targets], n, held, sealed_ints(targets), auxiliary=grant)
    return view, theirs[targets], plain, settings


@pytest.mark.parametrize("shuffle", [False, True])
def test_outputs_of_every_pass_are_recovered_also_if_batches_are_shuffled(shuffle: bool) -> None:
    view, _, plain, settings = world(shuffle=shuffle)
    steps, truth = iter(plain.outputs), np.empty((40, 9))
    for epoch in range(9):
        for rows in settings.batches(40, epoch):
            truth[rows, epoch] = next(steps)
    assert np.abs(recover_intermediate(view.training) - truth).max() < 1e-9


def test_known_records_give_the_others_and_exchanged_outputs_do_not() -> None:
    view, truth, _, _ = world()
    rng = np.random.default_rng(0)
    found = SubspaceRegression().infer(view, rng).values
    spread = truth.var()
    assert np.square(found - truth).mean() < 0.1 * spread
    swapped = view.exchanged(np.roll(np.arange(len(truth)), 1))
    other = SubspaceRegression().infer(swapped, rng).values
    assert np.square(other - truth).mean() > 0.5 * spread


def test_exchanging_moves_the_targets_outputs_and_no_others() -> None:
    view, _, _, _ = world()
    order = np.roll(np.arange(28), 1)
    before = recover_intermediate(view.training)
    after = recover_intermediate(view.exchanged(order).training)
    known = view.auxiliary.places
    assert np.abs(after[known] - before[known]).max() < 1e-8
    assert np.abs(after[view.places] - before[view.places[order]]).max() < 1e-8


def test_exchanged_weights_tell_nothing_of_the_true_gradients() -> None:
    """The difference of two weights is a gradient: with the true ones left in place it is a true one."""
    view, _, _, _ = world()
    swapped = view.exchanged(np.roll(np.arange(28), 1)).training
    stepped = -np.diff(swapped.weights, axis=0) / swapped.learning_rate
    assert np.abs(stepped - swapped.gradients[:-1]).max() < 1e-9
    true = view.training.gradients
    assert np.abs(stepped - true[:-1]).max() > 1e-3 * np.abs(true).max()
    # Nothing exchanged, nothing changed.
    same = view.exchanged(np.arange(28)).training
    assert np.abs(same.weights - view.training.weights).max() < 1e-9
    assert np.abs(same.gradients - true).max() < 1e-8


def test_too_few_known_records_are_refused() -> None:
    view, _, _, _ = world()
    few = replace(
        view.auxiliary, own=view.auxiliary.own[:2], passive=view.auxiliary.passive[:2],
        places=sealed_ints(view.auxiliary.places[:2]),
    )  # fmt: skip
    with pytest.raises(AttackError, match="at least 3"):
        SubspaceRegression().infer(replace(view, auxiliary=few), np.random.default_rng(0))


def test_a_trial_on_ciphertexts_beats_the_regression_without_messages() -> None:
    scenario = Scenario(
        "wine", unknown=5, model="encrypted", threat="encrypted-known", known=20,
        attacks=("subspace-regression",), references=("baselines", "control"),
        model_options=Settings({"records": 60, "batch_size": 10, "epochs": 6, **QUICK}),
    )  # fmt: skip
    outcome = run_trial(scenario).outcome
    attack = outcome.measurements["subspace-regression"]
    assert attack.n == 40  # sixty trained, twenty of them are known
    assert attack.value < 0.6 * outcome.baselines["auxiliary-regression"].value
    assert outcome.baselines["subspace-regression control"].value > 2.0 * attack.value


def test_the_logistic_link_gives_the_same_outputs() -> None:
    scenario = Scenario(
        "breast-cancer", unknown=2, model="encrypted-logistic", threat="encrypted",
        attacks=("intermediate-recovery", "gram-inversion"), measures=("relative",), references=(),
        model_options=Settings({"records": 12, **QUICK}),
    )  # fmt: skip
    measured = run_trial(scenario).outcome.measurements
    assert measured["intermediate-recovery"] < 1e-9
    assert measured["gram-inversion best relative"] < 1e-6
