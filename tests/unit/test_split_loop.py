"""The split loop: batches, probes, halts, refusals; and the views drawn from its messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.attacks.auxiliary_baselines import AuxiliaryMean, AuxiliaryRegression
from whatleaks.attacks.hijack.fsha import FeatureSpaceHijack, FshaSettings
from whatleaks.codec import decode, encode
from whatleaks.detectors.protocol import Continue, DetectorGrant, Halt, Probe, Seen, Verdict
from whatleaks.errors import AttackError, GrantError, UsageError, WireError
from whatleaks.federation.split import SplitSettings, batches, run_split
from whatleaks.models.torch_network import Layers
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Auxiliary, Grant, Offer, hand_out
from whatleaks.threat.model import Own
from whatleaks.threat.split import SPLIT_HIJACK
from whatleaks.threat.views.split import SplitView

torch.set_num_threads(1)

COLUMNS = np.random.default_rng(0).uniform(size=(30, 4))
SMALL = SplitSettings(steps=12, batch=10, learning_rate=1e-2, bottom=Layers((5,), 3))


class Pull:
    """Pulls every embedding towards zero; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Ints | None] = []

    def respond(self, rows: Ints, embeddings: Floats, labels: Ints | None) -> Floats:
        self.asked.append(labels)
        return embeddings


@dataclass(frozen=True)
class ProbeFrom:
    """Probes from one step on, halts at another."""

    probe_from: int
    halt_at: int
    name: str = "probe-from"
    grants: tuple[DetectorGrant, ...] = (DetectorGrant.REPLACE_LABELS,)

    def start(self) -> ProbeFrom:
        return self

    def choose(self, step: int, size: int, rng: np.random.Generator) -> Probe | None:
        return Probe(sealed_ints(np.full(size, 2))) if step >= self.probe_from else None

    def observe(
        self, step: int, seen: Seen, probe: Probe | None, rng: np.random.Generator
    ) -> Verdict:
        return Halt(0.1, "as told") if step == self.halt_at else Continue(step / 100)


def bottom_after(steps: int, detector: ProbeFrom | None = None) -> list[torch.Tensor]:
    settings = SplitSettings(steps, SMALL.batch, SMALL.learning_rate, SMALL.bottom)
    run = run_split(COLUMNS, Pull(), settings, Streams(1), detector=detector)
    return [parameter.detach().clone() for parameter in run.passive.bottom.parameters()]


def test_every_epoch_visits_every_row_once() -> None:
    schedule = batches(23, 5, np.random.default_rng(0))
    epoch = np.concatenate([next(schedule) for _ in range(4)])
    assert len(set(epoch.tolist())) == 20
    assert len(next(batches(3, 64, np.random.default_rng(0)))) == 3


def test_a_run_without_detector_finishes() -> None:
    run = run_split(COLUMNS, Pull(), SMALL, Streams(1))
    assert (run.steps, run.halted, run.scores) == (12, None, ())


def test_a_halt_is_a_result_and_updates_nothing_more() -> None:
    role = Pull()
    run = run_split(COLUMNS, role, SMALL, Streams(1), detector=ProbeFrom(99, 6))
    assert run.halted is not None
    assert (run.halted.step, run.halted.score, run.halted.reason) == (6, 0.1, "as told")
    assert run.steps == 7
    assert len(role.asked) == 7
    assert run.scores == (*((step, step / 100) for step in range(6)), (6, 0.1))
    for a, b in zip(run.passive.bottom.parameters(), bottom_after(6), strict=True):
        assert torch.equal(a, b)
    assert run.emit(COLUMNS[:4]).shape == (4, 3)


def test_a_probe_reaches_the_role_and_does_not_train_the_bottom_model() -> None:
    role = Pull()
    run = run_split(COLUMNS, role, SMALL, Streams(1), detector=ProbeFrom(5, 99))
    assert all(labels is None for labels in role.asked[:5])
    assert all(labels is not None and (labels == 2).all() for labels in role.asked[5:])
    for a, b in zip(run.passive.bottom.parameters(), bottom_after(5), strict=True):
        assert torch.equal(a, b)


def test_a_detector_that_only_watches_changes_nothing() -> None:
    for a, b in zip(bottom_after(12), bottom_after(12, ProbeFrom(99, 99)), strict=True):
        assert torch.equal(a, b)


class Misshapen:
    def respond(self, rows: Ints, embeddings: Floats, labels: Ints | None) -> Floats:
        return embeddings[:, :1]


def test_gradients_of_another_shape_are_refused() -> None:
    with pytest.raises(WireError, match="another shape"):
        run_split(COLUMNS, Misshapen(), SMALL, Streams(1))


def test_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        SplitSettings(steps=0)


