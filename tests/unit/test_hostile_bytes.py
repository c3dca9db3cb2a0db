"""Bytes from a hostile partner: only our own errors, little memory, little time."""

from __future__ import annotations

import json
import struct
import time

import numpy as np
import pytest

from mutations import mutated
from whatleaks.codec import decode, encode
from whatleaks.crypto.keys import generate_keys, load_public
from whatleaks.errors import CryptoError, WhatleaksError, WireError


def forged(tree: object) -> bytes:
    """A message with this header and no arrays."""
    header = json.dumps(tree).encode()
    return b"WLK1" + struct.pack("<I", len(header)) + header


@pytest.mark.parametrize("name", ["Forest", "BranchGuess", "Tree"])
def test_a_record_with_fields_of_other_types_is_a_wire_error(name: str) -> None:
    from whatleaks import codec
    from whatleaks.catalog import cards

    cards("attack")
    cls = codec._CLASSES.get(name)
    if cls is None:
        pytest.skip(f"{name} does not travel")
    for value in (None, 3, "text", {"t": [1, 2]}):
        tree = {"c": name, "v": [[f, value] for f in cls.__dataclass_fields__]}
        with pytest.raises(WireError):
            decode(forged(tree))


def test_big_endian_arrays_keep_their_numbers() -> None:
    for kind in (">f8", ">i8", ">f4", ">i4"):
        array = np.arange(-3, 4).astype(kind)
        np.testing.assert_array_equal(decode(encode(array)), array)


def test_keys_that_are_not_text_are_refused_both_ways() -> None:
    with pytest.raises(WireError, match="text"):
        encode({1: "a", "1": "b"})
    for key in (1, 1.5, None, True):
        with pytest.raises(WireError):
            decode(forged({"d": [[key, 1]]}))


def test_a_key_or_field_that_comes_twice_is_refused() -> None:
    with pytest.raises(WireError, match="twice"):
        decode(forged({"d": [["a", 1], ["a", 2]]}))
    with pytest.raises(WireError):
        decode(forged({"c": "Plain", "v": [["values", 1], ["values", 2]]}))


def test_colliding_integer_keys_take_no_time() -> None:
    prime = (1 << 61) - 1  # Python's integers have their value modulo this as their hash
    data = forged({"d": [[i * prime, 0] for i in range(30_000)]})
    start = time.process_time()
    with pytest.raises(WireError):
        decode(data)
    assert time.process_time() - start < 3.0  # a dictionary of these takes 8 s


def test_truth_values_are_no_sizes() -> None:
    for tree in ({"b": True}, {"a": "bool", "s": [True]}):
        header = json.dumps(tree).encode()
        with pytest.raises(WireError):
            decode(b"WLK1" + struct.pack("<I", len(header)) + header + b"\1")


# Ciphertexts and keys: 1,194 of 9,000 and 161 of 1,200 raised something that is not ours.

BITS = {"heu-paillier": 512, "heu-ou": 1024, "phe-paillier": 512}


@pytest.fixture(scope="module", params=sorted(BITS))
def backend(request: pytest.FixtureRequest) -> str:
    pytest.importorskip("heu" if request.param.startswith("heu") else "phe")
    return str(request.param)


def test_damaged_ciphertexts_raise_only_our_errors(backend: str) -> None:
    public, secret = generate_keys(backend, BITS[backend], insecure_test_key=True)
    good = public.outgoing(public.encrypt(np.array([1.5, -2.0, 0.25])))
    rng = np.random.default_rng(1)
    fraction, bits = public.numbers.fraction, public.numbers.bits
    for _ in range(150):
        try:
            read = public.incoming(mutated(good, rng), 3, fraction, bits)
            shown = public.outgoing(public.subtract(public.add(read, read), read))
            public.matmul_plain(np.array([[0.5, -1.0, 2.0]]), read)
            secret.decrypt(public.incoming(shown, 3, fraction, bits + 2))
        except WhatleaksError:
            continue


def test_damaged_public_keys_raise_only_our_errors(backend: str) -> None:
    public, _ = generate_keys(backend, BITS[backend], insecure_test_key=True)
    rng = np.random.default_rng(2)
    for _ in range(15):
        try:
            other = load_public(backend, BITS[backend], mutated(public.key_bytes, rng))
            other.outgoing(other.encrypt(np.array([1.0, 2.0])))
        except WhatleaksError:
            continue


def test_a_short_message_that_declares_many_rows_takes_no_memory() -> None:
    pytest.importorskip("heu")
    public, _ = generate_keys("heu-paillier", 512, insecure_test_key=True)
    good = public.outgoing(public.encrypt(np.ones(20)))
    start = good.index(b"\x94\x14\x01\x02\xdc\x00\x14")
    rows = b"\x94\xce" + struct.pack(">I", 8_000_000) + b"\x01\x02\xdc\x00\x14"
    forged_rows = bytearray(good)
    forged_rows[start : start + 7] = rows
    del forged_rows[len(good) :]
    with pytest.raises(CryptoError, match=r"layout|numbers"):
        public.incoming(bytes(forged_rows), 20, public.numbers.fraction, public.numbers.bits)
