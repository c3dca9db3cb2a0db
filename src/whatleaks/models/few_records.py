"""Regression for whoever has few complete records of some people and many incomplete ones.

Complete records are dear: 10 to 100 of them, with as many inputs. Inputs alone are many, for every
target has them. So the inputs' principal axes are taken from everybody, and what is learnt on the
complete records is how the wanted values follow these axes, by ridge regressions that differ in
their strength and in how much more an axis counts along which people differ more. Leaving one
record out gives every candidate its error, and the answer is their average, weighted by the
likelihood of these errors.

``learnt_together``: all wanted values share their candidate. With few records a choice for each is
mostly luck, where the values are alike. ``learnt_each``: where they are not (a sum of money beside a
yes or no), the one that varies most would choose for all, so each has half a say of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import AttackError
from whatleaks.models.ridge import FEWEST

POWERS = (0.5, 1.0, 1.5, 2.0, 3.0)  # 1: ridge on the inputs as they are
STRENGTHS = np.logspace(-6, 2, 25)
ALONE = 0.5  # of a value's choice that is its own, in ``learnt_each``


@dataclass(frozen=True)
class Learnt:
    """Values for the asked records, and the mean squared error of each when left out."""

    values: Floats
    error: float  # summed over the wanted values, mean over the known records
    left_out: Floats  # what each known record misses if it is left out


@dataclass(frozen=True)
class _Kernel:
    """Ridge regressions on one form of the inputs, by their strength."""

    reach: Floats  # asked x known records
    axes: Floats
    sizes: Floats
    projected: Floats  # of the wanted values, on the axes
    strengths: Floats

    def left_out(self, residue: Floats, strength: float) -> Floats:
        """Return what every known record misses if it is left out."""
        kept = self.sizes / (self.sizes + strength)
        free = np.maximum(1.0 - 1.0 / len(residue) - (self.axes**2) @ kept, 1e-9)
        return np.asarray(residue - self.axes @ (kept[:, None] * self.projected)) / free[:, None]


@dataclass(frozen=True)
class _Tried:
    """The candidates: the mean alone, which is left if the inputs say nothing, and every regression."""

    mean: Floats
    residue: Floats
    asked: int
    kernels: list[_Kernel]

    def misses(self) -> Iterator[Floats]:
        """Yield candidate by candidate what known records miss if each is left out."""
        n = len(self.residue)
        yield self.residue * (n / (n - 1))
        for one in self.kernels:
            for strength in one.strengths:
                yield one.left_out(self.residue, strength)

    def errors(self) -> Floats:
        """Return the candidates' mean squared errors, candidates x wanted values."""
        return np.stack([(missed**2).mean(axis=0) for missed in self.misses()])

    def weighed(self, weights: Floats, errors: Floats) -> Learnt:
        """Average the candidates; ``weights`` are candidates x wanted values, or x one for all."""
        weights = np.broadcast_to(weights, errors.shape)
        values = np.broadcast_to(self.mean, (self.asked, len(self.mean))).copy()
        place = 1
        for one in self.kernels:
            steps = one.sizes[:, None] + one.strengths  # axes x strengths
            share = (1.0 / steps) @ weights[place : place + len(one.strengths)]
            values += one.reach @ (one.axes @ (share * one.projected))
            place += len(one.strengths)
        missed = np.zeros_like(self.residue)
        for weight, left_out in zip(weights, self.misses(), strict=True):
            missed += weight * left_out
        return Learnt(values, float((weights * errors).sum()), missed)


def learnt_together(known: Floats, wanted: Floats, asked: Floats) -> Learnt:
    """Learn ``wanted`` from ``known``, row by row, and answer for the rows of ``asked``."""
    tried = _tried([(known, asked)], wanted)
    errors = tried.errors()
    whole = np.maximum(errors.sum(axis=1), 1e-300)
    weights = (whole.min() / whole) ** (0.5 * len(known))
    return tried.weighed((weights / weights.sum())[:, None], errors)


def learnt_each(known: Floats, wanted: Floats, asked: Floats) -> Learnt:
    """Learn so with half a say for each wanted value; inputs as they are and with equal spreads.

    The mean counts as much as all regressions together: many candidates, few records.
    """
    spread = np.concatenate([known, asked]).std(axis=0)
    spread = np.where(spread > 1e-12, spread, 1.0)
    tried = _tried([(known, asked), (known / spread, asked / spread)], wanted)
    errors = np.maximum(tried.errors(), 1e-12)
    share = ALONE * np.log(errors) + (1.0 - ALONE) * np.log(errors.sum(axis=1, keepdims=True))
    weights = np.exp(-0.5 * len(known) * (share - share.min(axis=0)))
    weights[0] *= max(1, len(weights) - 1)
    return tried.weighed(weights / weights.sum(axis=0), errors)


def spread_along(missed: Floats, directions: Floats) -> Floats:
    """Return the covariance of what known records miss, times ``directions``, values x any number.

    Few records: values are taken as less related. The covariance itself, which is as wide as it is
    long, is never written down.
    """
    n, width = missed.shape
    weight = width / (width + n)
    own = weight * (missed**2).mean(axis=0) + 1e-9
    return np.asarray(
        (1.0 - weight) / n * (missed.T @ (missed @ directions)) + own[:, None] * directions
    )


def _tried(forms: Sequence[tuple[Floats, Floats]], wanted: Floats) -> _Tried:
    """Try every regression on the inputs' forms, each known and asked."""
    n = len(wanted)
    if n < FEWEST:
        raise AttackError(f"a regression needs at least {FEWEST} known records, got {n}")
    mean = wanted.mean(axis=0)
    residue = wanted - mean
    found = []
    for inner, outer in (pair for form in forms for pair in _kernels(*form)):
        # Centred, so that no candidate shrinks the mean.
        across = inner.mean(axis=0)
        centred = inner - across - across[:, None] + inner.mean()
        reach = outer - across - outer.mean(axis=1, keepdims=True) + inner.mean()
        sizes, axes = np.linalg.eigh(centred)
        sizes = np.maximum(sizes, 0.0)
        if sizes.sum() > 0.0:
            strengths = STRENGTHS * sizes.sum() / n
            found.append(_Kernel(reach, axes, sizes, axes.T @ residue, strengths))
    return _Tried(mean, residue, len(forms[0][1]), found)


def _kernels(known: Floats, asked: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield the inner products of known with known and of asked with known, power by power."""
    everybody = np.concatenate([known, asked])
    centre = everybody.mean(axis=0)
    if everybody.shape[1] <= len(everybody):
        spread = (everybody - centre).T @ (everybody - centre) / len(everybody)
        sizes, axes = np.linalg.eigh(spread)
    else:  # the same axes, without those along which nobody differs
        _, lengths, across = np.linalg.svd(everybody - centre, full_matrices=False)
        sizes, axes = lengths**2 / len(everybody), across.T
    kept = sizes > 1e-9 * max(float(sizes.max(initial=0.0)), 1e-300)
    along, beyond = (known - centre) @ axes[:, kept], (asked - centre) @ axes[:, kept]
    for power in POWERS:
        scale = sizes[kept] ** (power - 1.0)
        yield (along * scale) @ along.T, (beyond * scale) @ along.T
