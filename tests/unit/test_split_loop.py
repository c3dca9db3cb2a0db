"""Split training: batches, probes, halts, refusals; and the views drawn from its messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pytest
import torch

from staging import chosen, held
from whatleaks.arrays import Floats, Ints, sealed, sealed_ints
from whatleaks.attacks.auxiliary_baselines import AuxiliaryMean, AuxiliaryRegression
from whatleaks.attacks.hijack.fsha import FeatureSpaceHijack, FshaPlayer
from whatleaks.catalog import card, cards
from whatleaks.codec import decode, encode
from whatleaks.data.holdings import Holdings
from whatleaks.defenses.protocol import OPEN, Guard
from whatleaks.defenses.rounding import Rounding
from whatleaks.detectors.protocol import Continue, DetectorGrant, Halt, Probe, Received, Signal
from whatleaks.errors import AttackError, GrantError, UsageError, WireError
from whatleaks.federation.roles import ActiveSeat, Batch, answer, next_batch
from whatleaks.federation.schedule import agreed_batches
from whatleaks.federation.split.parties import Course, PassiveParty
from whatleaks.federation.split.run import SplitFederation, SplitTrained, seat_of
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.models.torch_network import Layers
from whatleaks.seeds import Streams
from whatleaks.threat.grants import Auxiliary, Ranges, hand_out
from whatleaks.threat.model import Memory
from whatleaks.threat.split import SPLIT_HIJACK
from whatleaks.threat.views.split import SplitView
from whatleaks.wire.channel import Channel
from whatleaks.wire.expected import Post, Programme
from whatleaks.wire.message import Plain

torch.set_num_threads(1)

COLUMNS = np.random.default_rng(0).uniform(size=(39, 6))
LABELS = np.random.default_rng(1).integers(0, 3, 39)
SMALL = SplitSettings(steps=12, batch=10, learning_rate=1e-2, bottom=Layers((5,), 3))
EVERYBODY = chosen(range(30), (), range(30, 39))


def tables(passives: int = 1) -> Holdings:
    """Two own columns; four of one passive party, or two of each of two."""
    cuts = [np.s_[2:]] if passives == 1 else [np.s_[2:4], np.s_[4:]]
    return held(COLUMNS, LABELS, cuts, np.s_[:2], 3)


@dataclass(frozen=True)
class Pull:
    """Pulls every embedding towards zero; remembers what it was sent."""

    sent: list[Batch] = field(default_factory=list)
    name: str = "pull"

    def programme(self, seat: ActiveSeat, post: Post, rng: np.random.Generator) -> Programme[str]:
        for step in range(len(seat.schedule)):
            batch = yield from next_batch(seat, step, post)
            if batch is None:
                return "halted"
            self.sent.append(batch)
            answer(seat, step, batch.embeddings, post)
        return "finished"


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
        self, step: int, seen: Received, probe: Probe | None, rng: np.random.Generator
    ) -> Signal:
        return Halt(0.1, "as told") if step == self.halt_at else Continue(step / 100)


def train(
    hijacker: Any = None,
    settings: SplitSettings = SMALL,
    detector: ProbeFrom | None = None,
    channel: Channel | None = None,
    passives: int = 1,
    seed: int = 1,
) -> SplitTrained:
    return SplitFederation().train(
        tables(passives),
        EVERYBODY,
        settings,
        Streams(seed),
        channel if channel is not None else Channel(),
        hijacker=hijacker,
        detector=detector,
    )


def weights(trained: SplitTrained, name: str = "passive") -> list[torch.Tensor]:
    bottom = trained.passives[name].bottom
    return [parameter.detach().clone() for parameter in bottom.parameters()]


def after(steps: int, **how: Any) -> list[torch.Tensor]:
    return weights(train(Pull(), replace(SMALL, steps=steps), **how))


def equal(ours: list[torch.Tensor], theirs: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_every_epoch_visits_every_row_once() -> None:
    settings = SplitSettings(steps=9, batch=5)
    schedule = agreed_batches(23, settings, np.random.default_rng(0))
    assert len(schedule) == 9
    for epoch in (schedule[:4], schedule[4:8]):
        assert len(set(np.concatenate(epoch).tolist())) == 20
    assert len(agreed_batches(3, SplitSettings(batch=64), np.random.default_rng(0))[0]) == 3
    with pytest.raises(UsageError, match="no record to train on"):
        agreed_batches(0, settings, np.random.default_rng(0))


def test_a_run_without_detector_finishes() -> None:
    trained = train(Pull())
    assert trained.reading == "finished"
    assert trained.stop is None
    assert trained.facts() == {"steps": 12, "halted": False, "detector scores": []}
    assert trained.classes(np.arange(4), OPEN) is None  # a hijacker predicts nothing


def test_a_halt_is_a_result_and_updates_nothing_more() -> None:
    hijacker, channel = Pull(), Channel()
    trained = train(hijacker, detector=ProbeFrom(99, 6), channel=channel)
    assert trained.stop == "step 6: as told"
    assert trained.reading == "halted"
    scores = [*(step / 100 for step in range(6)), 0.1]
    assert trained.facts() == {"steps": 7, "halted": True, "detector scores": scores}
    assert trained.course.scores == tuple(enumerate(scores))
    assert len(hijacker.sent) == 7
    assert equal(weights(trained), after(6))
    sent = [m for m in channel.transcript.received_by("active") if m.kind == "embeddings"]
    assert [len(m.payload.values) for m in sent] == [10] * 7 + [0]  # the halt, told
    heard = Channel()
    assert trained.release(np.arange(4), heard, OPEN) is None
    (message,) = heard.transcript.received_by("active")
    assert message.payload.values.shape == (4, 3)


def test_a_halt_after_the_last_batch_needs_no_telling() -> None:
    hijacker = Pull()
    trained = train(hijacker, detector=ProbeFrom(99, 11))
    assert (trained.stop, trained.reading) == ("step 11: as told", "finished")
    assert len(hijacker.sent) == 12


def test_a_probe_reaches_the_seat_and_does_not_train_the_bottom_model() -> None:
    hijacker, channel = Pull(), Channel()
    trained = train(hijacker, detector=ProbeFrom(5, 99), channel=channel)
    asked = [batch.labels for batch in hijacker.sent]
    assert asked[:5] == [None] * 5
    assert all(labels is not None and (labels == 2).all() for labels in asked[5:])
    assert equal(weights(trained), after(5))
    told = [m for m in channel.transcript.received_by("active") if m.kind == "labels"]
    assert [len(m.payload.values) for m in told] == [0] * 5 + [10] * 7


def test_a_detector_that_only_watches_changes_nothing() -> None:
    assert equal(after(12), after(12, detector=ProbeFrom(99, 99)))


def test_an_honest_party_trains_on_the_labels_it_is_asked_for() -> None:
    plain, probed = train(), train(detector=ProbeFrom(0, 99))
    assert plain.honest is not None
    assert probed.honest is not None
    one, two = (next(iter(t.honest.top.parameters())) for t in (plain, probed))
    assert not torch.equal(one, two)
    fake = probed.classes(np.arange(30), OPEN)
    assert fake is not None
    assert (fake == 2).all()  # it was only ever asked for class 2


def test_two_passive_parties_train_and_one_halt_ends_all() -> None:
    hijacker = Pull()
    trained = train(hijacker, passives=2)
    assert hijacker.sent[0].embeddings.shape == (10, 6)
    for name in ("passive", "passive-2"):
        alone = equal(
            weights(trained, name),
            weights(train(Pull(), replace(SMALL, steps=1), passives=2), name),
        )
        assert not alone  # both were trained
    halted = train(Pull(), detector=ProbeFrom(99, 3), passives=2)
    assert (halted.stop, halted.reading) == ("step 3: as told", "halted")
    four = train(Pull(), replace(SMALL, steps=4), passives=2)
    assert equal(weights(halted, "passive-2"), weights(four, "passive-2"))  # no step beyond
    honest, channel = train(passives=2), Channel()
    scores = honest.release(np.arange(30), channel, OPEN)
    assert scores is not None
    assert scores.shape == (30, 3)
    assert [m.sender for m in channel.transcript.received_by("active")] == ["passive", "passive-2"]


@dataclass(frozen=True)
class Answers:
    """Answers every batch with the same made-up numbers."""

    rows: int
    columns: int
    value: float = 0.0
    name: str = "answers"

    def programme(self, seat: ActiveSeat, post: Post, rng: np.random.Generator) -> Programme[None]:
        for step in range(len(seat.schedule)):
            yield from next_batch(seat, step, post)
            made_up = np.full((self.rows, self.columns), self.value)
            post.send(step, "active", "passive", "gradients", Plain(made_up))


@pytest.mark.parametrize(
    ("hijacker", "why"),
    [
        (Answers(10, 1), "it must be"),
        (Answers(9, 3), "gradients of another shape"),
        (Answers(10, 3, float("nan")), "not finite"),
    ],
)
def test_gradients_that_do_not_fit_are_refused(hijacker: Answers, why: str) -> None:
    with pytest.raises(WireError, match=why):
        train(hijacker)


@pytest.mark.parametrize(
    ("made_up", "why"),
    [
        (lambda real: np.where(np.eye(len(real), 3), np.nan, real), "'embeddings'.*not finite"),
        (lambda real: real[:, :2], "'embeddings'.*it must be"),
        (lambda real: real[:-1], "'passive' sent 9 rows for a batch of 10 records"),
    ],
)
@pytest.mark.parametrize("hijacker", [None, Pull(), FeatureSpaceHijack()])
def test_embeddings_that_do_not_fit_are_refused_whoever_receives_them(
    hijacker: Any, made_up: Callable[[Floats], Floats], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = PassiveParty.forward
    monkeypatch.setattr(PassiveParty, "forward", lambda self, rows: made_up(real(self, rows)))
    with pytest.raises(WireError, match=why):
        train(hijacker)


@pytest.mark.parametrize("hijacker", [None, Pull(), FeatureSpaceHijack()])
def test_a_passive_party_that_goes_away_in_the_middle_is_named(
    hijacker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = PassiveParty.train

    def leaves(self: PassiveParty, schedule: Any, *others: Any) -> Programme[Course]:
        return real(self, schedule[:5], *others)

    monkeypatch.setattr(PassiveParty, "train", leaves)
    with pytest.raises(
        WireError, match=r"nobody sends: active for 'embeddings' of step 5 .*'passive'"
    ):
        train(hijacker)


def test_auxiliary_records_that_train_are_refused() -> None:
    rows = chosen(range(30), (), range(28, 39))
    with pytest.raises(UsageError, match="2 of the 11 auxiliary records also train"):
        SplitFederation().train(tables(), rows, SMALL, Streams(1), Channel(), hijacker=Pull())


@pytest.mark.parametrize("classes", [1, 3])
def test_records_of_one_class_are_refused(classes: int) -> None:
    one = replace(tables(), labels=sealed_ints(LABELS * 0), classes=classes)
    with pytest.raises(UsageError, match="records that train are all of one class"):
        SplitFederation().train(one, EVERYBODY, SMALL, Streams(1), Channel())


@pytest.mark.parametrize("name", [card.name for card in cards("hijack")])
def test_a_batch_of_one_trains_and_is_read(name: str) -> None:
    hijacker = card("hijack", name).build()
    alone = {f.name: 3 for f in fields(hijacker) if f.name in ("pretraining", "decoding")}
    trained = train(replace(hijacker, **alone), replace(SMALL, batch=1))
    assert trained.facts()["steps"] == 12
    assert all(torch.isfinite(weight).all() for weight in weights(trained))


@pytest.mark.parametrize("name", [card.name for card in cards("detector")])
def test_a_detector_can_watch_batches_of_one(name: str) -> None:
    part = card("detector", name)
    detector = part.build(**({"classes": 3} if part.takes("classes") else {}))
    rows = replace(EVERYBODY, training=sealed_ints(range(10)), others=sealed_ints(range(10, 30)))
    settings = replace(SMALL, batch=1)
    trained = SplitFederation().train(
        tables(), rows, settings, Streams(1), Channel(), detector=detector
    )
    assert trained.course.steps == 12
    assert all(np.isfinite(score) for _, score in trained.course.scores)


def test_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        SplitSettings(steps=0)
    with pytest.raises(UsageError, match="no scores: no release defense"):
        train().release(np.arange(3), Channel(), Guard([Rounding(1)]))


def auxiliary() -> Auxiliary:
    grant = train(Pull()).offer(("active",))[0]
    assert isinstance(grant, Auxiliary)
    return grant


MEMORY = Memory(sealed(COLUMNS[:4, :2]), sealed(COLUMNS[:, :2]), sealed_ints(LABELS), 4, ())


def test_what_is_offered_are_records_that_do_not_train() -> None:
    grant = auxiliary()
    assert np.array_equal(grant.own, COLUMNS[30:, :2])
    assert np.array_equal(grant.passive, COLUMNS[30:, 2:])
    assert np.array_equal(grant.labels, LABELS[30:])
    pooled, _ = train(Pull(), passives=2).offer(("active", "passive-2"))
    assert isinstance(pooled, Auxiliary)
    assert np.array_equal(pooled.own, COLUMNS[30:][:, [0, 1, 4, 5]])
    assert np.array_equal(pooled.passive, COLUMNS[30:, 2:4])


@pytest.mark.parametrize("passives", [1, 2])
def test_the_view_holds_target_embeddings_only_and_travels(passives: int) -> None:
    channel = Channel()
    trained = train(Pull(), channel=channel, passives=passives)
    trained.release(np.arange(4), channel, OPEN)
    sent = np.concatenate(
        [p.embed(tables(passives).columns[name][:4]) for name, p in trained.passives.items()],
        axis=1,
    )
    granted = hand_out(SPLIT_HIJACK.grants, trained.offer(("active",)))
    received = channel.transcript.received_by("active")
    view = SPLIT_HIJACK.project(received, MEMORY, granted, SplitView)
    assert np.array_equal(view.embeddings, sent)
    assert view.evidence().shape == (4, 2 + 3 * passives)
    again = decode(encode(view))
    assert np.array_equal(again.evidence(), view.evidence())


def test_no_target_embeddings_no_view_and_no_grant_no_records() -> None:
    granted = hand_out(SPLIT_HIJACK.grants, (auxiliary(),))
    with pytest.raises(WireError, match="no embeddings"):
        SPLIT_HIJACK.project((), MEMORY, granted, SplitView)
    with pytest.raises(GrantError):
        _ = hand_out(frozenset({Ranges}), (auxiliary(),))[Auxiliary]


def test_the_sentence_says_that_the_protocol_is_broken() -> None:
    assert "breaks the protocol" in repr(SPLIT_HIJACK)
    assert "layer sizes" in repr(SPLIT_HIJACK)
    assert "complete records of other people" in repr(SPLIT_HIJACK)


def seat(**changes: Any) -> ActiveSeat:
    made = seat_of(tables(), EVERYBODY, SMALL, (), probed=False, granted=(auxiliary(),))
    return replace(made, **changes)


def player() -> FshaPlayer:
    return FeatureSpaceHijack().player(seat(), np.random.default_rng(7))


@dataclass(frozen=True)
class Shuffled:
    """Plays a hijacker that is told other labels and other rows."""

    hijacker: FeatureSpaceHijack
    name: str = "shuffled"

    def programme(self, seat: ActiveSeat, post: Post, rng: np.random.Generator) -> Programme[Any]:
        other = sealed_ints(1 - np.clip(seat.labels, 0, 1))
        schedule: tuple[Ints, ...] = tuple(sealed_ints(rows[::-1]) for rows in seat.schedule)
        told = replace(seat, labels=other, own=sealed(seat.own[::-1]), schedule=schedule)
        return self.hijacker.programme(told, post, rng)


def test_the_hijacker_ignores_rows_and_labels() -> None:
    readings = [
        train(hijacker, detector=detector).reading
        for hijacker in (FeatureSpaceHijack(), Shuffled(FeatureSpaceHijack()))
        for detector in (None, ProbeFrom(99, 99))
    ]
    assert len({encode(reading) for reading in readings}) == 1


def test_the_reconstruction_travels_and_answers_the_same() -> None:
    rng = np.random.default_rng(0)
    view = SplitView(MEMORY.target, 4, auxiliary(), sealed(rng.normal(size=(4, 3))))
    reading = player().reading()
    away = decode(encode(reading))
    assert np.array_equal(away.infer(view, rng).values, reading.infer(view, rng).values)
    wide = replace(view, own=sealed(np.zeros((4, 3))))
    with pytest.raises(AttackError, match="trained on 2 own columns and is shown 3"):
        reading.infer(wide, rng)


def test_the_settings_travel() -> None:
    made = FeatureSpaceHijack(decoder_hidden=(8,), penalty=10.0)
    assert decode(encode(made)) == made


def test_a_seat_without_the_records_it_needs_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(AttackError, match="needs auxiliary records: the threat model grants none"):
        FeatureSpaceHijack().player(seat(granted=()), rng)
    with pytest.raises(AttackError, match="all 5 passive columns, got 4"):
        FeatureSpaceHijack().player(seat(columns=(5,)), rng)


def test_critic_steers_towards_the_encoder() -> None:
    """A passive party that is all bias must be led to where the encoder's embeddings lie."""
    role, passive = player(), torch.tensor(auxiliary().passive)
    place: Floats = np.full((1, 3), 5.0)
    for _ in range(600):
        sent = sealed(np.repeat(place, 9, axis=0))
        batch = Batch(sealed_ints(range(9)), sent, None)
        place = place - 0.02 * role.respond(batch).sum(axis=0)
    with torch.no_grad():
        centre = role.workshop.encode(passive).numpy().mean(axis=0)
    assert np.linalg.norm(place - centre) < 0.2 * np.linalg.norm(np.full(3, 5.0) - centre)


def test_auxiliary_baselines() -> None:
    rng = np.random.default_rng(0)
    own = rng.normal(size=(40, 3))
    exact = own @ rng.normal(size=(3, 4)) + 1.5
    records = Auxiliary(sealed(own[:30]), sealed(exact[:30]), sealed_ints(np.zeros(30)))
    view = SplitView(sealed(own[30:]), 4, records, sealed(np.zeros((10, 2))))
    regression = AuxiliaryRegression().infer(view, rng).values
    assert abs(regression - exact[30:]).max() < 1e-3  # the weakest ridge that is tried is not 0
    mean = AuxiliaryMean().infer(view, rng).values
    assert abs(mean - exact[:30].mean(axis=0)).max() < 1e-12
