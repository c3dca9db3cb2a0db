"""Weights to disclose instead of the true ones (Varasteh, section V-B): near them, and misleading.

The distance g (Eq 33) is the mean squared change of a weight. Among all weights at distance
epsilon those are wanted that make the error of half* (or least squares) largest:

| case | when | how |
|---|---|---|
| i | d >= k > 2 | W R, R orthonormal, Eq 38, on the Stiefel manifold (pymanopt) |
| ii | 1 < d < k | the same with Eq 45 |
| iii | d = 1 | any weights, Eq 47, SciPy |
| iv | k = 2, d > 1 | any weights, Eq 51, SciPy |

Deviations: Eqs 39 and 46 add lambda (g - epsilon)^2 with a large lambda; here an augmented Lagrangian
meets g = epsilon (to 1e-7 of it, as a rule). The authors' solver is not used (its license):
pymanopt's trust regions are. A binary model has one weight per column here and not two, so its k in g is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm
from scipy.optimize import minimize

from whatleaks.arrays import Floats
from whatleaks.errors import UsageError
from whatleaks.models.additive import adjacent_differences
from whatleaks.models.closed_errors import Moments, TwoClasses, misled

STARTS = 2  # random ones from the true weights; one more from their negative
ROUNDS = 15  # of the augmented Lagrangian


@dataclass(frozen=True)
class Blur:
    """The weights to disclose, columns x outputs; ``rotation`` is R where the case has one."""

    weights: Floats
    case: str
    distance: float
    predicted: float  # the error of half* by the closed form
    rotation: Floats | None = None


def case_of(columns: int, outputs: int) -> str:
    """Name the paper's case; one output is a model of two classes."""
    if columns == 1:
        return "iii"
    if outputs == 1:
        return "iv"
    return "i" if columns >= outputs else "ii"


def distance(weights: Floats, disclosed: Floats) -> float:
    """A Eq 33: the mean squared change of a weight."""
    return float(((weights - disclosed) ** 2).mean())


def blurred(
    weights: Floats, known: Moments, epsilon: float, rng: np.random.Generator, case: str = ""
) -> Blur:
    """Return the weights at distance ``epsilon`` that mislead half* most."""
    if epsilon < 0.0:
        raise UsageError(f"epsilon must not be negative, got {epsilon:g}")
    case = case or case_of(*weights.shape)
    matrix = adjacent_differences(weights).T
    rotation = None
    disclosed = weights
    if epsilon > 0.0 and case in ("i", "ii"):
        farthest = 4.0 * float((weights**2).mean())  # g(-I)
        if epsilon > farthest:
            raise UsageError(
                f"epsilon {epsilon:g} is out of reach: rotated weights move by at most {farthest:.4g}"
            )
        rotation = _rotation(weights, matrix, known, epsilon, case, rng)
        disclosed = np.asarray(rotation.T @ weights)  # ours is columns x outputs: (W R)^T = R^T W^T
    elif epsilon > 0.0:
        disclosed = _anywhere(weights, matrix, known, epsilon, rng)
    shown = adjacent_differences(disclosed).T
    return Blur(
        disclosed, case, distance(weights, disclosed), misled(matrix, shown, known), rotation
    )


def on_orthonormal(
    cost: Callable[[Floats], float],
    gradient: Callable[[Floats], Floats],
    hessian: Callable[[Floats, Floats], Floats],
    start: Floats,
) -> Floats:
    """Minimise over orthonormal matrices from ``start`` (A Eq 22), by trust regions."""
    import pymanopt
    from pymanopt.manifolds import Stiefel
    from pymanopt.optimizers import TrustRegions

    class Orthonormal(Stiefel):  # type: ignore[misc]
        """Square matrices, one at a time: what is called most, without its care for stacks."""

        def inner_product(self, point: Floats, one: Floats, other: Floats) -> float:
            return float(np.vdot(one, other))

        def projection(self, point: Floats, vector: Floats) -> Floats:
            turned = point.T @ vector
            return np.asarray(vector - point @ (0.5 * (turned + turned.T)))

        to_tangent_space = projection

        def retraction(self, point: Floats, tangent_vector: Floats) -> Floats:
            q, r = np.linalg.qr(point + tangent_vector)
            return np.asarray(q * np.where(np.diagonal(r) < 0.0, -1.0, 1.0))

    manifold = Orthonormal(len(start), len(start))
    said = pymanopt.function.numpy(manifold)
    problem = pymanopt.Problem(
        manifold, said(cost), euclidean_gradient=said(gradient), euclidean_hessian=said(hessian)
    )
    solver = TrustRegions(max_iterations=60, min_gradient_norm=1e-9, verbosity=0)
    return np.asarray(solver.run(problem, initial_point=start).point)


