"""Errors of half* and least squares in closed form, without clamping (Varasteh, section IV-C and V-B).

All are mean squared errors per column, equal to the empirical ones on the records that the moments
were taken from. ``matrix`` is the true A = J W_pas, ``disclosed`` what the adversary solves with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats


@dataclass(frozen=True)
class Moments:
    """K_0 = E[X X^T] and mu = E[X] of the passive columns."""

    second: Floats
    mean: Floats

    @property
    def about_half(self) -> Floats:
        """K about one half: E[(X - 1/2)(X - 1/2)^T]."""
        ones = np.ones(len(self.mean))
        across = 0.5 * np.outer(self.mean, ones)
        return np.asarray(self.second - across - across.T + 0.25)


def moments(columns: Floats) -> Moments:
    """Take the moments of some records."""
    return Moments(columns.T @ columns / len(columns), columns.mean(axis=0))


def agnostic_least_squares(matrix: Floats, mismatch: Floats) -> float:
    """A Eq 13: d < k and estimated scores; ``mismatch`` is K of the log-ratios' errors."""
    gram = np.linalg.inv(matrix.T @ matrix)
    return float((np.trace(matrix @ gram @ gram @ matrix.T @ mismatch)) / matrix.shape[1])


def agnostic_half_star(matrix: Floats, known: Moments, mismatch: Floats) -> float:
    """A Eq 21: what half* leaves open, and what the estimated scores add to it."""
    d, inverse = matrix.shape[1], np.linalg.pinv(matrix)
    left = np.trace((np.eye(d) - inverse @ matrix) @ known.about_half)
    return float((left + np.trace(inverse.T @ inverse @ mismatch)) / d)


def rotated_half_star(matrix: Floats, rotation: Floats, known: Moments) -> float:
    """A Eq 38, case i: weights W R, exact scores, half*."""
    d = matrix.shape[1]
    middle = np.outer(np.ones(d), known.mean - 0.25)  # M
    inner = known.second - 2.0 * known.second @ rotation.T + rotation @ middle @ rotation.T
    projector = np.linalg.pinv(matrix) @ matrix
    return float((np.trace(known.about_half) + np.trace(projector @ inner)) / d)


def rotated_least_squares(rotation: Floats, known: Moments) -> float:
    """A Eq 45, case ii: 2/d Tr(K_0 - R K_0), from the definition |X - R^T X|^2."""
    return float((2.0 * np.trace(known.second - rotation @ known.second)) / len(rotation))


def one_column(matrix: Floats, disclosed: Floats, known: Moments) -> float:
    """A Eq 47, case iii: one column, any weights."""
    share = float((disclosed.T @ matrix).item() / (disclosed.T @ disclosed).item())
    return float(known.second[0, 0]) * (1.0 - share) ** 2


@dataclass(frozen=True)
class TwoClasses:
    """A Eq 51, case iv: one equation, any weights; all but the weights is worked out once."""

    left: float  # Tr K about one half
    fixed: float  # a^T K_0 a
    pull: Floats  # K_0 a
    middle: Floats  # mu - 1/4, the row of M

    @staticmethod
    def of(matrix: Floats, known: Moments) -> TwoClasses:
        """Prepare for the true weights."""
        pull = known.second @ matrix[0]
        left = float(np.trace(known.second) - known.mean.sum() + 0.25 * len(known.mean))
        return TwoClasses(left, float(matrix[0] @ pull), pull, known.mean - 0.25)

    def error(self, disclosed: Floats) -> float:
        """Return the error per column with the disclosed weights."""
        b = disclosed
        return float((self.left + self._moved(b) / (b @ b)) / len(b))

    def slope(self, disclosed: Floats) -> Floats:
        """Return the error's gradient by the disclosed weights."""
        b = disclosed
        size = b @ b
        rise = -2.0 * self.pull + b.sum() * self.middle + self.middle @ b
        return np.asarray((rise / size - 2.0 * self._moved(b) / size**2 * b) / len(b))

    def _moved(self, b: Floats) -> float:
        return float(self.fixed - 2.0 * self.pull @ b + b.sum() * (self.middle @ b))


def two_classes(matrix: Floats, disclosed: Floats, known: Moments) -> float:
    """A Eq 51, case iv: one equation, any weights."""
    return TwoClasses.of(matrix, known).error(disclosed[0])


def misled(matrix: Floats, disclosed: Floats, known: Moments) -> float:
    """Return the error of half* with exact scores and any other weights: the cases above in one.

    The guess is A_n^+ A X + (I - A_n^+ A_n) 1/2; with enough equations it is least squares.
    """
    d, inverse = matrix.shape[1], np.linalg.pinv(disclosed)
    fixed = 0.5 * (np.ones(d) - inverse @ (disclosed @ np.ones(d)))
    # With I - A_n^+ A multiplied out: A has few rows, and no product of two large matrices is left.
    pulled = matrix @ known.second
    spread = np.trace(known.second) - 2.0 * np.sum(pulled * inverse.T)
    spread += np.sum((pulled @ matrix.T) * (inverse.T @ inverse))
    missed = fixed @ known.mean - (fixed @ inverse) @ (matrix @ known.mean)
    return float((spread - 2.0 * missed + fixed @ fixed) / d)
