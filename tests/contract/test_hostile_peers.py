"""A certified peer that means harm: it cannot exhaust a party, replay, or read its errors."""

from __future__ import annotations

import json
import struct
import time
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

pytest.importorskip("grpc", reason="needs grpcio: pip install 'whatleaks[processes]'")
pytest.importorskip("cryptography", reason="needs cryptography: pip install 'whatleaks[processes]'")

import grpc
from test_processes import Pair, authority, joined, pair  # noqa: F401

from whatleaks.codec import encode
from whatleaks.errors import CryptoError, PeerLost, WireError
from whatleaks.wire.expected import Expected
from whatleaks.wire.mailbox import Mailbox
from whatleaks.wire.message import Message, Plain
from whatleaks.wire.node import Leaving, Node

pytestmark = pytest.mark.timeout(180)


def test_one_watch_per_peer(pair: Pair) -> None:  # noqa: F811
    with joined(pair) as (active, passive):
        for _ in range(12):
            with pytest.raises(grpc.RpcError) as refused:
                next(passive._calls["active"]["Watch"](b"", timeout=30.0))
            assert "watch" in refused.value.details()
        passive.send(1, "passive", "active", "output", Plain(np.ones(2)))
        active.wait(Expected(1, "passive", "output", (2,), True))


def test_calls_beyond_what_a_plan_needs_do_not_pile_up(pair: Pair) -> None:  # noqa: F811
    with joined(pair) as (active, passive):
        message = encode(Message(1, "passive", "active", "output", Plain(np.ones(2))))
        data = passive.enveloped("active", message)
        deliver = passive._calls["active"]["Deliver"]
        with active._news:  # nothing can be put into the mailbox: every call would wait
            calls = [deliver.future(data, timeout=120.0) for _ in range(60)]
            answered: list[grpc.Future] = []
            while len(answered) <= 40:  # the others wait as long as they may
                time.sleep(0.02)
                answered = [call for call in calls if call.done()]
            for call in calls:
                call.cancel()
        refused = sum(call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED for call in answered)
        assert refused > 40


def test_a_message_of_an_earlier_run_is_refused_as_such(pair: Pair) -> None:  # noqa: F811
    kept = []
    for _ in range(2):
        with joined(pair) as (_, passive):
            deliver = passive._calls["active"]["Deliver"]
            message = encode(Message(1, "passive", "active", "output", Plain(np.ones(2))))
            kept.append(passive.enveloped("active", message))
            if len(kept) == 1:
                deliver(kept[0])
                continue
            for old in (kept[0], message, b""):
                with pytest.raises(grpc.RpcError) as refused:
                    deliver(old)
                assert "another run" in refused.value.details()
            deliver(kept[1])


@pytest.mark.parametrize(
    "claims",
    [
        {"columns": 10**9},
        {"columns": -1},
        {"records": 1.5},
        {"records": True},
        {"predictions": 1 << 60},
        {"outputs": "2"},
        {"epochs": ("x",)},
        {"epochs": tuple(range(1000))},
        {"key": b"k" * 100_000},
        {"plan": "p" * 1000},
        {"ids": 7},
    ],
)
def test_an_introduction_that_no_plan_gives_is_refused(
    pair: Pair,  # noqa: F811
    claims: dict[str, Any],
) -> None:
    with pair.node("active"):
        stranger = pair.node("passive", **claims)
        with stranger, pytest.raises(PeerLost, match="did not let us join"):
            stranger.join(5.0)


def test_a_long_header_is_refused_before_it_is_read(pair: Pair) -> None:  # noqa: F811
    with joined(pair) as (_, passive):
        header = json.dumps({"t": [0] * 2000}).encode()
        data = b"WLK1" + struct.pack("<I", len(header)) + header
        with pytest.raises(grpc.RpcError) as refused:
            passive._calls["active"]["Deliver"](passive.enveloped("active", data))
        assert "header" in refused.value.details()


def test_the_text_of_an_error_stays_at_home(pair: Pair) -> None:  # noqa: F811
    def talk(node: Node) -> None:
        node.join()
        node.send(4, "passive", "active", "output", Plain(np.ones(2)))
        raise CryptoError("a number of size 3.14e+09 does not fit")

    def leave(node: Node) -> None:
        with pytest.raises(CryptoError), node:
            talk(node)

    with pair.node("active") as active:
        other = Thread(target=leave, args=(pair.node("passive"),))
        other.start()
        active.join()
        active.wait(Expected(4, "passive", "output", (2,), True))
        with pytest.raises(PeerLost) as lost:
            active.wait(Expected(5, "passive", "output", (2,), True))
        other.join()
    assert "3.14" not in str(lost.value)
    assert "CryptoError" in str(lost.value)
    assert "step 4" in str(lost.value)


@pytest.mark.parametrize(
    ("word", "heard"),
    [
        (Leaving("\x1b[2J\x1b]0;owned\x07" + "x" * 2000, ""), r"stopped: \?\[2J\?\]0;owned\?xx"),
        (Leaving({"reason": 1}, {"lost": 2}), "without a word"),  # type: ignore[arg-type]
    ],
    ids=["controls", "other types"],
)
def test_a_last_word_is_a_short_printable_line(
    pair: Pair,  # noqa: F811
    word: Leaving,
    heard: str,
) -> None:
    def leave(node: Node) -> None:
        with node:
            node.join()
            node._last_word = word
            node._leaving.set()
            gone.wait(10.0)

    gone = Event()
    with pair.node("active") as active:
        other = Thread(target=leave, args=(pair.node("passive"),))
        other.start()
        active.join()
        with pytest.raises(PeerLost, match=heard) as lost:
            active.wait(Expected(5, "passive", "output", (2,), True))
        gone.set()
        other.join()
    assert str(lost.value).isprintable()
    assert len(str(lost.value)) < 400


def test_messages_that_wait_are_counted_in_bytes() -> None:
    box = Mailbox("active", largest=1000)
    message = Message(0, "passive", "active", "output", Plain(np.ones(1)))
    for step in range(4):
        box.put(replace(message, step=step), 900)
    with pytest.raises(WireError, match="wait"):
        box.put(replace(message, step=4), 900)
    box.take(Expected(0, "passive", "output", (1,), True))
    box.put(replace(message, step=5), 900)


@pytest.mark.parametrize("kind", ["\x1b[31mred", "k" * 500])
def test_a_kind_that_cannot_be_printed_is_refused(kind: str) -> None:
    with pytest.raises(WireError):
        Mailbox("active").put(Message(0, "passive", "active", kind, Plain(np.ones(1))), 9)


def test_limits_follow_from_the_plan(tmp_path: Path, authority: Path) -> None:  # noqa: F811
    from test_processes import SMALL, Federation

    from whatleaks.federation.processes.party_config import load_config
    from whatleaks.federation.regression.process import RegressionProcess
    from whatleaks.wire.transcript import Transcript

    Federation(tmp_path, authority, ("passive",), "linear", SMALL)
    config = load_config(tmp_path / "active" / "party.toml", "active")
    process = RegressionProcess(config, False, Transcript(), print)
    peers = {name: process.hello("passive") for name in ("passive", "arbiter")}
    assert process._limit(peers) < 1 << 17  # 64 MiB before
