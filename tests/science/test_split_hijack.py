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

from whatleaks.arrays import Floats, sealed, sealed_ints
from whatleaks.attacks.auxiliary_baselines import AuxiliaryMean
from whatleaks.attacks.baselines import Half, Nothing
from whatleaks.attacks.hijack.fsha import FeatureSpaceHijack, FshaSettings
from whatleaks.detectors.splitguard import SplitGuard
from whatleaks.federation.honest_active import HonestActive, HonestSettings
from whatleaks.federation.roles import ActiveRole
from whatleaks.federation.split import SplitSettings, run_split
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Auxiliary, Offer, hand_out
from whatleaks.threat.model import Own
from whatleaks.threat.split import SPLIT_HIJACK
from whatleaks.threat.views.split import SplitView

torch.set_num_threads(1)


@dataclass(frozen=True)
class Case:
    own: Floats
    passive: Floats
    labels: np.ndarray
    train: np.ndarray
    auxiliary: np.ndarray
    target: np.ndarray


def cut(own: Floats, passive: Floats, labels: np.ndarray, seed: int, train: int, aux: int) -> Case:
    order = Streams(seed).rng("split").permutation(len(labels))
    return Case(
        own, passive, labels, order[:train], order[train : train + aux], order[train + aux :]
    )


def cancer(seed: int) -> Case:
    data = load_breast_cancer()
    x = (data.data - data.data.min(axis=0)) / np.ptp(data.data, axis=0)
    return cut(x[:, ::2], x[:, 1::2], data.target, seed, 350, 100)


def digits(seed: int) -> Case:
    data = load_digits()
    left, right = (data.images[:, :, side].reshape(1797, 32) / 16 for side in np.s_[:4, 4:])
    return cut(left, right, data.target, seed, 1200, 200)


def hijacker(case: Case, streams: Streams) -> FeatureSpaceHijack:
    auxiliary = Auxiliary(
        sealed(case.own[case.auxiliary]),
        sealed(case.passive[case.auxiliary]),
        sealed_ints(case.labels[case.auxiliary]),
    )
    granted = hand_out(SPLIT_HIJACK.grants, Offer(auxiliary=auxiliary))
    return FeatureSpaceHijack(granted.auxiliary, FshaSettings(), streams.rng("fsha"))


def honest(case: Case, streams: Streams) -> HonestActive:
    classes = int(case.labels.max()) + 1
    return HonestActive(
        case.own[case.train],
        case.labels[case.train],
        classes,
        16,
        HonestSettings(),
        streams.rng("honest"),
    )


@dataclass(frozen=True)
class Hijacked:
    case: Case
    role: FeatureSpaceHijack
    view: SplitView

    def errors(self, values: Floats) -> Floats:
        """Return the mean squared error of every target record."""
        truth = self.case.passive[self.case.target]
        wrong: Floats = ((values - truth) ** 2).mean(axis=1)
        return wrong


@pytest.fixture(scope="module", params=[0, 1])
def hijacked(request: pytest.FixtureRequest) -> Hijacked:
    case, streams = cancer(request.param), Streams(request.param)
    role = hijacker(case, streams)
    run = run_split(case.passive[case.train], role, SplitSettings(steps=1500), streams)
    run.emit(case.passive[case.target])
    own = Own(
        sealed(case.own[case.target]),
        sealed(case.own[case.train]),
        sealed_ints(case.labels[case.train]),
        15,
    )
    auxiliary = Auxiliary(
        sealed(case.own[case.auxiliary]),
        sealed(case.passive[case.auxiliary]),
        sealed_ints(case.labels[case.auxiliary]),
    )
    granted = hand_out(SPLIT_HIJACK.grants, Offer(auxiliary=auxiliary))
    received = run.channel.transcript.received_by("active")
    return Hijacked(case, role, SPLIT_HIJACK.project(received, own, granted))


def interval(gain: Floats) -> tuple[float, float]:
    """Return the 95 % interval of a mean over records."""
    half = 1.96 * float(gain.std(ddof=1)) / np.sqrt(len(gain))
    return float(gain.mean()) - half, float(gain.mean()) + half


def test_fsha_beats_the_auxiliary_mean_and_half(hijacked: Hijacked) -> None:
    rng = np.random.default_rng(0)
    fsha = hijacked.errors(hijacked.role.infer(hijacked.view, rng).values)
    mean = hijacked.errors(AuxiliaryMean().infer(hijacked.view, rng).values)
    half = hijacked.errors(Half().infer(Nothing(119, 15), rng).values)
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


def halts(case: Case, role: ActiveRole, streams: Streams) -> bool:
    detector = SplitGuard(classes=int(case.labels.max()) + 1)
    settings = SplitSettings(steps=300)
    return (
        run_split(case.passive[case.train], role, settings, streams, detector=detector).halted
        is not None
    )


def test_splitguard_tells_fsha_from_honest_training() -> None:
    """Published settings, digits, 8 seeds: detection rate beside false-halt rate, Fisher's test.

    Digits for their ten classes: with two, half of the fake labels are right by chance. Measured
    on seeds 0 to 7: FSHA halted 8 of 8 and honest training 2 of 8 on digits, 8 and 1 of 8 on
    breast cancer. FSHA is always halted at the tenth score (step 59 to 192).
    """
    detected = false = 0
    for seed in range(8):
        case, streams = digits(seed), Streams(seed)
        detected += halts(case, hijacker(case, streams), streams)
        false += halts(case, honest(case, streams), streams)
    chance = fisher_exact([[detected, 8 - detected], [false, 8 - false]], alternative="greater")
    assert chance.pvalue < 0.05, f"halted: FSHA {detected} of 8, honest {false} of 8"
