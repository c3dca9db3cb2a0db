"""An isolated hijacker plays like one in this process, and whatever it breaks is one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from whatleaks.arrays import sealed, sealed_ints
from whatleaks.attacks.hijack.fsha import FeatureSpaceHijack
from whatleaks.codec import encode, travels
from whatleaks.data.holdings import Holdings, Rows
from whatleaks.defenses.protocol import OPEN
from whatleaks.detectors.splitguard import SplitGuard
from whatleaks.errors import AttackError, IsolationError
from whatleaks.federation.isolated import isolated_programme
from whatleaks.federation.roles import ActiveSeat, Hijacker, answer, next_batch
from whatleaks.federation.split.run import SplitFederation
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.models.torch_network import Layers
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel
from whatleaks.wire.expected import Post, Programme

torch.set_num_threads(1)
SMALL = SplitSettings(steps=6, batch=10, bottom=Layers((5,), 3))


@dataclass(frozen=True)
class Alone:
    """Plays another hijacker from a fresh interpreter."""

    hijacker: Any

    @property
    def name(self) -> str:
        return str(self.hijacker.name)

    def programme(self, seat: ActiveSeat, post: Post, rng: np.random.Generator) -> Programme[Any]:
        return isolated_programme(self.hijacker, seat, post, rng)


def staged(passives: int = 1, auxiliary: int = 9) -> tuple[Holdings, Rows]:
    rng = np.random.default_rng(0)
    names = ("active", "passive", "passive-2")[: 1 + passives]
    columns = {name: sealed(rng.uniform(size=(60, 2 + i))) for i, name in enumerate(names)}
    labels = sealed_ints(rng.integers(0, 2, 60))
    words = {name: tuple(map(str, range(x.shape[1]))) for name, x in columns.items()}
    none = sealed_ints([])
    rows = Rows(sealed_ints(range(40)), none, none, sealed_ints(range(40, 40 + auxiliary)), none)
    return Holdings(columns, words, labels, 2), rows


def play(
    hijacker: Hijacker, settings: SplitSettings = SMALL, passives: int = 1, watched: bool = False
) -> tuple[Any, Channel]:
    holdings, rows = staged(passives)
    channel = Channel()
    trained = SplitFederation().train(
        holdings,
        rows,
        settings,
        Streams(3),
        channel,
        hijacker=hijacker,
        detector=SplitGuard(2, start_after=2, fake_share=0.5, window=2) if watched else None,
    )
    trained.release(sealed_ints(range(50, 60)), channel, OPEN)
    return trained, channel


@pytest.mark.parametrize(
    ("settings", "passives", "watched"),
    [(SMALL, 1, False), (SMALL, 2, False), (SplitSettings(steps=60, batch=10), 1, True)],
)
def test_isolated_gives_the_bytes_of_one_process(
    settings: SplitSettings, passives: int, watched: bool
) -> None:
    here, heard = play(FeatureSpaceHijack(), settings, passives, watched)
    away, relayed = play(Alone(FeatureSpaceHijack()), settings, passives, watched)
    assert encode(here.reading) == encode(away.reading)
    assert here.stop == away.stop
    assert (here.stop is not None) == watched  # the watched one is halted, and ends as it should
    for name in ("active", "passive"):
        assert encode(heard.transcript.received_by(name)) == encode(
            relayed.transcript.received_by(name)
        )


@travels
@dataclass(frozen=True)
class Taken:
    """What the hijacker of this file takes home: all that it could find."""

    found: tuple[str, ...]
    name: str = "nosy"


@travels
@dataclass(frozen=True)
class Nosy:
    """Looks around, then answers with what it is sent."""

    name: str = "nosy"

    def programme(self, seat: ActiveSeat, post: Post, rng: np.random.Generator) -> Programme[Any]:
        print("chatter")  # must not get between the messages
        for step in range(len(seat.schedule)):
            batch = yield from next_batch(seat, step, post)
            if batch is None:
                break
            answer(seat, step, batch.embeddings, post)
        tests = [name for name in sys.modules if name.startswith(("pytest", "_pytest"))]
        secrets = [name for name in os.environ if "SECRET" in name]
        return Taken((*os.listdir(), *secrets, *tests))


def test_it_starts_with_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "x")
    assert len(play(Nosy())[0].reading.found) > 2
    # The child imports this file to know its classes, and with it pytest: nothing else is there.
    found = play(Alone(Nosy()))[0].reading.found
    assert [name for name in found if "pytest" not in name] == []


@travels
@dataclass(frozen=True)
class Broken:
    """Breaks in the way that it is told, after one batch."""

    how: str
    name: str = "broken"

    def programme(self, seat: ActiveSeat, post: Post, rng: np.random.Generator) -> Programme[Any]:
        batch = yield from next_batch(seat, 0, post)
        assert batch is not None
        ways: dict[str, Callable[[], object]] = {
            "refuses": lambda: _raise(AttackError("broken cannot work here")),
            "raises": lambda: _raise(RuntimeError("a bug")),
            "dies": lambda: os._exit(7),
            "lies": lambda: post.send(0, "passive", "active", "gradients", _plain(batch)),
            "strange": lambda: None,
        }
        ways[self.how]()
        return object()


def _raise(error: Exception) -> None:
    raise error


def _plain(batch: Any) -> Any:
    from whatleaks.wire.message import Plain

    return Plain(batch.embeddings)


@pytest.mark.parametrize(
    ("how", "error", "why"),
    [
        ("refuses", AttackError, "^broken cannot work here$"),
        ("raises", IsolationError, "hijacker broken died: RuntimeError: a bug"),
        ("dies", IsolationError, "hijacker broken died: it left with code 7"),
        ("lies", IsolationError, "nonsense: a message from 'passive' to 'active'"),
        ("strange", AttackError, "object cannot travel"),
    ],
)
def test_a_child_that_breaks_is_one_line(how: str, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why) as caught:
        play(Alone(Broken(how)))
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_records_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from whatleaks.federation import isolated

    for data, why in (
        (b"\x04" + b"\x00" * 7 + b"what", "nonsense: these bytes are not a whatleaks message"),
        (b"\xff" * 8, "nonsense: a record of"),
        (b"\x09" + b"\x00" * 7 + b"short", "died"),
    ):
        # It hears its task out before it answers: who leaves earlier has died, by chance or not.
        talk = (
            "import sys; told, say = sys.stdin.buffer, sys.stdout.buffer; say.write(b'P'); "
            "say.flush(); told.read(int.from_bytes(told.read(8), 'little')); "
            f"say.write({data!r})"
        )
        monkeypatch.setattr(
            isolated, "command", lambda *_, talk=talk: [sys.executable, "-I", "-c", talk]
        )
        with pytest.raises(IsolationError, match=why):
            play(Alone(FeatureSpaceHijack()))


def test_a_hijacker_without_records_says_so_from_its_own_process() -> None:
    holdings, _ = staged()
    seat = ActiveSeat(
        holdings.columns["active"], holdings.labels, 2, ("passive",), (3,), (SMALL.bottom,), (3,), (), False
    )  # fmt: skip
    programme = isolated_programme(
        FeatureSpaceHijack(), seat, Channel(), np.random.Generator(np.random.PCG64(0))
    )
    with pytest.raises(AttackError, match="needs auxiliary records"):
        next(programme)
