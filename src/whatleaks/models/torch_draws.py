"""The numbers that torch's generator draws on a CPU, without torch: a linear model trains without it.

torch's generator is the Mersenne twister seeded by 32 bits; what follows is how ``uniform_`` and
``normal_`` turn its words into double precision. A test compares them with torch, bit by bit. (A CPU
without fused multiply-add rounds twice in ``uniform_``: there torch's last digit is another one.)
"""

from __future__ import annotations

from math import cos, log, log1p, pi, prod, sin, sqrt

import numpy as np

from whatleaks.arrays import Floats

BLOCK = 16  # so many normal numbers are made together, if there are so many


class TorchDraws:
    """What a ``torch.Generator`` with this seed draws, in its order."""

    def __init__(self, seed: int) -> None:
        self._words = np.random.RandomState(seed & 0xFFFFFFFF)._bit_generator
        self._other: float | None = None  # of two normal numbers made together, the second

    def uniform(self, shape: tuple[int, ...], bound: float) -> Floats:
        """Draw uniform numbers in +-``bound``, as ``empty(shape).uniform_(-bound, bound)`` does."""
        return bound * (2.0 * self._unit(prod(shape)).reshape(shape) - 1.0)

    def normal(self, shape: tuple[int, ...]) -> Floats:
        """Draw standard normal numbers, as ``empty(shape).normal_()`` does."""
        count = prod(shape)
        if count < BLOCK:
            return np.array([self._one() for _ in range(count)]).reshape(shape)
        drawn = self._unit(count)
        for start in range(0, count - BLOCK + 1, BLOCK):
            drawn[start : start + BLOCK] = _block(drawn[start : start + BLOCK])
        if count % BLOCK:  # what is left over is drawn anew, with the last ones before it
            drawn[-BLOCK:] = _block(self._unit(BLOCK))
        return drawn.reshape(shape)

    def _unit(self, count: int) -> Floats:
        """Draw from 0 to 1, in steps of 2^-53: of two words the last 53 bits."""
        words = np.asarray(self._words.random_raw(2 * count), dtype=np.uint64)
        bits = (words[0::2] << np.uint64(32) | words[1::2]) & np.uint64(2**53 - 1)
        return bits.astype(np.float64) * 2.0**-53

    def _one(self) -> float:
        if self._other is not None:
            found, self._other = self._other, None
            return found
        turn, length = self._unit(2).tolist()
        radius, angle = sqrt(-2.0 * log1p(-length)), 2.0 * pi * turn
        self._other = radius * sin(angle)
        return radius * cos(angle)


def _block(drawn: Floats) -> list[float]:
    """Turn sixteen uniform numbers into normal ones (Box and Muller): eight lengths, eight angles."""
    lengths, turns = drawn[: BLOCK // 2].tolist(), drawn[BLOCK // 2 :].tolist()
    # The mathematics library's functions: numpy's own may differ in the last digit.
    radii = [sqrt(-2.0 * log(1.0 - length)) for length in lengths]
    angles = [2.0 * pi * turn for turn in turns]
    pairs = list(zip(radii, angles, strict=True))
    return [r * cos(a) for r, a in pairs] + [r * sin(a) for r, a in pairs]
