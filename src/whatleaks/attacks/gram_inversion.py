"""Gram inversion (Li et al., sections 4.1-4.4): the partner's whole table from its outputs.

Two steps on the same batch give C d_k with C = X_A X_A^T. The paper's Eq 3 has the wrong
sign; from the update W_{k+1} = (1 - eta alpha) W_k - eta X_A^T d_k it is
    ((1 - eta alpha) z_k - z_{k+1}) / eta = C d_k.
C itself would need as many independent residuals as records, and gradient descent gives
residuals that grow alike. The z_k all lie in the column space of X_A, so C = U M U^T with
an orthonormal basis U of the observed z_k and a small symmetric M, found by least squares.

X_A = F R with F F^T = C and an orthogonal R. Answered queries give the final weights W, and
R W is the coordinate vector of X_A W (Eq 4). That fixes one column, and two but for a
reflection about W; more columns need known values (Theorem 2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.intermediate_recovery import recover_intermediate
from whatleaks.catalog import attack
from whatleaks.citations import LI
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.encrypted import EncryptedLinearView

OPEN = 1e-3  # a direction that the steps leave open is this much weaker than one they fix


@attack(
    "gram-inversion",
    title="The partner's table from its Gram matrix",
    paper=LI,
    needs="the intermediate values of two or more steps on one batch; answers to made-up records",
)
@travels
@dataclass(frozen=True)
class GramInversion:
    """Inverts a partner with one or two columns, nothing of it being known (L 6.2).

    ``slack`` is the share of a column's range by which a value may miss it before the range
    rules a table out. ``resolution`` is the smallest ratio of singular values of the
    outputs that still counts as a direction of its own. ``converged`` is the paper's Eq 4:
    it takes the last output seen in training for that of the final weights. Off, the last
    step is taken once more instead, which is exact for any number of epochs.
    """

    slack: float = 1e-3
    resolution: float = 1e-9
    converged: bool = False

    @property
    def name(self) -> str:
        """Gram inversion, exact or with the paper's approximation of the last output."""
        return "gram-inversion-converged" if self.converged else "gram-inversion"

    def infer(self, view: EncryptedLinearView, rng: np.random.Generator) -> ValueGuess:
        """Return the table that the public ranges allow, or one of two and the other beside it."""
        del rng
        n = view.unknown
        if n > 2:
            raise AttackError(
                f"a partner with {n} columns leaves {(n - 1) * (n - 2) // 2} values open "
                "(Theorem 2): gram-inversion without known values takes at most 2 columns"
            )
        factor, final = self.factor_and_output(view)
        return self.choose(candidates(factor, final, view), view)

    def factor_and_output(self, view: EncryptedLinearView) -> tuple[Floats, Floats]:
        """Return F with F F^T = X_A X_A^T, for any number of columns, and X_A W of the last weights."""
        if view.optimiser != "sgd":
            raise AttackError(
                f"the partner steps along directions of {view.optimiser}, not along gradients: "
                "differences of its outputs are not the Gram matrix times residuals"
            )
        if sum(len(rows) for rows in view.batches) > len(view.own):
            raise AttackError(
                "gram-inversion needs the same batches in every epoch, got shuffled ones"
            )
        z = recover_intermediate(view)
        if len(view.batches) > 1:
            return self.chained(z, view)
        d = view.residuals(
            z, np.arange(len(z)), slice(None)
        )  # one batch, in any order: all records
        factor = self.factor(z, d, view)
        return factor, self.final_output(factor, z, d, view)

    def chained(self, z: Floats, view: EncryptedLinearView) -> tuple[Floats, Floats]:
        """Return F and X_A W where batches take turns, which the paper leaves out.

        The outputs of batch b give X_b = F_b A_b with an orthonormal F_b and an unknown small
        A_b, and the weights at its steps as W = P_b G with P_b = A_b^-1. Every step
            P_b' G' - (1 - eta alpha) P_b G + eta Q_b F_b^T d = 0,  Q_b = A_b^T,
        is linear in all P and Q. The solutions are S P_b and S Q_b with one S for all batches,
        and Q_b P_b^T = I gives S but for an orthogonal matrix: what one batch leaves open too.
        """
        n, eta, rho = view.unknown, view.learning_rate, 1.0 - view.learning_rate * view.alpha
        count, epochs = len(view.batches), z.shape[1]
        bases, coordinates, pulls = [], [], []
        for place, rows in enumerate(view.batches):
            basis, spread, _ = np.linalg.svd(z[rows], full_matrices=False)
            if len(spread) < n or not spread[n - 1] > self.resolution * spread[0]:
                raise AttackError(
                    f"the partner's outputs of {epochs} epochs do not span its {n} columns in "
                    f"batch {place + 1}: train for more epochs or with another learning rate"
                )
            steps = slice(place, epochs * count, count)
            d = view.residuals(z[rows], rows, steps)
            bases.append(basis[:, :n])
            coordinates.append(basis[:, :n].T @ z[rows])
            pulls.append(eta * basis[:, :n].T @ d)
        system = np.zeros((count * epochs - 1, 2 * n * count))
        for step in range(count * epochs - 1):
            (epoch, b), (after, c) = divmod(step, count), divmod(step + 1, count)
            system[step, c * n : (c + 1) * n] += coordinates[c][:, after]
            system[step, b * n : (b + 1) * n] -= rho * coordinates[b][:, epoch]
            system[step, (count + b) * n : (count + b + 1) * n] = pulls[b][:, epoch]
        scale = np.linalg.norm(system, axis=0)
        _, values, vectors = np.linalg.svd(system / scale)
        if len(values) < 2 * n * count or not values[-n] < OPEN * values[-n - 1]:
            raise AttackError(
                f"the steps of {epochs} epochs on {count} batches do not determine the partner's "
                "Gram matrix: train for more epochs"
            )
        found = (vectors[-n:] / scale).reshape(n, 2 * count, n).transpose(1, 0, 2)
        p, q = found[:count], found[count:]
        products = q @ p.transpose(0, 2, 1)
        square = products.mean(axis=0)
        sizes, turned = np.linalg.eigh((square + square.T) / 2)
        if sizes[0] <= 0.0:
            raise AttackError("the steps contradict each other: no partner's table fits them")
        root = (turned / np.sqrt(sizes)) @ turned.T  # S but for an orthogonal matrix
        factor = np.empty((len(view.own), n))
        for b, rows in enumerate(view.batches):
            factor[rows] = bases[b] @ (root @ q[b]).T
        # The weights after the last step, in the same coordinates.
        last = root @ (rho * p[-1] @ coordinates[-1][:, -1] - q[-1] @ pulls[-1][:, -1])
        return factor, np.asarray(factor @ last, dtype=np.float64)

    def factor(self, z: Floats, d: Floats, view: EncryptedLinearView) -> Floats:
        """Return F with F F^T = X_A X_A^T, from the outputs and residuals of all steps."""
        n, eta = view.unknown, view.learning_rate
        basis, spread, _ = np.linalg.svd(z, full_matrices=False)
        seen = int((spread > self.resolution * spread[0]).sum())
        if seen < n or z.shape[1] < 2:
            raise AttackError(
                f"the partner's outputs of {z.shape[1]} epochs span {seen} of its {n} columns: "
                "train for more epochs or with another learning rate"
            )
        u = basis[:, :n]
        # Eq 3 with the sign corrected; each pair of epochs gives one column.
        moved = ((1.0 - eta * view.alpha) * z[:, :-1] - z[:, 1:]) / eta
        small = symmetric_solution(u.T @ d[:, :-1], u.T @ moved)
        values, vectors = np.linalg.eigh(small)
        if values[0] <= 0.0:
            raise AttackError(
                f"the steps of {z.shape[1]} epochs do not determine the partner's Gram matrix: "
                "train for more epochs or with another learning rate"
            )
        factor: Floats = (u @ vectors) * np.sqrt(values)
        return factor

    def final_output(
        self, factor: Floats, z: Floats, d: Floats, view: EncryptedLinearView
    ) -> Floats:
        """Return X_A W after the last step, for the weights that answer the queries."""
        if self.converged:  # Eq 4: the last output seen belongs to the weights before that step
            return z[:, -1]
        # Not in the paper: with C known, the last step can be taken once more.
        eta = view.learning_rate
        step = factor @ (factor.T @ d[:, -1])
        final: Floats = (1.0 - eta * view.alpha) * z[:, -1] - eta * step
        return final

    def choose(self, tables: tuple[Floats, ...], view: EncryptedLinearView) -> ValueGuess:
        """Commit to the table inside the public ranges; where both are, to the more central one.

        That last rule only makes the answer definite: over 600 random splits of three real
        sets it was right in 35 of the 86 cases that the ranges left open, like a coin.
        """
        if view.ranges is None:
            return ValueGuess(sealed(tables[0]), tuple(sealed(t) for t in tables[1:]))
        low, high = view.ranges.low, view.ranges.high
        width = np.where(high > low, high - low, 1.0)
        places = [(table - low) / width for table in tables]
        outside = [float(np.maximum(np.maximum(-p, p - 1.0), 0.0).max()) for p in places]
        central = [float(np.square(p - 0.5).mean()) for p in places]
        allowed = [i for i, miss in enumerate(outside) if miss <= self.slack]
        # If the ranges allow no table they are wrong, and decide nothing.
        fitting = sorted(allowed or range(len(tables)), key=lambda i: central[i])
        first, *others = (sealed(tables[i]) for i in fitting)
        return ValueGuess(first, tuple(others))


