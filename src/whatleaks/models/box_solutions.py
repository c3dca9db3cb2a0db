"""Answers to A x = b' with x in the box [0, 1]^d, for all records of a table at once.

All solutions are x = q + N u: q = A+ b' of least norm, N an orthonormal basis of the null space.
They differ in which of them is taken, and in what is done where none lies in the box:

| estimator | what it takes |
|---|---|
| ``least_squares`` | the only solution, or the best where there is none (A Eq 10, by QR) |
| ``minimum_norm`` | q |
| ``half`` | one half, whatever the equations say |
| ``half_star`` | the solution nearest to one half (A Eq 14) |
| ``nearest`` | the point of the box nearest to one half among those that miss the equations least |
| ``constrained`` (CLS) | min |A x - b'|^2 over the box; of many, the one of least norm |
| ``relaxed_centre`` (RCC) | the relaxed Chebyshev centre of the box's solutions |

RCC and CLS are from Rassouli, Varasteh and Gunduz (arXiv 2207.11788), which the paper builds on.
Written with one ball and linear sides, |x - 1/2|^2 <= d/4 and 0 <= x <= 1, the relaxation of the
Chebyshev centre is max tr(D) over tr(D) + |x - 1/2|^2 <= d/4 and x in the box: it is ``nearest``.
That looser writing is our RCC2; the original text was not at hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, Ints

Estimator = Callable[[Floats, Floats], Floats]
STEPS = 200  # of Newton's method at most; a few are used
SOFT = 1e-9  # weight of the distance to the centre against the equations, both scaled to one


@dataclass(frozen=True)
class Parts:
    """A matrix taken apart: rows that span it, and its pseudo-inverse."""

    rows: Floats
    inverse: Floats


def parts(matrix: Floats) -> Parts:
    """Take A apart by one singular value decomposition."""
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    rank = _rank(sizes, matrix)
    inverse = (right[:rank].T / sizes[:rank]) @ left[:, :rank].T
    return Parts(right[:rank], inverse)


def null_space(matrix: Floats) -> Floats:
    """Return an orthonormal basis of what A does not see: columns by columns in size."""
    _, sizes, right = np.linalg.svd(matrix, full_matrices=True)
    return np.asarray(right[_rank(sizes, matrix) :].T)


def _rank(sizes: Floats, matrix: Floats) -> int:
    least = max(matrix.shape) * np.finfo(np.float64).eps * float(sizes.max(initial=0.0))
    return int((sizes > least).sum())


def least_squares(matrix: Floats, right: Floats) -> Floats:
    """Solve by QR (A Eq 10); a matrix with fewer rows than columns gets its least-norm solution."""
    if matrix.shape[0] < matrix.shape[1]:
        return minimum_norm(matrix, right)
    q, r = np.linalg.qr(matrix)
    sizes = np.abs(np.diag(r))
    if not sizes.size or sizes.min() <= 1e-12 * sizes.max():
        return minimum_norm(matrix, right)
    return np.asarray(np.linalg.solve(r, q.T @ right.T).T)


def minimum_norm(matrix: Floats, right: Floats) -> Floats:
    """Return A+ b' for every record."""
    return np.asarray(right @ parts(matrix).inverse.T)


def half(matrix: Floats, right: Floats) -> Floats:
    """Return one half: the centre of the box."""
    return np.full((len(right), matrix.shape[1]), 0.5)


def half_star(matrix: Floats, right: Floats) -> Floats:
    """Return A+ b' + (I - A+ A) 1/2 for every record (A Eq 14)."""
    inverse = parts(matrix).inverse
    centre = np.full(matrix.shape[1], 0.5)
    return np.asarray(right @ inverse.T + (centre - inverse @ (matrix @ centre)))


def constrained(matrix: Floats, right: Floats) -> Floats:
    """Return a point of the box that misses A x = b' least: the one of least norm (CLS)."""
    return nearest(matrix, right, np.zeros((len(right), matrix.shape[1])))


