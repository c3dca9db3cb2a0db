"""Halves of pictures: who holds what, how like a guess is, and one whole trial on real digits."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from whatleaks.arrays import Floats, sealed_ints
from whatleaks.errors import SpecError
from whatleaks.metrics.picture import psnr, ssim
from whatleaks.seeds import Streams
from whatleaks.trial.pictures import halves, picture_holdings
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings
from whatleaks.trial.trial import run_trial

RNG = np.random.default_rng(0)


def test_halves_are_left_and_right_on_a_scale_from_0_to_1() -> None:
    pictures = RNG.integers(0, 256, (3, 4, 6, 2)).astype(np.uint8)
    left, right = halves(pictures)
    assert left.shape == right.shape == (3, 4 * 3 * 2)
    assert np.array_equal(left.reshape(3, 4, 3, 2), pictures[:, :, :3] / 255)
    assert np.array_equal(right.reshape(3, 4, 3, 2), pictures[:, :, 3:] / 255)


def plain_ssim(one: Floats, other: Floats) -> float:
    """Compute the structural similarity of two pictures of one colour, window by window."""
    found = []
    for i in range(one.shape[0] - 6):
        for j in range(one.shape[1] - 6):
            a, b = (p[i : i + 7, j : j + 7].ravel() for p in (one, other))
            together = ((a - a.mean()) * (b - b.mean())).sum() / 48
            top = (2 * a.mean() * b.mean() + 1e-4) * (2 * together + 9e-4)
            low = (a.mean() ** 2 + b.mean() ** 2 + 1e-4) * (a.var(ddof=1) + b.var(ddof=1) + 9e-4)
            found.append(top / low)
    return float(np.mean(found))


def test_ssim_window_by_window_and_psnr_by_hand() -> None:
    one, other = RNG.random((4, 10, 8, 1)), RNG.random((4, 10, 8, 1))
    plain = [plain_ssim(a[..., 0], b[..., 0]) for a, b in zip(one, other, strict=True)]
    assert np.abs(ssim(one, other) - plain).max() < 1e-10
    assert np.abs(ssim(one, one) - 1.0).max() < 1e-12
    assert np.abs(psnr(np.array([0.01, 0.0])) - [20.0, 100.0]).max() < 1e-12


def small_set(name: str, size: int) -> SimpleNamespace:
    """Bright or dark pictures with a little noise; the right half says which."""
    rng = np.random.default_rng(len(name))
    labels = rng.integers(0, 2, 260)
    level = np.where(labels == 1, 180, 60)[:, None, None]
    pictures = (level + rng.integers(0, 40, (260, size, size))).astype(np.uint8)
    return SimpleNamespace(
        name=name,
        training=pictures[:200],
        training_labels=sealed_ints(labels[:200]),
        test=pictures[200:],
        test_labels=sealed_ints(labels[200:]),
        classes=("dark", "bright"),
    )


@pytest.fixture
def sets(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"mnist": small_set("mnist", 8), "tiny-imagenet": small_set("tiny-imagenet", 16)}
    monkeypatch.setattr("whatleaks.data.loading.load_images", made.__getitem__)


BASE = Scenario(
    "mnist",
    data=Settings({"prepare": "pictures", "rows": 150}),
    share=0.5,
    model="split",
    model_options=Settings(
        {"network": "cnn", "height": 8, "scaling": "pixels", "precision": "float32", "steps": 40}
    ),
    threat="split-hijack",
    targets=30,
    seed=1,
)


def test_training_pictures_train_and_test_pictures_are_attacked(sets: None) -> None:
    holdings, training, pool, strangers = picture_holdings(BASE, Streams(1))
    assert (len(training), len(pool), len(strangers)) == (150, 60, 0)
    assert holdings.columns["active"].shape == holdings.columns["passive"].shape == (210, 32)
    other = replace(BASE, data=BASE.data.merged({"strangers": "tiny-imagenet"}))
    holdings, training, _, strangers = picture_holdings(other, Streams(1))
    assert len(strangers) == int(np.ceil(150 * 0.1 / 1.1))
    assert not set(strangers) & set(training)
    for wrong in (replace(BASE, share=0.3), replace(BASE, parties=2)):
        with pytest.raises(SpecError, match="cut in the middle"):
            picture_holdings(wrong, Streams(1))


def test_auxiliary_pictures_of_the_set_that_trains_are_refused() -> None:
    with pytest.raises(SpecError, match="strangers names mnist itself"):
        replace(BASE, data=BASE.data.merged({"strangers": "mnist"}))


def test_nothing_is_kept_of_single_pixels(sets: None) -> None:
    """Pictures are judged one by one: tables of pictures x pixels of a hundred trials would fill the memory."""
    asked = replace(BASE, attacks=("agn",), measures=("pictures-8",))
    records = run_trial(asked).records
    assert {one.name for one in records.scored} >= {"agn", "auxiliary-best"}
    assert records.apart.size == 0
    for one in records.scored:
        assert one.off.size == one.named.size == 0


@pytest.mark.parametrize(
    ("network", "attack"), [("cnn", "urvfl"), ("residual", "fsha"), ("cnn", "")]
)
def test_a_whole_trial_on_pictures(sets: None, network: str, attack: str) -> None:
    scenario = replace(
        BASE,
        model_options=BASE.model_options.merged({"network": network}),
        attacks=(attack,) if attack else (),
        attack_options=Settings({"pretraining": 60} if attack == "urvfl" else {}),
        measures=("pictures-8",) if attack else (),
    )
    outcome = run_trial(scenario).outcome
    if not attack:
        assert outcome.measurements["accuracy"].value > 0.9  # type: ignore[union-attr]
        return
    found = {
        kind: outcome.measurements[f"{attack} {kind}"].value for kind in ("pixels", "psnr", "ssim")
    }  # type: ignore[union-attr]
    whole = outcome.measurements[attack].value  # type: ignore[union-attr]
    assert abs(found["pixels"] - 4 * whole) < 1e-9  # a decoder's pixels stay in their range
    assert -1.0 <= found["ssim"] <= 1.0
    assert found["psnr"] > 0.0
