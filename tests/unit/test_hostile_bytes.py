"""Bytes from a hostile partner: only our own errors, little memory, little time."""

from __future__ import annotations

import json
import struct
import time
import tracemalloc

import numpy as np
import pytest

from mutations import mutated
from whatleaks.codec import decode, encode
from whatleaks.crypto.ciphers import _prime
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

BITS = {"paillier": 512, "okamoto-uchiyama": 1024}


@pytest.fixture(scope="module", params=sorted(BITS))
def backend(request: pytest.FixtureRequest) -> str:
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


def test_a_short_message_that_declares_many_rows_takes_no_memory(backend: str) -> None:
    public, _ = generate_keys(backend, BITS[backend], insecure_test_key=True)
    good = public.outgoing(public.encrypt(np.ones(20)))
    many = 8_000_000
    forged_rows = good[:12] + struct.pack("<I", many) + good[16:]
    tracemalloc.start()
    try:
        for count in (20, many):
            with pytest.raises(CryptoError, match=r"announces|have \d+ bytes"):
                public.incoming(forged_rows, count, public.numbers.fraction, public.numbers.bits)
        assert tracemalloc.get_traced_memory()[1] < 1 << 16
    finally:
        tracemalloc.stop()


def test_a_number_without_an_inverse_is_refused(backend: str) -> None:
    public, _ = generate_keys(backend, BITS[backend], insecure_test_key=True)
    good = public.outgoing(public.encrypt(np.ones(3)))
    size = (len(good) - 16) // 3
    form = (3, public.numbers.fraction, public.numbers.bits)
    n = int.from_bytes(public.key_bytes[: BITS[backend] // 8], "big")
    modulus = n**2 if backend == "paillier" else n
    for number in (0, modulus, modulus - n if backend == "paillier" else modulus):
        forged_number = good[:16] + number.to_bytes(size, "big") + good[16 + size :]
        with pytest.raises(CryptoError, match=r"out of range|no inverse"):
            public.incoming(forged_number, *form)


def test_public_keys_of_another_form_are_refused(backend: str) -> None:
    bits = BITS[backend]
    public, _ = generate_keys(backend, bits, insecure_test_key=True)
    size, key = bits // 8, public.key_bytes
    n, rest = int.from_bytes(key[:size], "big"), key[size:]
    assert load_public(backend, bits, key).fingerprint == public.fingerprint
    with pytest.raises(CryptoError, match="bytes, not"):
        load_public(backend, bits + 64, key)
    with pytest.raises(CryptoError, match="bytes, not"):
        load_public(backend, bits, key + b"x" * 10**6)
    for other in (n >> 1, n + 1, n // 3 * 3, 0):
        with pytest.raises(CryptoError, match="must have"):
            load_public(backend, bits, other.to_bytes(size, "big") + rest)
    # With these moduli everybody could decrypt: a prime, its square, its fourth power.
    for power in (1, 2, 4):
        prime = int(_prime(bits // power))
        while (prime**power).bit_length() < bits:
            prime = int(_prime(bits // power))
        with pytest.raises(CryptoError, match="a prime or a power"):
            load_public(backend, bits, (prime**power).to_bytes(size, "big") + rest)
    with pytest.raises(CryptoError, match="use one of paillier, okamoto-uchiyama"):
        load_public("heu", bits, key)
    if rest:
        for g in (0, 1, n):
            with pytest.raises(CryptoError, match="generator"):
                load_public(backend, bits, key[:size] + g.to_bytes(size, "big"))
