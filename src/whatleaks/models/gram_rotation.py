"""All tables A = F R with F F^T = C that agree with known elements in any positions.

Corollary 1 needs the known elements in a triangle. Any others are equations too: with
A = F R and R orthogonal, (F R)_ij = a_ij is linear in R. Gauss-Newton steps along skew
matrices, R exp(S), keep R orthogonal; starts from random rotations of both signs find the
discrete solutions. Known weights fix where R sends W, and R turns only what is across it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

from whatleaks.arrays import Bools, Floats
from whatleaks.errors import AttackError

FITS = 1e-9  # relative: a table that misses the known elements by no more agrees with them
STEPS = 60


def turned_tables(
    factor: Floats,
    known: Bools,
    values: Floats,
    rng: np.random.Generator,
    weights: Floats | None = None,
    outputs: Floats | None = None,
    starts: int = 40,
) -> tuple[Floats, ...]:
    """Return the tables that were found, each once. None found is an error, more may exist."""
    n = factor.shape[1]
    fixed, left, right = np.zeros((n, n)), np.eye(n), np.eye(n)
    if weights is not None and outputs is not None:
        coordinates = np.linalg.lstsq(factor, outputs, rcond=None)[0]
        a = coordinates / np.linalg.norm(coordinates)
        b = weights / np.linalg.norm(weights)
        fixed, left, right = np.outer(a, b), across(a), across(b)
    rows, columns = np.nonzero(known)
    wanted = values[rows, columns] - np.einsum("ij,ij->i", factor[rows] @ fixed, np.eye(n)[columns])
    seen, faces = factor[rows] @ left, right[columns]  # element = seen Q faces^T
    scale = max(float(np.linalg.norm(values[rows, columns])), 1e-300)
    found: list[Floats] = []
    size = left.shape[1]
    for start in range(starts):
        q = _rotation(size, rng, start % 2 == 1)
        q, miss = _fitted(q, seen, faces, wanted)
        if miss <= FITS * scale:
            table = factor @ (fixed + left @ q @ right.T)
            if not any(np.abs(table - other).max() < 1e-6 for other in found):
                found.append(table)
    if not found:
        raise AttackError(
            f"no table was found that agrees with the {len(rows)} known elements: "
            "too many starts end elsewhere"
        )
    return tuple(found)


def across(direction: Floats) -> Floats:
    """Return an orthonormal basis of what is across a direction, as columns."""
    full = np.linalg.svd(direction[None, :], full_matrices=True)[2]
    basis: Floats = full[1:].T
    return basis


def _rotation(size: int, rng: np.random.Generator, mirrored: bool) -> Floats:
    """Draw an orthogonal matrix with determinant 1, or -1 if it mirrors."""
    q, r = np.linalg.qr(rng.normal(size=(size, size)))
    q = q * np.sign(np.diag(r))
    if size and (np.linalg.det(q) < 0.0) != mirrored:
        q[:, 0] = -q[:, 0]
    return np.asarray(q, dtype=np.float64)


def _fitted(q: Floats, seen: Floats, faces: Floats, wanted: Floats) -> tuple[Floats, float]:
    """Descend from one start; a step that does not help is halved, then the damping grows."""
    upper = np.triu_indices(len(q), 1)
    damping = 1e-3
    rest = wanted - np.einsum("ip,pq,iq->i", seen, q, faces)
    miss = float(np.linalg.norm(rest))
    for _ in range(STEPS):
        if not len(upper[0]) or miss == 0.0:
            break
        turned = seen @ q
        # d(q S) with a skew S: entry (p, r) moves by turned_p faces_r - turned_r faces_p.
        slope = turned[:, upper[0]] * faces[:, upper[1]] - turned[:, upper[1]] * faces[:, upper[0]]
        normal = slope.T @ slope
        step = np.linalg.solve(
            normal
            + damping * max(float(np.trace(normal)), 1e-300) / len(normal) * np.eye(len(normal)),
            slope.T @ rest,
        )
        skew = np.zeros_like(q)
        skew[upper] = step
        moved = q @ expm(skew - skew.T)
        after = wanted - np.einsum("ip,pq,iq->i", seen, moved, faces)
        if np.linalg.norm(after) < miss:
            better = float(np.linalg.norm(after))
            stuck = better > (1.0 - 1e-9) * miss
            q, rest, miss, damping = moved, after, better, damping / 10.0
            if stuck:
                break
        else:
            damping *= 10.0
            if damping > 1e8:
                break
    return q, miss