def symmetric_solution(left: Floats, right: Floats) -> Floats:
    """Return the symmetric M that minimises ``||M left - right||``, columns scaled alike.

    The unknowns are the n (n + 1) / 2 entries on and above the diagonal.
    """
    scale = np.linalg.norm(left, axis=0)
    scale[scale == 0.0] = 1.0
    left, right = left / scale, right / scale
    n = len(left)
    rows, columns = np.triu_indices(n)
    units = np.zeros((len(rows), n, n))
    units[np.arange(len(rows)), rows, columns] = 1.0
    units[np.arange(len(rows)), columns, rows] = 1.0
    design = (units @ left).reshape(len(rows), -1).T
    entries = np.linalg.lstsq(design, right.ravel(), rcond=None)[0]
    solution: Floats = np.tensordot(entries, units, axes=1)
    return solution


def final_weights(view: EncryptedLinearView) -> Floats:
    """Solve the answered queries for the partner's final weights (L 4.1)."""
    assert view.queries is not None
    records, answers = view.queries.records, view.queries.answers
    rank = int(np.linalg.matrix_rank(records))
    if rank < view.unknown:
        raise AttackError(
            f"{len(records)} queries of rank {rank} cannot determine {view.unknown} weights: "
            f"ask about {view.unknown} independent records"
        )
    return np.asarray(np.linalg.lstsq(records, answers, rcond=None)[0], dtype=np.float64)


def candidates(factor: Floats, final: Floats, view: EncryptedLinearView) -> tuple[Floats, ...]:
    """Return every table X = F R that agrees with the answered queries."""
    if view.queries is None:
        if view.unknown == 1:
            return factor, -factor  # without queries the sign stays open
        raise AttackError(
            "without answered queries a whole rotation of the 2 columns stays open: "
            "gram-inversion needs the prediction phase"
        )
    weights = final_weights(view)
    turned = np.linalg.lstsq(factor, final, rcond=None)[0]  # R W, from F R W = X W
    if not np.linalg.norm(weights) > 0.0:
        raise AttackError("the partner's final weights are all zero: its columns left no trace")
    if view.unknown == 1:
        return (factor * np.sign(turned[0] * weights[0]),)
    a, b = turned / np.linalg.norm(turned), weights / np.linalg.norm(weights)
    # R maps b to a; the direction across b goes to either side of a: two solutions.
    across_a, across_b = np.array([-a[1], a[0]]), np.array([-b[1], b[0]])
    turn = np.outer(a, b) + np.outer(across_a, across_b)
    flip = np.outer(a, b) - np.outer(across_a, across_b)
    return factor @ turn, factor @ flip
