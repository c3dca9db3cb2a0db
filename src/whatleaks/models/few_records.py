"""Regression for whoever has few complete records of some people and many incomplete ones.

Complete records are dear: 10 to 100 of them, with as many inputs. Inputs alone are many, for every
target has them. So the inputs' principal axes are taken from everybody, and what is learnt on the
complete records is how the wanted values follow these axes, by ridge regressions that differ in
their strength and in how much more an axis counts along which people differ more. All wanted
values share their candidate: with few records a choice for each is mostly luck. Leaving one record
out gives every candidate its error, and the answer is their average, weighted by the likelihood
of these errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import AttackError
from whatleaks.models.ridge import FEWEST

POWERS = (0.5, 1.0, 1.5, 2.0, 3.0)  # 1: ridge on the inputs as they are
STRENGTHS = np.logspace(-6, 2, 25)


@dataclass(frozen=True)
class Learnt:
    """Values for the asked records, and the mean squared error of each when left out."""

    values: Floats
    error: float  # summed over the wanted values, mean over the known records


def learnt_together(known: Floats, wanted: Floats, asked: Floats) -> Learnt:
    """Learn ``wanted`` from ``known``, row by row, and answer for the rows of ``asked``."""
    n = len(known)
    if n < FEWEST:
        raise AttackError(f"a regression needs at least {FEWEST} known records, got {n}")
    mean = wanted.mean(axis=0)
    residue = wanted - mean
    # The mean alone: what is left if the inputs say nothing.
    errors, answers = (
        [float((residue**2).sum() / n * (n / (n - 1)) ** 2)],
        [np.broadcast_to(mean, (len(asked), wanted.shape[1]))],
    )
    for inner, outer in _kernels(known, asked):
        # Centred, so that no candidate shrinks the mean.
        across = inner.mean(axis=0)
        centred = inner - across - across[:, None] + inner.mean()
        reach = outer - across - outer.mean(axis=1, keepdims=True) + inner.mean()
        sizes, axes = np.linalg.eigh(centred)
        sizes = np.maximum(sizes, 0.0)
        if sizes.sum() <= 0.0:
            continue
        projected = axes.T @ residue
        for strength in STRENGTHS * sizes.sum() / n:
            kept = sizes / (sizes + strength)
            free = 1.0 - 1.0 / n - (axes**2) @ kept
            left_out = (residue - axes @ (kept[:, None] * projected)) / np.maximum(free, 1e-9)[
                :, None
            ]
            errors.append(float((left_out**2).sum() / n))
            answers.append(reach @ (axes @ (projected / (sizes + strength)[:, None])) + mean)
    found = np.maximum(np.array(errors), 1e-300)
    weights = (found.min() / found) ** (0.5 * n)
    weights /= weights.sum()
    values = np.zeros((len(asked), wanted.shape[1]))
    for weight, answer in zip(weights, answers, strict=True):
        if weight > 1e-9:
            values += weight * answer
    return Learnt(values, float(weights @ found))


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