def nearest(matrix: Floats, right: Floats, centre: Floats | None = None) -> Floats:
    """Return the point of the box nearest to one half among those that miss A x = b' least.

    ``centre`` has a row for each record whose nearest point is wanted instead of one half's. It
    minimises |x - centre|^2 / 2 + |A x - b'|^2 / (2 SOFT) over the box by its dual.
    With multipliers y the best x is clip(centre + A^T y, 0, 1), and the dual is convex, smooth and
    piecewise quadratic: Newton's method with a line search ends after finitely many steps. A has
    few rows, so a step is a small system for every record, and all records step together.
    """
    middle = half(matrix, right) if centre is None else centre
    if not matrix.any():  # weights that are all zero say nothing of any column
        return np.clip(middle, 0.0, 1.0)
    scale = max(float(np.linalg.norm(matrix, 2)), 1e-300)
    a, b = matrix / scale, right / scale
    y = np.zeros_like(b)
    open_rows = np.arange(len(b))
    for _ in range(STEPS):
        inner = middle[open_rows] + y[open_rows] @ a
        slope = np.clip(inner, 0.0, 1.0) @ a.T - b[open_rows] + SOFT * y[open_rows]
        left = np.abs(slope).max(axis=1) > 1e-13 * (1.0 + np.abs(b[open_rows]).max(axis=1))
        if not left.any():
            break
        open_rows, inner, slope = open_rows[left], inner[left], slope[left]
        free = ((inner > 0.0) & (inner < 1.0)).astype(np.float64)
        curve = np.einsum("nd,id,jd->nij", free, a, a) + SOFT * np.eye(len(a))
        move = -np.linalg.solve(curve, slope[..., None])[..., 0]
        length = _line_search(a, b[open_rows], y[open_rows], move, middle[open_rows])
        y[open_rows] += length[:, None] * move
    return np.asarray(np.clip(middle + y @ a, 0.0, 1.0))


def _line_search(a: Floats, b: Floats, y: Floats, move: Floats, centre: Floats) -> Floats:
    """Return for every record how far to go along a direction of descent of the dual: to its end.

    The slope along the direction rises: it is bisected, first by doubling, until it changes sign.
    A full step that already ends where the slope is not positive is taken as it is.
    """

    def slope(length: Floats) -> Floats:
        point = y + length[:, None] * move
        gradient = np.clip(centre + point @ a, 0.0, 1.0) @ a.T - b + SOFT * point
        return np.asarray((gradient * move).sum(axis=1))

    low, high = np.zeros(len(b)), np.ones(len(b))
    beyond = slope(high) > 0.0
    for _ in range(40):
        if not beyond.any():
            break
        middle = np.where(beyond, 0.5 * (low + high), high)
        up = slope(middle) > 0.0
        high = np.where(beyond & up, middle, high)
        low = np.where(beyond & ~up, middle, low)
        # An exact minimum along the line is not needed: stop where half of the way is safe.
        beyond &= (high - low) > 0.1 * high
    return np.where(low > 0.0, low, high)


def relaxed_centre(matrix: Floats, right: Floats, *, steps: int = 60) -> Floats:
    """Return the relaxed Chebyshev centre by its dual (Eldar, Beck and Teboulle 2008).

    Over a >= 0 with M = sum a_i n_i n_i^T >= I minimise g^T M^-1 g + sum a_i q_i (1 - q_i), where
    g = sum a_i (q_i - 1/2) n_i; then u = -M^-1 g. With x = q + N u the gradient is x_i (1 - x_i) and
    the Hessian 2 (x_i - 1/2)(x_j - 1/2) n_i^T M^-1 n_j: Newton steps on a barrier, all records
    together. Where no solution lies in the box there is no centre (the dual falls without end), and
    ``nearest`` answers.
    """
    pieces = parts(matrix)
    basis, q = null_space(matrix), right @ pieces.inverse.T
    if basis.shape[1] == 0:
        return np.asarray(q)
    fallback = nearest(matrix, right)
    inside = np.abs(fallback @ pieces.rows.T - q @ pieces.rows.T).max(axis=1) < 1e-6
    values = fallback
    if inside.any():
        values[inside] = _centre(basis, q[inside], fallback[inside], steps)
    return values


