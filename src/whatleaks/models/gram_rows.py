"""All tables A with A A^T = C that agree with known elements, row by row (L Lemma 2, Corollary 1).

A row whose products with rows already found leave one direction open has two solutions, one
on either side, from its own length (Eq 8). Rows with more open directions are not determined.
Once n independent rows stand, every other row follows from a linear system. Known weights
count as one row more: A W = Z are the products with it (Lemma 4).

So up to 2^(n - 1) tables fit. Public ranges cut most of them as they arise; those that are
left are returned, the ones that miss the ranges least first. A search that had to drop
fitting branches says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints
from whatleaks.errors import AttackError

OPEN = 1e-9  # relative: a direction of a row that the products do not see
LENGTH = 1e-9  # of the longest row: a squared length that is rounding
STANDS = 1e-5  # relative: a row that stands out of the others by less tells nothing new


@dataclass(frozen=True)
class Fitting:
    """Tables that fit, best first, and whether every branch was kept."""

    tables: tuple[Floats, ...]
    complete: bool


@dataclass(frozen=True)
class Bounds:
    """Public ranges of the columns; a value may miss them by ``slack`` of their width."""

    low: Floats
    high: Floats
    slack: float = 1e-3

    def misses(self, rows: Floats) -> Floats:
        """Return by how much each row leaves the ranges, as a share of their width."""
        width = np.where(self.high > self.low, self.high - self.low, 1.0)
        below, above = (self.low - rows) / width, (rows - self.high) / width
        missed: Floats = np.maximum(np.maximum(below, above), 0.0).max(axis=1)
        return missed


def fitting_tables(
    gram: Floats,
    known: Bools,
    values: Floats,
    weights: Floats | None = None,
    outputs: Floats | None = None,
    bounds: Bounds | None = None,
    most: int = 256,
) -> Fitting:
    """Return the tables that fit. ``values`` counts where ``known``; ``most`` branches are kept.

    The order of Corollary 1: rows with most known elements first.
    """
    _m, n = known.shape
    order = np.argsort(-known.sum(axis=1), kind="stable")
    # One branch: the rows found so far (known weights first), and how far out of range it is.
    start = np.zeros((0, n)) if weights is None else weights[None, :]
    branches = [(start, 0.0)]
    found: list[int] = []
    complete, short = True, LENGTH * float(gram.diagonal().max())
    for row in order:
        if len(found) + len(start) >= n and _independent(branches[0][0]) == n:
            break  # the rest is linear
        products = gram[row, found]
        if weights is not None and outputs is not None:
            products = np.concatenate([[outputs[row]], products])
        grown = []
        for rows, missed in branches:
            for solution in _row(
                rows, products, (gram[row, row], short), known[row], values[row], row
            ):
                out = missed
                if bounds is not None:
                    out = max(missed, float(bounds.misses(solution[None])[0]))
                    if out > bounds.slack:
                        continue
                grown.append((np.concatenate([rows, solution[None]]), out))
        if not grown:
            raise AttackError(
                f"no table fits: row {int(row) + 1} has no solution inside the public ranges"
            )
        complete &= len(grown) <= most
        branches = sorted(grown, key=lambda branch: branch[1])[:most]
        found.append(int(row))
    tables = [_rest(rows[len(start) :], found, gram, weights, outputs, n) for rows, _ in branches]
    return _ranked(tables, bounds, complete)


def _row(
    rows: Floats,
    products: Floats,
    length: tuple[float, float],
    known: Bools,
    values: Floats,
    place: int,
) -> list[Floats]:
    """Solve one row: linear products with earlier rows, then its own length (Eq 8).

    ``length``: its square, and what of a square is rounding.
    """
    square, short = length
    unknown = np.flatnonzero(~known)
    row = np.where(known, values, 0.0)
    if not len(unknown):
        return [row]
    left = rows[:, unknown]
    right = products - rows[:, known] @ row[known]
    u, sizes, vt = np.linalg.svd(left, full_matrices=True)
    scale = float(sizes[0]) if len(sizes) else 0.0
    rank = int((sizes > OPEN * max(scale, 1e-300)).sum())
    particular = vt[:rank].T @ ((u[:, :rank].T @ right) / sizes[:rank])
    if rank == len(unknown):
        row[unknown] = particular
        return [row]
    # |row|^2 = c_tt: the particular solution is across what is open, so the rest is its length.
    rest = square - float(row[known] @ row[known]) - float(particular @ particular)
    if rest < -short:
        return []
    if rest <= short:  # nothing is left for the open directions, however many
        row[unknown] = particular
        return [row]
    if rank < len(unknown) - 1:
        raise AttackError(
            f"row {place + 1} has {len(unknown)} unknown values and {rank} independent products with "
            "rows that are known: Corollary 1 leaves one at most to the row's own length"
        )
    found = []
    for side in (np.sqrt(rest), -np.sqrt(rest)):
        solved = row.copy()
        solved[unknown] = particular + side * vt[-1]
        found.append(solved)
    return found


def _independent(rows: Floats) -> int:
    return int(np.linalg.matrix_rank(rows, rtol=STANDS)) if len(rows) else 0


def _rest(
    basis: Floats,
    found: list[int],
    gram: Floats,
    weights: Floats | None,
    outputs: Floats | None,
    n: int,
) -> Floats:
    """Fill in the rows that n independent rows determine."""
    table = np.empty((len(gram), n))
    table[found] = basis
    left: Ints = np.setdiff1d(np.arange(len(gram)), found)
    system, right = basis, gram[found][:, left]
    if weights is not None and outputs is not None:
        system, right = (
            np.concatenate([weights[None], basis]),
            np.concatenate([outputs[None, left], right]),
        )
    table[left] = np.linalg.lstsq(system, right, rcond=None)[0].T
    return table


def _ranked(tables: list[Floats], bounds: Bounds | None, complete: bool) -> Fitting:
    """Put the tables that stay inside the ranges first; if none does, the ranges decide nothing."""
    if bounds is None:
        return Fitting(tuple(tables), complete)
    misses = [float(bounds.misses(table).max()) for table in tables]
    inside = [i for i, missed in enumerate(misses) if missed <= bounds.slack]
    order = sorted(inside or range(len(tables)), key=lambda i: misses[i])
    return Fitting(tuple(tables[i] for i in order), complete)


def corollary_positions(table: Floats, weights: Floats | None = None) -> Bools:
    """Choose elements as Corollary 1 asks: n - 1 of one row, n - 2 of the next, ...

    Known weights stand for the first of them, so it begins with n - 2. Its second condition
    (M of full row rank) depends on the values: elimination with complete pivoting gives an
    order of rows and columns in which it holds. That is the best case for an adversary, who
    would have to know these elements and no others.
    """
    m, n = table.shape
    known = np.zeros((m, n), dtype=np.bool_)
    left = table.astype(np.float64).copy()
    columns: list[int] = []
    if weights is not None:
        columns.append(int(np.abs(weights).argmax()))
        left -= np.outer(left[:, columns[0]] / weights[columns[0]], weights)
    free = np.ones(m, dtype=np.bool_)
    for _ in range(min(m, n - 1)):
        rest = np.where(free[:, None], np.abs(left), -1.0)
        rest[:, columns] = -1.0
        row, column = np.unravel_index(int(rest.argmax()), rest.shape)
        # This row's unknown elements: the columns so far, and the one it leaves to its length.
        columns.append(int(column))
        known[row] = True
        known[row, columns] = False
        free[row] = False
        if len(columns) == n:
            break
        if left[row, column] != 0.0:
            left -= np.outer(left[:, column] / left[row, column], left[row])
    return known
