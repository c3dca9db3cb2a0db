"""The codec: what goes in comes out, sealed; what is not ours is refused."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from whatleaks.arrays import is_sealed
from whatleaks.codec import decode, encode
from whatleaks.errors import WireError
from whatleaks.wire.message import Cipher, Message, Plain

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def same(a: object, b: object) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


@given(trees)
@settings(max_examples=200, deadline=None)
def test_trees_survive(tree: object) -> None:
    assert same(decode(encode(tree)), tree)


@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int64, np.int8, np.bool_]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    )
)
@settings(deadline=None)
def test_arrays_survive_and_are_sealed(array: np.ndarray) -> None:
    out = decode(encode(array))
    assert out.dtype == array.dtype
    assert out.shape == array.shape
    assert out.tobytes() == np.ascontiguousarray(array).tobytes()
    assert is_sealed(out)


def test_a_slice_does_not_bring_its_base() -> None:
    whole = np.arange(100.0).reshape(10, 10)
    out = decode(encode(Plain(whole[2:3, 4:5])))
    assert out.values.base is None
    assert out.values.tolist() == [[24.0]]


def test_messages_survive() -> None:
    message = Message(3, "a", "b", "k", Cipher("paillier", (2, 1), b"\x00\xff" * 9))
    assert decode(encode(message)) == message


@given(st.binary(max_size=60))
@settings(deadline=None)
def test_junk_is_refused(junk: bytes) -> None:
    with pytest.raises(WireError):
        decode(junk)


@given(st.integers(0, 10_000), st.integers(0, 255))
@settings(deadline=None)
def test_a_damaged_message_never_raises_anything_else(at: int, value: int) -> None:
    data = bytearray(encode(Message(1, "a", "b", "k", Plain(np.ones((2, 3))))))
    data[at % len(data)] = value
    with contextlib.suppress(WireError):
        decode(bytes(data))


def test_unknown_things_do_not_travel() -> None:
    @dataclass(frozen=True)
    class Private:
        x: int

    with pytest.raises(WireError, match="does not travel"):
        encode(Private(1))
    with pytest.raises(WireError, match="cannot travel"):
        encode(np.array(["text"]))
    with pytest.raises(WireError, match="cannot travel"):
        encode(object())


@pytest.mark.parametrize(
    "header",
    [
        b'{"a":"float64"}',
        b'{"a":"float64","s":[-1]}',
        b'{"a":"float64","s":[1000000000000]}',
        b'{"a":"object","s":[1]}',
        b'{"b":"x"}',
        b'{"c":"Plain"}',
        b'{"c":["Plain"],"v":[]}',
        b'{"f":7}',
        b'{"d":[1]}',
        b'{"t":3}',
        b'{"c":"Plain","v":[["values",{"a":"float64","s":[1]}],["more",1]]}',
        b"[1]",
        b'{"t":[' * 5000 + b"1" + b"]}" * 5000,
    ],
)
def test_a_forged_header_is_a_wire_error(header: bytes) -> None:
    import struct

    with pytest.raises(WireError):
        decode(b"WLK1" + struct.pack("<I", len(header)) + header)


def test_cut_and_padded_messages_are_refused() -> None:
    data = encode(Plain(np.ones(4)))
    for broken in (data[:-1], data[:6], data + b"x", b"XXXX" + data[4:]):
        with pytest.raises(WireError):
            decode(broken)
