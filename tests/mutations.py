"""Bytes as a hostile partner would write them: messages, ciphertexts and keys, changed at random."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from whatleaks.codec import encode

# What a header's values are exchanged for.
ODD: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2**31, 2**63, 10**30, 1.5, "", "x", "\x00", "Forest", "float64",
    [], [[]], [1], {}, {"t": []}, {"d": [[1, 1]]}, {"d": [["a", 1], ["a", 1]]}, {"f": "nan"},
    {"f": "0x1p99999"}, {"b": 3}, {"b": -1}, {"a": "float64", "s": [2**40]},
    {"a": "float64", "s": [0, 2**62]}, {"a": "int8", "s": [1] * 70}, {"c": "Forest", "v": []},
    {"c": "Message", "v": [["step", 1]]},
)  # fmt: skip


def mutated(data: bytes, rng: np.random.Generator, first: int = 0) -> bytes:
    """Change, cut, repeat or replace some bytes at or after ``first``."""
    kind = rng.integers(5)
    at = int(rng.integers(first, max(first + 1, len(data))))
    changed = bytearray(data)
    if kind == 0:
        changed[at] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        for place in rng.integers(first, len(data), 8):
            changed[int(place)] = int(rng.integers(256))
    elif kind == 2:
        changed = changed[:at]
    elif kind == 3:
        changed[at:at] = changed[first : first + int(rng.integers(1, 20))]
    else:
        changed[at:] = bytes(len(changed) - at) if rng.integers(2) else b"\xff" * (len(data) - at)
    return bytes(changed)


def mutated_message(data: bytes, rng: np.random.Generator) -> bytes:
    """Change a message's bytes, or one value of its header, which stays JSON."""
    if rng.integers(3) == 0:
        return mutated(data, rng)
    (length,) = struct.unpack("<I", data[4:8])
    tree = json.loads(data[8 : 8 + length])
    for _ in range(int(rng.integers(1, 4))):
        tree = _exchanged(tree, rng)
    header = json.dumps(tree).encode()
    return data[:4] + struct.pack("<I", len(header)) + header + data[8 + length :]


def _exchanged(tree: Any, rng: np.random.Generator) -> Any:
    """Walk down at random and exchange, drop or repeat what is there."""
    inner = list(tree) if isinstance(tree, dict | list) else []
    if not inner or rng.integers(6) == 0:
        return ODD[int(rng.integers(len(ODD)))]
    at = int(rng.integers(len(inner)))
    if isinstance(tree, dict):
        key = inner[at]
        if rng.integers(12) == 0:
            return {name: value for name, value in tree.items() if name != key}
        return {**tree, key: _exchanged(tree[key], rng)}
    what = rng.integers(12)
    if what == 0:
        return inner[:at] + inner[at + 1 :]
    if what == 1:
        return inner[: at + 1] + inner[at:]
    return [*inner[:at], _exchanged(inner[at], rng), *inner[at + 1 :]]


def corpus() -> list[bytes]:
    """Return a message of every kind that crosses: between parties, to and from a sandbox, to disk."""
    from random_trees import random_tree
    from whatleaks.models.forest import Forest
    from whatleaks.threat.guess import BranchGuess, IntervalGuess, ValueGuess
    from whatleaks.wire.message import Cipher, Message, Plain

    rng = np.random.default_rng(0)
    tree = random_tree(rng)
    low, high = np.zeros((3, 2)), np.ones((3, 2))
    leaf = np.zeros(3, dtype=np.int64)
    values: list[Any] = [
        Message(3, "passive", "active", "output", Plain(rng.normal(size=(4, 3)))),
        Message(3, "passive", "active", "sums", Cipher("paillier", (2, 3), bytes(200))),
        {"w": rng.normal(size=5), "names": ("a", 1)},
        tree,
        Forest((tree, tree)),
        ValueGuess(rng.random((3, 2)), (rng.random((3, 2)),)),
        IntervalGuess(low, high),
        BranchGuess(leaf, leaf + 1, low, high),
        {"state": {"bit_generator": "PCG64", "state": {"state": 2**120, "inc": 7}}},
    ]
    return [encode(value) for value in values]
