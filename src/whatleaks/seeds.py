"""Named random streams from one root seed.

Each consumer (the split, the training, an attack, a baseline) draws from a stream of
its own, so adding one never moves another. An attack receives its stream, never the
root: with the root it could regenerate the data split and the truth's noise.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Streams:
    """A root seed and the streams named under it."""

    root: int

    def _key(self, name: str) -> list[int]:
        digest = hashlib.sha256(name.encode()).digest()
        return [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 16, 4)]

    def rng(self, name: str) -> np.random.Generator:
        """Return the generator of stream ``name``; the same name gives the same numbers.

        Only the state is handed on: a generator made from the root's seed sequence would carry
        the root along in ``bit_generator.seed_seq``. What it spawns comes from words drawn from
        that sequence, so streams of other names and roots spawn others.
        """
        sequence = np.random.SeedSequence([self.root, *self._key(name)])
        bare = np.random.PCG64(np.random.SeedSequence(sequence.generate_state(8).tolist()))
        bare.state = np.random.PCG64(sequence).state
        return np.random.Generator(bare)

    def under(self, name: str) -> Streams:
        """Return a family of streams below ``name`` (one run of a sweep, one seed of an audit)."""
        words = np.random.SeedSequence([self.root, *self._key(name)]).generate_state(2, np.uint32)
        return Streams(int(words[0]) << 32 | int(words[1]))


def torch_seed(rng: np.random.Generator) -> int:
    """Draw one seed for a ``torch.Generator`` from a named stream."""
    return int(rng.integers(0, 2**63 - 1))
