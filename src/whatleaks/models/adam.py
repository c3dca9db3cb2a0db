"""Adam on plain arrays (Kingma, Ba 2015, Algorithm 1).

A step on a few thousand values costs torch ten times as long in calls as in arithmetic. The
numbers are those of ``torch.optim.Adam`` up to rounding; a test compares the two.
"""

from __future__ import annotations

import math

import numpy as np

from whatleaks.arrays import Floats

FIRST, SECOND = 0.9, 0.999  # how much of the two averages stays at each step
SMALLEST = 1e-8


class Adam:
    """Moves one array of values in place, each value for itself."""

    def __init__(self, values: Floats, rate: float) -> None:
        self.values = values
        self.rate = rate
        self._mean = np.zeros_like(values)
        self._square = np.zeros_like(values)
        self._spare = np.empty_like(values)
        self._steps = 0

    def follow(self, gradient: Floats) -> None:
        """Take one step along the gradient."""
        self._steps += 1
        spare = self._spare
        self._mean *= FIRST
        np.multiply(gradient, 1.0 - FIRST, out=spare)
        self._mean += spare
        self._square *= SECOND
        np.multiply(gradient, gradient, out=spare)
        spare *= 1.0 - SECOND
        self._square += spare
        np.sqrt(self._square, out=spare)
        spare /= math.sqrt(1.0 - SECOND**self._steps)
        spare += SMALLEST
        np.divide(self._mean, spare, out=spare)
        spare *= self.rate / (1.0 - FIRST**self._steps)
        self.values -= spare

    def direction(self, gradient: Floats) -> Floats:
        """Return what a step of rate 1 would take off, and keep the values where they are."""
        before = self.values.copy()
        self.follow(gradient)
        taken: Floats = (before - self.values) / self.rate
        self.values[...] = before
        return taken


def first_gradient(direction: Floats) -> Floats:
    """Undo the first direction, g / (|g| + 1e-8): in doubles its distance from 1 still tells |g|."""
    left = np.maximum(1.0 - np.abs(direction), np.finfo(np.float64).epsneg)
    return np.asarray(SMALLEST * direction / left, dtype=np.float64)


def falling(rate: float, step: int, steps: int) -> float:
    """Return the rate of a step from 0 on, falling to a hundredth along a cosine over ``steps``."""
    least = rate * 1e-2
    return least + 0.5 * (rate - least) * (1.0 + math.cos(math.pi * min(step, steps) / steps))
