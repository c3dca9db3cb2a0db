"""What own weights tell after a training on shares: sums of residuals, exactly, and no more."""

from __future__ import annotations

import numpy as np
import pytest

from whatleaks.attacks.average_output import AverageOutput
from whatleaks.attacks.final_weights import FinalWeights
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.errors import AttackError, UsageError
from whatleaks.federation.regression.linear import PlainRun, plain_regression
from whatleaks.federation.regression.settings import LINKS, draw_weights, with_fakes
from whatleaks.federation.sshe.run import SharedRegressionFederation
from whatleaks.federation.sshe.settings import SharedModelSettings, SharedSettings
from whatleaks.models.shared_history import SharedHistory
from whatleaks.seeds import Streams
from whatleaks.threat.views.shared import SharedRegressionView

RNG = np.random.default_rng


def trained(settings: SharedSettings, unknown: int = 2) -> tuple[SharedHistory, PlainRun]:
    """Train the same in doubles: what the active party would remember, and the truth."""
    rng = RNG(3)
    own, theirs = rng.uniform(size=(8, 5)), rng.uniform(size=(8, unknown))
    y = (rng.uniform(size=8) > 0.5).astype(float)
    link, plain = LINKS[settings.link], settings.regression
    run = plain_regression(link, own, theirs, y, plain, Streams(1))
    x = with_fakes(own, plain, Streams(1).rng("active/fakes"))
    first = draw_weights(x.shape[1], plain, Streams(1).rng("active/weights"))
    batches = settings.batches(8)
    rates = (settings.learning_rate, settings.alpha, link.slope, link.offset)
    history = SharedHistory(x, y, first, run.active_weights, batches, settings.epochs, *rates)
    return history, run


def view(settings: SharedSettings, unknown: int = 2) -> tuple[SharedRegressionView, PlainRun]:
    history, run = trained(settings, unknown)
    return SharedRegressionView(history, None, unknown), run


@pytest.mark.parametrize("link", sorted(LINKS))
@pytest.mark.parametrize(("epochs", "batch_size"), [(1, None), (4, None), (5, 3)])
def test_all_steps_together_are_sums_of_residuals(
    link: str, epochs: int, batch_size: int | None
) -> None:
    settings = SharedSettings(link, epochs, batch_size, 0.03, alpha=0.5, fake_columns=3)
    history, run = trained(settings)
    sums, weights = history.summed_residuals()
    steps, per_epoch = len(run.residuals), len(settings.batches(8))
    shrink = 1.0 - 0.03 * 0.5
    expected, total = np.zeros(8), np.zeros(8)
    for step, d in enumerate(run.residuals):
        rows = settings.batches(8)[step % per_epoch]
        expected[rows] += shrink ** (steps - 1 - step) * d
        total[rows] += shrink ** (steps - 1 - step)
    np.testing.assert_allclose(sums, expected, atol=1e-10)
    np.testing.assert_allclose(weights, total, atol=1e-12)


@pytest.mark.parametrize("link", sorted(LINKS))
def test_after_one_step_the_partners_outputs_are_exact(link: str) -> None:
    seen, run = view(SharedSettings(link, 1, None, 0.03, fake_columns=3))
    guess = FinalWeights().infer(seen, RNG(0)).values
    np.testing.assert_allclose(guess[:, 0], run.outputs[0], atol=1e-10)


def test_after_many_steps_only_an_average_is_left() -> None:
    seen, run = view(SharedSettings("linear", 30, None, 0.03, fake_columns=3))
    guess = FinalWeights().infer(seen, RNG(0)).values
    assert guess.shape == (8, 30)
    assert np.ptp(guess, axis=1).max() == 0.0
    true = np.stack(run.outputs, axis=1)
    assert np.abs(guess - true).mean() > 1e-3 * np.abs(true).mean()


def test_a_single_column_is_its_average_output_up_to_a_mirror_image() -> None:
    seen, run = view(SharedSettings("linear", 1, None, 0.03, fake_columns=3), unknown=1)
    guess = AverageOutput().infer(seen, RNG(0)).values[:, 0]
    rng = RNG(3)
    rng.uniform(size=(8, 5))
    truth = rng.uniform(size=8)  # as ``trained`` draws it
    assert abs(abs(np.corrcoef(guess, truth)[0, 1]) - 1.0) < 1e-10
    assert abs(abs(np.corrcoef(guess, run.outputs[0])[0, 1]) - 1.0) < 1e-10
    assert guess.min() == 0.0
    assert guess.max() == 1.0


@pytest.mark.parametrize("attack", [FinalWeights(), AverageOutput()])
def test_fewer_columns_than_records_determine_nothing(attack: FinalWeights | AverageOutput) -> None:
    seen, _ = view(SharedSettings("linear", 2, None, 0.03, fake_columns=2))
    with pytest.raises(AttackError, match="add 1 fake columns"):
        attack.infer(seen, RNG(0))


def test_a_third_party_is_refused_before_anything_is_trained() -> None:
    x = RNG(0).uniform(size=(30, 4))
    columns = {"active": x[:, :2], "passive": x[:, 2:3], "passive-2": x[:, 3:]}
    held = Holdings(columns, {}, np.arange(30) % 2, 2)
    rows = Rows(*(np.arange(30),) * 5)
    with pytest.raises(UsageError, match="two parties"):
        SharedRegressionFederation().choose_rows(
            held, rows, np.arange(30), SharedModelSettings(), Streams(0)
        )