def _centre(basis: Floats, q: Floats, start: Floats, steps: int) -> Floats:
    """Follow the barrier's path; a record whose multipliers run away keeps ``start``."""
    d, free = basis.shape
    diagonal = np.arange(d)
    squares = (basis[:, :, None] * basis[:, None, :]).reshape(d, -1)
    a = np.full(q.shape, 2.0)
    weight = np.ones(len(q))
    values = start.copy()
    left = np.arange(len(q))
    for _ in range(steps):
        if not len(left):
            break
        near, at = a[left], q[left]
        m = (near @ squares).reshape(-1, free, free)
        through = basis @ np.linalg.inv(m)
        x = at - np.einsum("ndi,ni->nd", through, (near * (at - 0.5)) @ basis)
        sizes, axes = np.linalg.eigh(m - np.eye(free))
        root = axes / np.sqrt(np.maximum(sizes, 1e-300))[:, None, :]
        reach = basis @ root
        wall = reach @ reach.swapaxes(1, 2)
        off, push = x - 0.5, weight[left]
        slope = push[:, None] * x * (1.0 - x) - np.einsum("ndd->nd", wall) - 1.0 / near
        curve = off[:, :, None] * off[:, None, :] * (through @ basis.T)
        curve = 2.0 * push[:, None, None] * curve + wall**2
        curve[:, diagonal, diagonal] += 1.0 / near**2
        move = -np.linalg.solve(curve, slope[..., None])[..., 0]
        fall = -(move * slope).sum(axis=1)
        length = _length(basis, squares, at, near, move, fall, push, root)
        a[left] = near + length[:, None] * move
        done = fall < 0.1
        values[left[done]] = x[done]
        weight[left[done]] *= 20.0
        # The gap is (d + free) / weight. Multipliers without end: no point strictly inside.
        left = left[(weight[left] < 1e10) & (a[left].max(axis=1) < 1e8) & (length > 0.0)]
    return values


def _length(
    basis: Floats,
    squares: Floats,
    q: Floats,
    a: Floats,
    move: Floats,
    fall: Floats,
    push: Floats,
    root: Floats,
) -> Floats:
    """Halve every record's step from the longest that stays inside until the function falls enough.

    ``root`` is (M - I)^(-1/2) at ``a``. Along the step M - I becomes root^-T (I + t B) root^-1, so
    the eigenvalues of B say how far it goes and give the barrier at every length.
    """
    free = basis.shape[1]
    bends = np.linalg.eigvalsh(
        root.swapaxes(1, 2) @ (move @ squares).reshape(-1, free, free) @ root
    )
    bends = np.concatenate([bends, move / a], axis=1)  # the wall of M - I, and that of a
    steepest = np.maximum(-bends.min(axis=1), 1e-300)

    def height(length: Floats, rows: Ints) -> Floats:
        """Return the barrier's function less its constant: the walls' logarithms at ``a``."""
        point = a[rows] + length[:, None] * move[rows]
        m = (point @ squares).reshape(-1, free, free)
        g = (point * (q[rows] - 0.5)) @ basis
        quadratic = (g * np.linalg.solve(m, g[..., None])[..., 0]).sum(axis=1)
        value = push[rows] * (quadratic + (point * q[rows] * (1.0 - q[rows])).sum(axis=1))
        return np.asarray(value - np.log1p(length[:, None] * bends[rows]).sum(axis=1))

    rows = np.arange(len(a))
    now = height(np.zeros(len(a)), rows)
    length: Floats = np.minimum(1.0, 0.95 / steepest)
    enough = 1e-9 * np.abs(now)
    for _ in range(40):
        there = height(length[rows], rows)
        rows = rows[there > now[rows] - 0.1 * length[rows] * fall[rows] + enough[rows]]
        if not len(rows):
            return length
        length[rows] *= 0.5
    length[rows] = 0.0
    return length


def clamp(values: Floats) -> Floats:
    """Move what lies outside the box to its border (A section IV-C, i)."""
    return np.asarray(np.clip(values, 0.0, 1.0))


def outside_to_half(values: Floats) -> Floats:
    """Answer one half for every value outside the box (A section IV-C, ii)."""
    return np.where((values < 0.0) | (values > 1.0), 0.5, values)


def all_to_half(values: Floats) -> Floats:
    """Answer one half for a whole record if any of its values lies outside (A section IV-C, iii)."""
    out = ((values < 0.0) | (values > 1.0)).any(axis=1, keepdims=True)
    return np.where(out, 0.5, values)


ESTIMATORS: dict[str, Estimator] = {
    "least-squares": least_squares,
    "minimum-norm": minimum_norm,
    "half": half,
    "half-star": half_star,
    "nearest": nearest,
    "cls": constrained,
    "rcc": relaxed_centre,
    "rcc2": nearest,
}
TREATMENTS: dict[str, Callable[[Floats], Floats]] = {
    "clamp": clamp,
    "half": outside_to_half,
    "all-half": all_to_half,
}
