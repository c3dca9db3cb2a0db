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
class _Tried:
    """Every candidate's misses on records left out, and its answer ``reach[kernel] @ slope + mean``.

    The first candidate is the mean alone: what is left if the inputs say nothing.
    """

    mean: Floats
    reach: list[Floats]  # kernel by kernel: asked x known records
    kernel: list[int]
    left_out: Floats  # candidates x known records x wanted values
    slope: Floats

    def weighed(self, weights: Floats) -> Learnt:
        """Average the candidates; ``weights`` are candidates x wanted values, or x one for all."""
        weights = np.broadcast_to(weights, (len(weights), len(self.mean)))
        values = np.broadcast_to(self.mean, (len(self.reach[0]), len(self.mean))).copy()
        kernels = np.array(self.kernel)
        for i, reach in enumerate(self.reach):
            chosen = kernels == i
            values += reach @ np.einsum("kd,knd->nd", weights[chosen], self.slope[chosen])
        missed = np.einsum("kd,knd->nd", weights, self.left_out)
        errors = (self.left_out**2).mean(axis=1)
        return Learnt(values, float((weights * errors).sum()), missed)


def learnt_together(known: Floats, wanted: Floats, asked: Floats) -> Learnt:
    """Learn ``wanted`` from ``known``, row by row, and answer for the rows of ``asked``."""
    tried = _tried([(known, asked)], wanted)
    errors = np.maximum((tried.left_out**2).sum(axis=2).mean(axis=1), 1e-300)
    weights = (errors.min() / errors) ** (0.5 * len(known))
    return tried.weighed((weights / weights.sum())[:, None])


def learnt_each(known: Floats, wanted: Floats, asked: Floats) -> Learnt:
    """Learn so with half a say for each wanted value; inputs as they are and with equal spreads.

    The mean counts as much as all regressions together: many candidates, few records.
    """
    everybody = np.concatenate([known, asked])
    spread = everybody.std(axis=0)
    spread = np.where(spread > 1e-12, spread, 1.0)
    tried = _tried([(known, asked), (known / spread, asked / spread)], wanted)
    errors = np.maximum((tried.left_out**2).mean(axis=1), 1e-12)
    share = ALONE * np.log(errors) + (1.0 - ALONE) * np.log(errors.sum(axis=1, keepdims=True))
    weights = np.exp(-0.5 * len(known) * (share - share.min(axis=0)))
    weights[0] *= max(1, len(weights) - 1)
    return tried.weighed(weights / weights.sum(axis=0))


def spread_of(missed: Floats) -> Floats:
    """Return the covariance of what known records miss; few records: values are less related."""
    n, width = missed.shape
    spread = missed.T @ missed / n
    weight = width / (width + n)
    spread = (1.0 - weight) * spread + weight * np.diag(np.diag(spread))
    return np.asarray(spread + 1e-9 * np.eye(width))


def _tried(forms: Sequence[tuple[Floats, Floats]], wanted: Floats) -> _Tried:
    """Try every regression on the inputs' forms, each known and asked."""
    n = len(wanted)
    if n < FEWEST:
        raise AttackError(f"a regression needs at least {FEWEST} known records, got {n}")
    mean = wanted.mean(axis=0)
    residue = wanted - mean
    kernel, reached = [0], []
    left_out, slopes = [residue * (n / (n - 1))], [np.zeros_like(residue)]
    for inner, outer in (pair for form in forms for pair in _kernels(*form)):
        # Centred, so that no candidate shrinks the mean.
        across = inner.mean(axis=0)
        centred = inner - across - across[:, None] + inner.mean()
        reached.append(outer - across - outer.mean(axis=1, keepdims=True) + inner.mean())
        sizes, axes = np.linalg.eigh(centred)
        sizes = np.maximum(sizes, 0.0)
        if sizes.sum() <= 0.0:
            continue
        projected = axes.T @ residue
        for strength in STRENGTHS * sizes.sum() / n:
            kept = sizes / (sizes + strength)
            free = np.maximum(1.0 - 1.0 / n - (axes**2) @ kept, 1e-9)
            kernel.append(len(reached) - 1)
            left_out.append((residue - axes @ (kept[:, None] * projected)) / free[:, None])
            slopes.append(axes @ (projected / (sizes + strength)[:, None]))
    return _Tried(mean, reached, kernel, np.stack(left_out), np.stack(slopes))


def _kernels(known: Floats, asked: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield the inner products of known with known and of asked with known, power by power."""
    everybody = np.concatenate([known, asked])
    centre = everybody.mean(axis=0)
    spread = (everybody - centre).T @ (everybody - centre) / len(everybody)
    sizes, axes = np.linalg.eigh(spread)
    kept = sizes > 1e-9 * max(float(sizes.max(initial=0.0)), 1e-300)
    along, beyond = (known - centre) @ axes[:, kept], (asked - centre) @ axes[:, kept]
    for power in POWERS:
        scale = sizes[kept] ** (power - 1.0)
        yield (along * scale) @ along.T, (beyond * scale) @ along.T
