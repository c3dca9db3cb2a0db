"""A recorded run in place of a live one: the same view by bytes, the same records, or a refusal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from whatleaks.arrays import Ints, sealed, sealed_ints
from whatleaks.attacks.equality_solving import EqualitySolving
from whatleaks.catalog import card
from whatleaks.codec import encode
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import OPEN, Guard
from whatleaks.defenses.rounding import Rounding
from whatleaks.errors import UsageError
from whatleaks.federation.additive.run import AdditiveFederation, AdditiveTrained
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.federation.imported.run import Imported
from whatleaks.federation.protocol import Trained
from whatleaks.seeds import Streams
from whatleaks.threat.grants import hand_out
from whatleaks.threat.model import Memory
from whatleaks.threat.views.prediction import WhiteBoxLinearView
from whatleaks.wire.channel import Channel
from whatleaks.wire.transcript import Transcript

TARGETS = sealed_ints([49, 41, 44, 47])


def holdings() -> Holdings:
    rng = np.random.default_rng(0)
    columns = {"active": sealed(rng.uniform(size=(50, 4))), "passive": sealed(rng.random((50, 2)))}
    names = {"active": tuple("abcd"), "passive": tuple("ef")}
    return Holdings(columns, names, sealed_ints(rng.integers(0, 3, 50)), 3)


def live() -> AdditiveTrained:
    none = sealed_ints([])
    rows = Rows(sealed_ints(range(40)), TARGETS, none, none, TARGETS)
    return AdditiveFederation().train(
        holdings(), rows, AdditiveSettings(steps=30), Streams(2), Channel(Transcript([]))
    )


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[AdditiveTrained, Imported]:
    """Record a release, save it, load it again as if it came from elsewhere."""
    trained, channel = live(), Channel()
    trained.release(TARGETS, channel, OPEN)
    channel.transcript.save(tmp_path / "heard.wlk")
    transcript = Transcript.load(tmp_path / "heard.wlk")
    kept = {"active": trained.memory("active")}  # its own part of the model
    return trained, Imported(transcript, holdings(), TARGETS, trained.offer(("active",)), kept)


def view_bytes(trained: Trained, rows: Ints) -> bytes:
    """What the white-box threat shows, as bytes."""
    threat = card("threat", "white-box").part
    channel = Channel(Transcript(["active"]))
    trained.release(rows, channel, OPEN)
    held = holdings()
    memory = Memory(
        held.joined(("active",), rows),
        held.joined(("active",), sealed_ints(range(40))),
        sealed_ints(held.labels[:40]),
        2,
        trained.memory("active"),
    )
    granted = hand_out(threat.grants, trained.offer(("active",)))
    received = channel.transcript.received_by("active")
    view = threat.project(received, memory, granted, WhiteBoxLinearView)
    EqualitySolving().infer(view, np.random.default_rng(0))
    return encode(view)


def test_threat_and_attack_cannot_tell_the_difference(
    recorded: tuple[AdditiveTrained, Imported],
) -> None:
    trained, imported = recorded
    assert view_bytes(imported, TARGETS) == view_bytes(trained, TARGETS)
    classes = trained.classes(TARGETS, OPEN)
    assert np.array_equal(imported.classes(TARGETS, OPEN), classes)
    assert "recorded elsewhere" in imported.notes()[0]


def test_some_of_the_records_in_another_order(recorded: tuple[AdditiveTrained, Imported]) -> None:
    trained, imported = recorded
    some = sealed_ints([47, 49])
    assert view_bytes(imported, some) == view_bytes(trained, some)
    for rows in ([47, 40], [0], [50]):
        with pytest.raises(UsageError, match="not about"):
            imported.release(sealed_ints(rows), Channel(), OPEN)


def test_what_cannot_be_had_of_a_recording_is_refused(
    recorded: tuple[AdditiveTrained, Imported],
) -> None:
    _, imported = recorded
    with pytest.raises(UsageError, match="has left the house"):
        imported.release(TARGETS, Channel(), Guard([Rounding(1)]))
    with pytest.raises(UsageError, match="recorded for active, not for active and passive"):
        imported.offer(("active", "passive"))
    with pytest.raises(UsageError, match="4 rows, but is said to be about 3 records"):
        replace(imported, rows=TARGETS[:3])
    with pytest.raises(UsageError, match="more than once"):
        replace(imported, rows=sealed_ints([49, 49, 44, 47]))
    with pytest.raises(UsageError, match="no message to active"):
        replace(imported, transcript=Transcript())