def _rotation(
    weights: Floats,
    matrix: Floats,
    known: Moments,
    epsilon: float,
    case: str,
    rng: np.random.Generator,
) -> Floats:
    d, entries = len(weights), weights.size
    gram = weights @ weights.T  # W of Eq 34
    # Eqs 38 and 45 without what R does not change; in case ii A^+ A = I.
    inverse = np.linalg.pinv(matrix)
    projector = inverse @ matrix if case == "i" else np.eye(d)
    middle = np.outer(np.ones(d), known.mean - 0.25) if case == "i" else np.zeros((d, d))
    pull = inverse @ (matrix @ known.second) if case == "i" else known.second
    basis = _where_it_matters(weights, matrix, known)
    if basis is not None:
        gram, projector, pull, middle = (
            basis.T @ part @ basis for part in (gram, projector, pull, middle)
        )

    def gained(r: Floats) -> float:
        return float(-2.0 * np.sum(pull * r) + np.sum((projector @ r @ middle) * r)) / d

    whole = float(np.trace(gram))

    def moved(r: Floats) -> float:
        return 2.0 * (whole - float((gram * r).sum())) / entries  # Eq 34

    unit = float(np.trace(known.second)) / d
    steep = -2.0 * gram / (entries * epsilon)  # Eq 41, of g / epsilon

    def solved(r: Floats, y: float, stiff: float) -> Floats:
        """Minimise -f + y (g / epsilon - 1) + stiff / 2 (g / epsilon - 1)^2 from ``r``."""

        def cost(r: Floats) -> float:
            off = moved(r) / epsilon - 1.0
            return -gained(r) / unit + y * off + 0.5 * stiff * off**2

        def gradient(r: Floats) -> Floats:
            rise = (-2.0 * pull + projector @ r @ (middle + middle.T)) / d  # Eq 40
            return np.asarray(-rise / unit + (y + stiff * (moved(r) / epsilon - 1.0)) * steep)

        def hessian(r: Floats, way: Floats) -> Floats:
            bend = projector @ way @ (middle + middle.T) / (d * unit)
            return np.asarray(stiff * np.sum(steep * way) * steep - bend)

        return on_orthonormal(cost, gradient, hessian, r)

    best, most = None, -np.inf
    for start in _starts(moved, epsilon, len(gram), rng):
        r, multiplier, stiff = start, 0.0, 1.0
        for _ in range(ROUNDS):
            r = solved(r, multiplier, stiff)
            off = moved(r) / epsilon - 1.0
            if abs(off) < 1e-7:
                break
            multiplier += stiff * off
            stiff = min(stiff * 3.0, 1e4)
        if abs(moved(r) / epsilon - 1.0) < 1e-3 and gained(r) > most:
            best, most = r, gained(r)
    if best is None:
        raise UsageError(f"no rotation of the weights was found at distance {epsilon:g}")
    if basis is None:
        return best
    return np.asarray(np.eye(d) + basis @ (best - np.eye(len(best))) @ basis.T)


def _where_it_matters(weights: Floats, matrix: Floats, known: Moments) -> Floats | None:
    """Return a basis of directions that a rotation of many columns need not leave; None: few columns.

    Error and distance see R only as U^T R U, with U a basis of m <= 2 k + 1 directions: the weights',
    those of K_0 A^T, and the two of M. U^T R U of an orthonormal R can be any matrix that lengthens
    nothing, and each of these is also had with an R that moves 2 m directions only (Halmos'
    dilation). So nothing is lost, and the search does not grow with the columns.
    """
    d = len(weights)
    both = np.stack([np.ones(d), known.mean - 0.25], axis=1)
    seen = np.concatenate([weights, known.second @ matrix.T, both], axis=1)
    if 2 * seen.shape[1] >= d:
        return None
    beside = np.random.default_rng(0).normal(size=seen.shape)  # any others serve
    return np.asarray(np.linalg.qr(np.concatenate([seen, beside], axis=1))[0])


def _starts(
    moved: Callable[[Floats], float], epsilon: float, d: int, rng: np.random.Generator
) -> list[Floats]:
    """Rotate away from I, and from -I, until the distance is about epsilon."""
    found = []
    for sign in (*[1.0] * STARTS, -1.0):
        skew = rng.normal(size=(d, d))
        skew -= skew.T
        skew /= np.linalg.norm(skew, 2)
        path = [sign * expm(t * skew) for t in np.linspace(0.02, np.pi, 24)]
        found.append(min(path, key=lambda r: abs(moved(r) - epsilon)))
    return found


def _anywhere(
    weights: Floats, matrix: Floats, known: Moments, epsilon: float, rng: np.random.Generator
) -> Floats:
    """Maximise the error over the sphere of radius sqrt(entries epsilon) about the weights."""
    radius = np.sqrt(weights.size * epsilon)
    best, most = None, -np.inf
    flat = weights.ravel()

    told = TwoClasses.of(matrix, known) if weights.shape[1] == 1 else None

    def error(change: Floats) -> float:
        if told is not None:  # Eq 51 costs no inverse
            return told.error(flat + change)
        shown = (flat + change).reshape(weights.shape)
        return misled(matrix, adjacent_differences(shown).T, known)

    def lost(v: Floats) -> float:
        return -error(radius * v / max(float(np.linalg.norm(v)), 1e-12))

    def slope(v: Floats) -> Floats:
        assert told is not None
        size = max(float(np.linalg.norm(v)), 1e-12)
        way = v / size
        rise = told.slope(flat + radius * way)
        return np.asarray(-radius / size * (rise - way * (way @ rise)))

    ways = [-flat, flat, adjacent_turn(weights), -adjacent_turn(weights)]
    ways += [rng.normal(size=flat.size) for _ in range(2 * STARTS)]
    for way in ways:
        size = float(np.linalg.norm(way))
        if size == 0.0:
            continue
        # A constrained problem without its constraint (Remark 11): only the direction is free.
        # Case iii has a weight for each output: few, so its slope is measured.
        search = {"method": "BFGS"} if told is None else {"jac": slope, "method": "L-BFGS-B"}
        found = minimize(lost, way / size, **search)
        for v in (way / size, found.x):
            change = radius * v / np.linalg.norm(v)
            value = error(change)
            if np.isfinite(value) and value > most:
                best, most = change, value
    assert best is not None
    return np.asarray((flat + best).reshape(weights.shape))


def adjacent_turn(weights: Floats) -> Floats:
    """Return the direction in which neighbouring weights move apart (Remark 11)."""
    signs = np.where(np.arange(weights.shape[1]) % 2 == 0, 1.0, -1.0)
    return np.tile(signs, len(weights))
