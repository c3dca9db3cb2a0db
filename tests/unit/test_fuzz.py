"""The fuzzer: a bounded time on every run, always from the same seeds; what it finds becomes an example."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mutations import corpus, mutated, mutated_message
from whatleaks.codec import decode, encode
from whatleaks.crypto.keys import generate_keys, load_public
from whatleaks.errors import WhatleaksError, WireError

# The same examples every time: a red run is red again. ``benchmarks/hostile_bytes.py`` runs longer.
SAME = settings(max_examples=400, derandomize=True, deadline=None, database=None)
MESSAGES = corpus()
BITS = {"paillier": 512, "okamoto-uchiyama": 1024}


@given(st.integers(0, len(MESSAGES) - 1), st.integers(0, 2**32))
@example(4, 0)  # Forest
@example(7, 0)  # BranchGuess
@SAME
def test_a_mutated_message_is_a_message_or_a_wire_error(which: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(5):
        with contextlib.suppress(WireError):
            read = decode(mutated_message(MESSAGES[which], rng))
            assert encode(decode(encode(read))) == encode(read)


@pytest.fixture(scope="module", params=sorted(BITS))
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_mutated_ciphertexts_and_keys_raise_only_our_errors(backend: str) -> None:
    bits = BITS[backend]
    public, secret = generate_keys(backend, bits, insecure_test_key=True)
    form = (public.numbers.fraction, public.numbers.bits)
    good = public.outgoing(public.encrypt(np.array([1.5, -2.0, 0.25])))

    @given(st.integers(0, 2**32))
    @settings(SAME, max_examples=120)
    def fuzz(seed: int) -> None:
        rng = np.random.default_rng(seed)
        with contextlib.suppress(WhatleaksError):
            secret.decrypt(public.incoming(mutated(good, rng), 3, *form))
        if seed % 6:
            return  # a key takes a hundred times as long
        with contextlib.suppress(WhatleaksError):
            other = load_public(backend, bits, mutated(public.key_bytes, rng))
            other.outgoing(other.encrypt(np.ones(1)))

    fuzz()
