"""FSHA and SplitGuard on real records, with fixed seeds and intervals over records.

Breast cancer: 569 records, 15 own and 15 passive columns on [0, 1]; 350 train, 100 are
auxiliary, 119 are targets. Settings were chosen on other seeds (100 to 104); seeds 0 and 1
were fixed before they were run. What these tests do not say: over seeds 0 to 7 FSHA beat the
auxiliary mean on seven and diverged on seed 7 (0.075 against 0.023), it never beat a ridge
regression from own columns on the auxiliary records (0.007), and on digits it beat the mean
on one seed of eight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from scipy.stats import fisher_exact
from sklearn.datasets import load_breast_cancer, load_digits

from staging import chosen, held
from whatleaks.arrays import Floats, sealed, sealed_ints
from whatleaks.attacks.auxiliary_baselines import AuxiliaryMean
from whatleaks.attacks.baselines import Half, ShapeView
from whatleaks.attacks.hijack.fsha import FeatureSpaceHijack
from whatleaks.attacks.hijack.workshop import Reconstruction
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import OPEN
from whatleaks.detectors.splitguard import SplitGuard
from whatleaks.federation.roles import Hijacker
from whatleaks.federation.split.run import SplitFederation
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.seeds import Streams
from whatleaks.threat.grants import hand_out
from whatleaks.threat.model import Memory
from whatleaks.threat.split import SPLIT_HIJACK
from whatleaks.threat.views.split import SplitView
from whatleaks.wire.channel import Channel

torch.set_num_threads(1)

Case = tuple[Holdings, Rows]


def cut(own: Floats, passive: Floats, labels: np.ndarray, seed: int, train: int, aux: int) -> Case:
    order = Streams(seed).rng("split").permutation(len(labels))
    x, width = np.concatenate([own, passive], axis=1), own.shape[1]
    rows = chosen(order[:train], order[train + aux :], order[train : train + aux])
    return held(x, labels, [np.s_[width:]], np.s_[:width]), rows


def cancer(seed: int) -> Case:
    data = load_breast_cancer()
    x = (data.data - data.data.min(axis=0)) / np.ptp(data.data, axis=0)
    return cut(x[:, ::2], x[:, 1::2], data.target, seed, 350, 100)


def digits(seed: int) -> Case:
    data = load_digits()
    left, right = (data.images[:, :, side].reshape(1797, 32) / 16 for side in np.s_[:4, 4:])
    return cut(left, right, data.target, seed, 1200, 200)


class Named(Streams):
    """The streams that these seeds were fixed with: the hijacker's was called ``fsha``."""

    def rng(self, name: str) -> np.random.Generator:
        return super().rng("fsha" if name == "hijacker" else name)


@dataclass(frozen=True)
class Hijacked:
    case: Case
    role: Reconstruction
    view: SplitView

    def errors(self, values: Floats) -> Floats:
        """Return the mean squared error of every target record."""
        holdings, rows = self.case
        truth = holdings.columns["passive"][rows.targets]
        wrong: Floats = ((values - truth) ** 2).mean(axis=1)
        return wrong


@pytest.fixture(scope="module", params=[0, 1])
def hijacked(request: pytest.FixtureRequest) -> Hijacked:
    holdings, rows = cancer(request.param)
    channel = Channel()
    trained = SplitFederation().train(
        holdings,
        rows,
        SplitSettings(steps=1500),
        Named(request.param),
        channel,
        hijacker=FeatureSpaceHijack(),
    )
    trained.release(rows.targets, channel, OPEN)
    memory = Memory(
        holdings.joined(("active",), rows.targets),
        holdings.joined(("active",), rows.training),
        sealed_ints(holdings.labels[rows.training]),
        15,
        (),
    )
    granted = hand_out(SPLIT_HIJACK.grants, trained.offer(("active",)))
    received = channel.transcript.received_by("active")
    view = SPLIT_HIJACK.project(received, memory, granted, SplitView)
    return Hijacked((holdings, rows), trained.reading, view)


def interval(gain: Floats) -> tuple[float, float]:
    """Return the 95 % interval of a mean over records."""
    half = 1.96 * float(gain.std(ddof=1)) / np.sqrt(len(gain))
    return float(gain.mean()) - half, float(gain.mean()) + half


def test_fsha_beats_the_auxiliary_mean_and_half(hijacked: Hijacked) -> None:
    rng = np.random.default_rng(0)
    fsha = hijacked.errors(hijacked.role.infer(hijacked.view, rng).values)
    mean = hijacked.errors(AuxiliaryMean().infer(hijacked.view, rng).values)
    half = hijacked.errors(Half().infer(ShapeView(119, 15), rng).values)
    assert len(fsha) == 119
    assert interval(mean - fsha)[0] > 0.0
    assert interval(half - fsha)[0] > 0.0


def test_other_peoples_records_gain_nothing(hijacked: Hijacked) -> None:
    rng = np.random.default_rng(0)
    turned = np.roll(np.arange(119), 1)  # everybody gets somebody else's record
    others = replace(
        hijacked.view,
        own=sealed(hijacked.view.own[turned]),
        embeddings=sealed(hijacked.view.embeddings[turned]),
    )
    mean = hijacked.errors(AuxiliaryMean().infer(hijacked.view, rng).values)
    assert interval(mean - hijacked.errors(hijacked.role.infer(others, rng).values))[0] <= 0.0


def test_the_embeddings_matter_beyond_own_columns(hijacked: Hijacked) -> None:
    rng = np.random.default_rng(0)
    turned = np.roll(np.arange(119), 1)
    swapped = replace(hijacked.view, embeddings=sealed(hijacked.view.embeddings[turned]))
    right = hijacked.errors(hijacked.role.infer(hijacked.view, rng).values)
    wrong = hijacked.errors(hijacked.role.infer(swapped, rng).values)
    assert interval(wrong - right)[0] > 0.0


def halts(case: Case, seed: int, hijacker: Hijacker | None) -> bool:
    holdings, rows = case
    trained = SplitFederation().train(
        holdings,
        rows,
        SplitSettings(steps=300),
        Named(seed),
        Channel(),
        hijacker=hijacker,
        detector=SplitGuard(classes=holdings.classes),
    )
    return trained.stop is not None


def test_splitguard_tells_fsha_from_honest_training() -> None:
    """Published settings, digits, 8 seeds: detection rate beside false-halt rate, Fisher's test.

    Digits for their ten classes: with two, half of the fake labels are right by chance. Measured
    on seeds 0 to 7: FSHA halted 8 of 8 and honest training 2 of 8 on digits, 8 and 1 of 8 on
    breast cancer. FSHA is always halted at the tenth score (step 59 to 192).
    """
    detected = false = 0
    for seed in range(8):
        detected += halts(digits(seed), seed, FeatureSpaceHijack())
        false += halts(digits(seed), seed, None)
    chance = fisher_exact([[detected, 8 - detected], [false, 8 - false]], alternative="greater")
    assert chance.pvalue < 0.05, f"halted: FSHA {detected} of 8, honest {false} of 8"
