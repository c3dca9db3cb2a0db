"""Throw mutated messages, ciphertexts and keys at the readers, and count what is not our own error.

    python benchmarks/hostile_bytes.py [--messages 150000] [--ciphertexts 9000] [--keys 1200]

Prints for each how many were read, how many were refused by one of our errors, and how many
raised anything else (there must be none), with the worst processor time and memory of one. Then
the same for the messages that used to be worst. Numbers are in docs/security.md.
"""

from __future__ import annotations

import argparse
import json
import resource
import struct
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from mutations import corpus, mutated, mutated_message
from whatleaks.codec import decode
from whatleaks.crypto.additive import PublicKey, SecretKey
from whatleaks.crypto.keys import generate_keys, load_public
from whatleaks.errors import WhatleaksError

BITS = {"paillier": 512, "okamoto-uchiyama": 1024}


class Tally:
    """What happened, and the worst of it."""

    def __init__(self, name: str, memory: bool) -> None:
        self.name = name
        self.memory = memory
        self.seen: Counter[str] = Counter()
        self.slowest = 0.0
        self.largest = 0

    def attempt(self, work: Callable[[], object]) -> None:
        """Run one attempt and note how it ended."""
        if self.memory:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
        start = time.process_time()
        try:
            work()
            self.seen["read"] += 1
        except WhatleaksError:
            self.seen["refused"] += 1
        except Exception as error:  # noqa: BLE001
            self.seen[f"NOT OURS: {type(error).__name__}"] += 1
        self.slowest = max(self.slowest, time.process_time() - start)
        if self.memory:
            peak = tracemalloc.get_traced_memory()[1]
            self.largest = max(self.largest, peak - before)

    def __str__(self) -> str:
        memory = f", worst memory {self.largest / 2**10:.0f} KiB" if self.memory else ""
        worst = f"worst processor time {1e3 * self.slowest:.1f} ms"
        return f"{self.name}: {self.seen.total()} {dict(self.seen)}, {worst}{memory}"


def messages(count: int) -> Tally:
    """Mutate messages of every kind."""
    kinds, rng, tally = corpus(), np.random.default_rng(0), Tally("messages", memory=True)
    tracemalloc.start()
    for number in range(count):
        data = mutated_message(kinds[number % len(kinds)], rng)
        tally.attempt(lambda data=data: decode(data))
    tracemalloc.stop()
    return tally


def use_ciphertext(
    public: PublicKey, secret: SecretKey, form: tuple[int, int], data: bytes
) -> None:
    """Read a vector, compute with it, and decrypt the result."""
    read = public.incoming(data, 3, *form)
    public.matmul_plain(np.array([[0.5, -1.0, 2.0]]), read)
    secret.decrypt(public.subtract(public.add(read, read), read))


def ciphertexts(count: int) -> Tally:
    """Mutate ciphertexts of every scheme; what is read is used and decrypted."""
    tally = Tally("ciphertexts", memory=False)
    for backend, bits in BITS.items():
        public, secret = generate_keys(backend, bits, insecure_test_key=True)
        form = (public.numbers.fraction, public.numbers.bits)
        good = public.outgoing(public.encrypt(np.array([1.5, -2.0, 0.25])))
        rng = np.random.default_rng(1)

        for _ in range(count // len(BITS)):
            work = partial(use_ciphertext, public, secret, form, mutated(good, rng))
            tally.attempt(work)
    return tally


def keys(count: int) -> Tally:
    """Mutate public keys of every scheme; one that is read encrypts."""
    tally = Tally("keys", memory=False)
    for backend, bits in BITS.items():
        public, _ = generate_keys(backend, bits, insecure_test_key=True)
        rng = np.random.default_rng(2)

        def use(data: bytes, backend: str = backend, bits: int = bits) -> None:
            other = load_public(backend, bits, data)
            other.outgoing(other.encrypt(np.array([1.0])))

        for _ in range(count // len(BITS)):
            tally.attempt(partial(use, mutated(public.key_bytes, rng)))
    return tally


def worst() -> None:
    """Time the messages that used to take seconds and gigabytes."""

    def forged(tree: object) -> bytes:
        header = json.dumps(tree).encode()
        return b"WLK1" + struct.pack("<I", len(header)) + header

    prime = (1 << 61) - 1
    public, _ = generate_keys("paillier", 512, insecure_test_key=True)
    good = public.outgoing(public.encrypt(np.ones(20)))
    rows = b"\x94\xce" + struct.pack(">I", 8_000_000) + b"\x01\x02\xdc\x00\x14"
    at = good.index(b"\x94\x14\x01\x02\xdc\x00\x14")
    many = (good[:at] + rows + good[at + 7 :])[: len(good)]
    form = (public.numbers.fraction, public.numbers.bits)
    attempts: dict[str, Callable[[], object]] = {
        "colliding keys": partial(decode, forged({"d": [[i * prime, 0] for i in range(60_000)]})),
        "8 million rows in 3 KB": lambda: public.incoming(many, 20, *form),
    }
    for name, work in attempts.items():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        tracemalloc.start()
        tally = Tally(name, memory=True)
        tally.attempt(work)
        tracemalloc.stop()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(f"{tally}, process grew by {grown} KiB")


def main() -> None:
    """Count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=150_000)
    parser.add_argument("--ciphertexts", type=int, default=9_000)
    parser.add_argument("--keys", type=int, default=1_200)
    chosen = parser.parse_args()
    tallies = [
        messages(chosen.messages),
        ciphertexts(chosen.ciphertexts),
        keys(chosen.keys),
    ]
    for tally in tallies:
        print(tally)
    worst()
    if any(kind.startswith("NOT OURS") for tally in tallies for kind in tally.seen):
        sys.exit(1)


if __name__ == "__main__":
    main()
