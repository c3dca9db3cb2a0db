"""Channel and transcript: only bytes cross, and everybody gets only their own."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from whatleaks.errors import WireError
from whatleaks.wire.channel import Channel
from whatleaks.wire.message import Cipher, Plain
from whatleaks.wire.transcript import Transcript


def test_a_live_tensor_loses_its_graph() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    h = torch.nn.Linear(3, 2)(x)
    received = Channel().send_plain(0, "a", "b", "embeddings", h.detach().numpy())
    assert type(received) is np.ndarray
    assert received.base is None
    assert not received.flags.writeable


def test_the_sender_cannot_change_what_was_received() -> None:
    values = np.ones(3)
    received = Channel().send_plain(0, "a", "b", "k", values)
    values[:] = 7.0
    assert received.tolist() == [1.0, 1.0, 1.0]


def test_received_by_gives_own_messages_in_order() -> None:
    channel = Channel()
    channel.send_plain(1, "a", "b", "first", [1.0])
    channel.send_plain(2, "a", "c", "other", [2.0])
    channel.send_cipher(3, "c", "b", "second", Cipher("s", (1,), b"x"))
    got = channel.transcript.received_by("b")
    assert [(m.step, m.sender, m.kind) for m in got] == [(1, "a", "first"), (3, "c", "second")]
    assert isinstance(got[0].payload, Plain)
    assert got[0].payload.readable
    assert not got[1].payload.readable
    assert channel.transcript.received_by("nobody") == ()


def test_traffic_counts_everything_even_what_is_not_kept() -> None:
    transcript = Transcript(listeners=["b"])
    channel = Channel(transcript)
    for step in range(3):
        channel.send_plain(step, "a", "c", "outputs", np.zeros(4))
    (traffic,) = transcript.traffic()
    assert (traffic.sender, traffic.receiver, traffic.kind, traffic.count) == (
        "a",
        "c",
        "outputs",
        3,
    )
    assert traffic.size > 3 * 32
    with pytest.raises(WireError, match="did not keep"):
        transcript.received_by("c")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused_by_name(bad: float) -> None:
    with pytest.raises(WireError, match="a sent 'outputs' to b"):
        Channel().send_plain(0, "a", "b", "outputs", [1.0, bad])
