"""Messages that are late, repeated, out of order, too large or of another shape are refused by name."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whatleaks.codec import decode, encode
from whatleaks.errors import WireError
from whatleaks.wire.channel import Channel
from whatleaks.wire.exchange import Exchange
from whatleaks.wire.expected import Expected
from whatleaks.wire.mailbox import MOST_WAITING, Mailbox
from whatleaks.wire.message import Cipher, Message, Plain

GOOD = Message(3, "passive", "active", "output", Plain(np.zeros(2)))
DUE = Expected(3, "passive", "output", (2,), True)


def delivered(message: Message, due: Expected = DUE) -> Any:
    box = Mailbox("active", largest=1000)
    box.put(message, 10)
    return box.take(due)


def test_the_expected_message_is_taken() -> None:
    assert delivered(GOOD) is GOOD.payload


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"step": 2}, "too late"),
        ({"step": 4}, "out of order"),
        ({"kind": "gradient"}, "out of order"),
        ({"payload": Plain(np.zeros(3))}, r"shape \(3,\): it must be \(2,\)"),
        ({"payload": Plain(np.zeros((2, 1)))}, r"shape \(2, 1\)"),
        ({"payload": Plain(np.array([0.0, np.nan]))}, "not finite"),
        ({"payload": Plain(np.array([0.0, np.inf]))}, "not finite"),
        ({"payload": Cipher("s", (2,), b"")}, "not plain"),
        ({"receiver": "arbiter"}, "it is for 'arbiter'"),
        ({"step": "3"}, "no proper step"),
        ({"step": True}, "no proper step"),
        ({"kind": 3}, "no proper step"),
        ({"payload": None}, "without a payload"),
        ({"payload": Plain(np.zeros(2, dtype=np.int8))}, "float64"),
        ({"payload": Plain("zero")}, "float64"),
        ({"payload": Cipher("s", 2, b"")}, "malformed"),
    ],
)
def test_others_are_refused_by_name(change: dict[str, Any], why: str) -> None:
    with pytest.raises(WireError, match=why):
        delivered(replace(GOOD, **change))


def test_a_plain_message_in_place_of_a_ciphertext_is_refused() -> None:
    with pytest.raises(WireError, match="not encrypted"):
        delivered(GOOD, replace(DUE, readable=False))


def test_repeated_late_and_large_messages_stop_at_the_door() -> None:
    box = Mailbox("active", largest=1000)
    box.put(GOOD, 1000)
    with pytest.raises(WireError, match="'passive' sent 'output' of step 3 repeated"):
        box.put(GOOD, 10)
    with pytest.raises(WireError, match="too late"):
        box.put(replace(GOOD, step=1), 10)
    with pytest.raises(WireError, match="1001 bytes"):
        box.put(replace(GOOD, step=4), 1001)
    assert box.take(DUE) is GOOD.payload
    with pytest.raises(WireError, match="repeated"):
        box.put(GOOD, 10)
    for step in range(4, 4 + MOST_WAITING):
        box.put(replace(GOOD, step=step), 10)
    with pytest.raises(WireError, match="keep in step"):
        box.put(replace(GOOD, step=1000), 10)


def test_programmes_that_wait_for_each_other_are_named() -> None:
    def waiting(other: str) -> Generator[Expected, Any, None]:
        yield Expected(0, other, "hello", (1,), True)

    with pytest.raises(WireError, match="a for 'hello' of step 0 from 'b'; b for"):
        Exchange(Channel()).drive({"a": waiting("b"), "b": waiting("a")})


@given(at=st.integers(0, 400), byte=st.integers(0, 255))
@settings(max_examples=400, deadline=None)
def test_damaged_bytes_end_in_a_wire_error_or_a_value(at: int, byte: int) -> None:
    data = bytearray(encode(GOOD))
    data[at % len(data)] = byte
    with contextlib.suppress(WireError):
        decode(bytes(data))


@pytest.mark.parametrize(
    "header",
    [
        b'{"a":"float64"}',
        b'{"a":"float64","s":[1000000000000]}',
        b'{"a":["float64"],"s":[1]}',
        b'{"f":3}',
        b'{"b":"x"}',
        b'{"d":3}',
        b'{"c":["Message"],"v":[]}',
        b"[" * 100000,
        b'{"t":[' * 3000 + b"]}" * 3000,
    ],
)
def test_headers_made_to_break_the_decoder_are_refused(header: bytes) -> None:
    with pytest.raises(WireError):
        decode(b"WLK1" + len(header).to_bytes(4, "little") + header)
