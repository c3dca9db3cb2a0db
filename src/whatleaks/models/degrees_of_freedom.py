"""How many values A A^T = C leaves open, counted and computed (Li et al., sections 4.3 and 4.4).

The counts hold for every shape. The paper states them for at least n - 1 independent rows
(Theorem 1, with A W = Z Theorem 2); with fewer rows there are fewer equations, and the orbit
of the orthogonal group is smaller: m n - m (m + 1) / 2.
"""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Bools, Floats


def degrees_of_freedom(rows: int, columns: int, weights_known: bool = False) -> int:
    """Return the degrees of freedom of an m x n table A with A A^T known (and A W, and W).

    n (n - 1) / 2 for m >= n - 1 (Theorem 1). Known weights take one column away: what is left
    of A across W has n - 1 columns, so it is (n - 1)(n - 2) / 2 (Theorem 2).
    """
    n = columns - 1 if weights_known else columns
    return n * (n - 1) // 2 if rows >= n else rows * n - rows * (rows + 1) // 2


def horizontal_freedom(records: int, columns: int) -> int:
    """Return the same for A^T A = C, which the horizontal protocol gives (Eq 7).

    It is A A^T = C for the transposed table: m (m - 1) / 2 for m <= n + 1 records, and
    n (2 m - n - 1) / 2 beyond (section 6.2).
    """
    return degrees_of_freedom(columns, records)


def jacobian_freedom(
    table: Floats, weights: Floats | None = None, known: Bools | None = None
) -> int:
    """Compute the degrees of freedom at a table: unknowns less the rank of the equations there.

    d(A A^T)_ij = dA_i . A_j + A_i . dA_j for i <= j; with weights also dA_i . W = 0, and
    dA_ij = 0 where an element is ``known``.
    """
    m, n = table.shape
    first, second = np.triu_indices(m)
    pairs = np.arange(len(first))
    jacobian = np.zeros((len(first), m, n))
    jacobian[pairs, first] += table[second]
    jacobian[pairs, second] += table[first]
    equations = jacobian.reshape(len(first), m * n)
    if weights is not None:
        equations = np.concatenate([equations, np.kron(np.eye(m), weights)])
    if known is not None:
        equations = equations[:, ~known.ravel()]
    return int(equations.shape[1] - np.linalg.matrix_rank(equations))


def known_data_ratio(freedom: int, rows: int, columns: int) -> float:
    """Return the share of a table that must be known before the rest follows (section 6.2)."""
    return freedom / (rows * columns)
