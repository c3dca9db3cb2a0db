"""Bounds on the error of equality solving with exact scores (Luo et al., Eqs 11 to 15).

The paper's bound is 2 mean(x^2). Its Eq 14 drops the term -2 x_hat x "since x lies in
(0, 1)". That alone is no reason: x_hat may be negative. What holds is stronger. With exact
scores Theta x = a, so x_hat = Theta^+ Theta x is the orthogonal projection of x on the row
space of Theta. Then x_hat . x = |x_hat|^2 >= 0, which repairs Eq 14, and

    |x_hat - x|^2 = |x|^2 - |x_hat|^2 <= |x|^2:

the error is at most mean(x^2), half of the paper's bound, with equality when the scores say
nothing. Rounded or noisy scores give no projection of x, and neither bound holds for them.
"""

from __future__ import annotations

from whatleaks.arrays import Floats, sealed


def least_norm_bound(truth: Floats) -> Floats:
    """Return the paper's bound on every record's mean squared error (Eq 15)."""
    return sealed(2.0 * (truth**2).mean(axis=1))


def projection_bound(truth: Floats) -> Floats:
    """Return the bound that really holds with exact scores: half of Eq 15."""
    return sealed((truth**2).mean(axis=1))


def projection_error(guess: Floats, truth: Floats) -> Floats:
    """Return what a projection's error must be, (|x|^2 - |x_hat|^2) / d, without the difference."""
    return sealed((truth**2 - guess**2).mean(axis=1))
