"""Gradients from Adam's directions: a search over the roots of Adam's equation.

A direction at step t is (a + b g) / (sqrt(c + e g^2) + 1e-8), where a and c come from the gradients
before it (Kingma, Ba 2015, Algorithm 1). Squared, it is a quadratic in g: at most two gradients
fit a number, and who has undone all steps before knows both.

The gradient of a regression is X^T d + alpha W: with more columns than a batch has independent
records it lies in a subspace, and the spare columns say which roots belong together. Numbers with
one root are taken first; of the others as many as the subspace still lacks are tried both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from whatleaks.arrays import Floats, Ints, sealed
from whatleaks.models.adam import FIRST, SECOND, SMALLEST, first_gradient

FITS = 1e-6  # a direction has the size of 1; the first gradient comes out to about 1e-8
RIVAL = 1e-2  # another gradient that fits and differs by this share of the largest number
APART = 1e-6  # roots closer than this, relative to their size, are one
MOST = 12  # numbers that are tried both ways: at most 4,096 candidates
POLISHING = 4  # Gauss-Newton steps on a candidate


@dataclass(frozen=True)
class Averages:
    """Adam's two averages after ``steps`` gradients."""

    mean: Floats
    square: Floats
    steps: int = 0

    def after(self, gradient: Floats) -> Averages:
        """Take in one more gradient."""
        return Averages(
            FIRST * self.mean + (1.0 - FIRST) * gradient,
            SECOND * self.square + (1.0 - SECOND) * gradient**2,
            self.steps + 1,
        )

    def told(self, gradients: Floats) -> tuple[Floats, Floats]:
        """Return the direction that each gradient (last axis: numbers) would give, and its slope."""
        after = self.after(gradients)
        mean = after.mean / (1.0 - FIRST**after.steps)
        second = 1.0 - SECOND**after.steps
        root = np.sqrt(after.square / second)
        below = root + SMALLEST
        up = (1.0 - FIRST) / (1.0 - FIRST**after.steps)
        bent = (1.0 - SECOND) / second * gradients / np.maximum(root, np.finfo(np.float64).tiny)
        return mean / below, up / below - mean * bent / below**2

    def roots(self, direction: Floats) -> Floats:
        """Return both gradients that fit each number, in two rows; nan where one does not fit."""
        first, second = (1.0 - kept ** (self.steps + 1) for kept in (FIRST, SECOND))
        a, b = FIRST * self.mean / first - direction * SMALLEST, (1.0 - FIRST) / first
        c, e = SECOND * self.square / second, (1.0 - SECOND) / second
        # (a + b g)^2 = direction^2 (c + e g^2); the sign is lost here and checked below.
        square, half, rest = b**2 - direction**2 * e, a * b, a**2 - direction**2 * c
        part = np.sqrt(np.maximum(half**2 - square * rest, 0.0))
        larger = -(half + np.where(half < 0.0, -part, part))  # without cancellation
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.stack([larger / square, rest / larger])
            found[1] = np.where(larger == 0.0, found[0], found[1])
            fits = np.abs(self.told(found)[0] - direction) < FITS
        return np.where(fits & np.isfinite(found), found, np.nan)


def gradient_in(
    plane: Floats, origin: Floats, averages: Averages, direction: Floats
) -> Floats | None:
    """Return the gradient ``origin + plane u`` that gives the direction, or None if undecided.

    ``plane`` has orthonormal columns. It is undecided where numbers with two roots are needed and
    none is spare, where too many would have to be tried, or where two candidates fit.
    """
    roots = averages.roots(direction)
    if np.isnan(roots).all(axis=0).any():
        return None
    one = np.where(np.isnan(roots[0]), roots[1], roots[0])
    gap = np.abs(roots[0] - roots[1]) > APART * np.maximum(np.abs(one), APART)
    sure, unsure = np.flatnonzero(~gap), np.flatnonzero(gap)
    tried = unsure[_independent(plane, sure, unsure)]
    if len(tried) > MOST or (len(tried) and len(direction) <= plane.shape[1]):
        return None
    taken = np.concatenate([sure, tried])
    ways = np.tile(one[taken], (2 ** len(tried), 1))
    bits = np.arange(len(ways))[:, None] >> np.arange(len(tried)) & 1
    ways[:, len(sure) :] = np.where(bits == 1, roots[1, tried], roots[0, tried])
    points = np.linalg.lstsq(plane[taken], (ways - origin[taken]).T, rcond=None)[0].T
    candidates = origin + points @ plane.T
    missed = np.abs(averages.told(candidates)[0] - direction).max(axis=1)
    best = points[missed.argmin()]
    rivals = np.abs(candidates[missed < FITS] - candidates[missed.argmin()])
    if rivals.max(initial=0.0) > RIVAL * np.abs(candidates[missed.argmin()]).max():
        return None
    for _ in range(POLISHING):
        told, slope = averages.told(origin + plane @ best)
        best = best + np.linalg.lstsq(slope[:, None] * plane, direction - told, rcond=None)[0]
    found: Floats = origin + plane @ best
    return found if np.abs(averages.told(found)[0] - direction).max() < FITS else None


def _independent(plane: Floats, sure: Ints, unsure: Ints) -> Ints:
    """Return which of the unsure numbers the sure ones lack to determine a point of the plane."""
    _, sizes, axes = np.linalg.svd(plane[sure], full_matrices=True)
    known = int((sizes > 1e-3).sum())
    left = plane[unsure] @ axes[known:].T
    lacking = min(left.shape)
    if not lacking:
        return np.arange(0)
    order = qr(left.T, mode="r", pivoting=True)[1]
    return np.asarray(order[:lacking], dtype=np.int64)


def undone(
    directions: Floats, weights: Floats, columns: Floats, batches: Sequence[Ints], alpha: float
) -> Floats:
    """Return the gradients behind the first directions, up to the first that stays undecided."""
    planes = [_plane(columns[rows].T) for rows in batches]
    averages = Averages(np.zeros(columns.shape[1]), np.zeros(columns.shape[1]))
    found: list[Floats] = []
    for step, direction in enumerate(directions):
        plane, origin = planes[step % len(planes)], alpha * weights[step]
        gradient: Floats | None
        if not step:
            gradient = origin + plane @ (plane.T @ (first_gradient(direction) - origin))
        else:
            gradient = gradient_in(plane, origin, averages, direction)
        if gradient is None:
            break
        found.append(gradient)
        averages = averages.after(gradient)
    return np.array(found).reshape(len(found), columns.shape[1])


def rounds_undone(
    directions: Floats, weights: Floats, columns: Floats, batches: Sequence[Ints], alpha: float
) -> tuple[Floats, Floats]:
    """Return the gradients and the weights before them of all rounds of batches that are undone."""
    found = undone(directions, weights, columns, batches, alpha)
    kept = len(found) // len(batches) * len(batches)
    return sealed(found[:kept]), sealed(weights[:kept])


def _plane(spanning: Floats) -> Floats:
    """Return orthonormal columns that span the same as these."""
    left, sizes, _ = np.linalg.svd(spanning, full_matrices=False)
    least = sizes.max(initial=0.0) * max(spanning.shape) * np.finfo(np.float64).eps
    return np.asarray(left[:, sizes > least], dtype=np.float64)