AUXILIARY = Auxiliary(sealed(COLUMNS[:9, :2]), sealed(COLUMNS[:9]), sealed_ints(np.zeros(9)))
OWN = Own(sealed(COLUMNS[:4, :2]), sealed(COLUMNS[:, :2]), sealed_ints(np.zeros(30)), 4)


@pytest.mark.parametrize("threat", [SPLIT_HIJACK])
def test_the_view_holds_target_embeddings_only_and_travels(threat) -> None:  # type: ignore[no-untyped-def]
    run = run_split(COLUMNS, Pull(), SMALL, Streams(1))
    sent = np.concatenate([run.emit(COLUMNS[:3]), run.emit(COLUMNS[3:4])])
    granted = hand_out(threat.grants, Offer(auxiliary=AUXILIARY))
    view = threat.project(run.channel.transcript.received_by("active"), OWN, granted)
    assert np.array_equal(view.embeddings, sent)
    assert view.evidence().shape == (4, 2 + 3)
    again = decode(encode(view))
    assert np.array_equal(again.evidence(), view.evidence())


def test_no_target_embeddings_no_view_and_no_grant_no_records() -> None:
    granted = hand_out(SPLIT_HIJACK.grants, Offer(auxiliary=AUXILIARY))
    with pytest.raises(WireError, match="no embeddings"):
        SPLIT_HIJACK.project((), OWN, granted)
    with pytest.raises(GrantError):
        _ = hand_out(frozenset({Grant.RANGES}), Offer(auxiliary=AUXILIARY)).auxiliary


def test_the_sentence_says_that_the_protocol_is_broken() -> None:
    assert "breaks the protocol" in repr(SPLIT_HIJACK)
    assert "layer sizes" in repr(SPLIT_HIJACK)
    assert "complete records of other people" in repr(SPLIT_HIJACK)


def hijacker(encoder: Layers = Layers((5,), 3)) -> FeatureSpaceHijack:  # noqa: B008
    return FeatureSpaceHijack(AUXILIARY, FshaSettings(encoder=encoder), np.random.default_rng(7))


def test_the_hijacker_ignores_rows_and_labels() -> None:
    one, two = hijacker(), hijacker()
    rng = np.random.default_rng(0)
    for _ in range(5):
        sent = sealed(rng.normal(size=(6, 3)))
        first = one.respond(sealed_ints(np.arange(6)), sent, None)
        second = two.respond(sealed_ints(np.arange(6) + 9), sent, sealed_ints(np.ones(6)))
        assert np.array_equal(first, second)
    view = SplitView(OWN.target, sealed(rng.normal(size=(4, 3))), 4, AUXILIARY)
    assert np.array_equal(one.infer(view, rng).values, two.infer(view, rng).values)


def test_the_reconstruction_travels_and_answers_the_same() -> None:
    role = hijacker()
    rng = np.random.default_rng(0)
    view = SplitView(OWN.target, sealed(rng.normal(size=(4, 3))), 4, AUXILIARY)
    away = decode(encode(role.attack()))
    assert np.array_equal(away.infer(view, rng).values, role.infer(view, rng).values)


def test_an_encoder_of_another_width_is_refused() -> None:
    with pytest.raises(AttackError, match="set encoder"):
        hijacker(Layers((5,), 4)).respond(sealed_ints([0]), sealed(np.zeros((1, 3))), None)


def test_critic_steers_towards_the_encoder() -> None:
    """A passive party that is all bias must be led to where the encoder's embeddings lie."""
    role = hijacker()
    place = np.full((1, 3), 5.0)
    for _ in range(600):
        sent = sealed(np.repeat(place, 9, axis=0))
        place = place - 0.02 * role.respond(sealed_ints(np.arange(9)), sent, None).sum(axis=0)
    with torch.no_grad():
        centre = role._encoder(torch.tensor(AUXILIARY.passive)).numpy().mean(axis=0)
    assert np.linalg.norm(place - centre) < 0.2 * np.linalg.norm(np.full(3, 5.0) - centre)


def test_auxiliary_baselines() -> None:
    rng = np.random.default_rng(0)
    own = rng.normal(size=(40, 3))
    exact = own @ rng.normal(size=(3, 4)) + 1.5
    auxiliary = Auxiliary(sealed(own[:30]), sealed(exact[:30]), sealed_ints(np.zeros(30)))
    view = SplitView(sealed(own[30:]), sealed(np.zeros((10, 2))), 4, auxiliary)
    regression = AuxiliaryRegression(ridge=0.0).infer(view, rng).values
    assert abs(regression - exact[30:]).max() < 1e-12
    mean = AuxiliaryMean().infer(view, rng).values
    assert abs(mean - exact[:30].mean(axis=0)).max() < 1e-12
    flat = AuxiliaryRegression(ridge=1e15).infer(view, rng).values
    assert abs(flat - mean).max() < 1e-9
