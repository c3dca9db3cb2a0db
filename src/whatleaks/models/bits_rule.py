"""The bits rule: what was released against what is hidden.

A release is decodable when it carries more bits than the unknown columns hold: equations times
their effective digits against the sum of log2 of the levels. Equality solving's "columns below
classes" is the case of free columns: each costs a whole equation, and no grid is left to decode.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from whatleaks.arrays import Floats
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.models.grids import Grids
from whatleaks.models.lattice_basis import Equations, Unknowns, equations_left, unknowns
from whatleaks.models.precision import Precision
from whatleaks.models.readings import Readings

ROOM = 12.0  # bits to spare before decoding is called certain: one wrong point in 4,096


@travels
@dataclass(frozen=True)
class Bits:
    """``released`` by one record's numbers, ``hidden`` in its gridded columns.

    ``luck``: log2 of how many wrong points are expected to fit, the worst over groups of
    columns: released - hidden can be ample while one column alone moves no score visibly.
    ``equations``: how many are left after free columns took one each; below zero, ``short``
    says how many free columns remain without one.
    """

    released: float
    hidden: float
    luck: float
    equations: int
    short: int = 0

    @property
    def decodable(self) -> bool:
        """Predict that the record can be read exactly, and proven to be the only one."""
        return self.short == 0 and (self.hidden == 0.0 or self.luck < -ROOM)


def bits_of(readings: Readings, grids: Grids, row: int = 0) -> Bits:
    """Apply the rule to one record's readings; no truth and no search is needed."""
    if not 0 <= row < len(readings):
        raise AttackError(f"there is no record {row} among {len(readings)}")
    unknown = unknowns(grids)
    half = (readings.high[row] - readings.low[row]) / 2.0
    left = equations_left(readings.matrix, half, grids.free, unknown, readings.normalised)
    return bits_left(left, unknown)


def bits_left(left: Equations, unknown: Unknowns) -> Bits:
    """Weigh what equations tell against what the coordinates hide."""
    return Bits(
        _released(_spreads(left, unknown), left),
        unknown.bits,
        expected_luck(left, unknown),
        len(left),
        left.short,
    )


def simple_rule(
    classes: int, precision: Precision, grids: Grids, spread: float = 1.0
) -> tuple[float, float]:
    """Return released and hidden bits before any model exists: for a first warning.

    ``spread``: how widely a log-ratio varies with the unknown columns (about 1 to 5 for trained
    models). Every score is taken as 1/classes; each free column costs one equation.
    """
    typical = 1.0 / classes
    error = precision.relative + precision.absolute / typical
    left = max(0, classes - 1 - len(grids.free))
    return left * max(0.0, math.log2(spread / (2.0 * error))), grids.bits()


def expected_luck(left: Equations, unknown: Unknowns) -> float:
    """Return log2 of how many wrong points are expected to fit.

    Points that differ from the true one in some columns only must be told apart by what these
    columns move. So the rule is applied to the least visible unknown, the two least visible,
    and so on, and the worst case counts.
    """
    pieces = _pieces(unknown)
    if not pieces:
        return -math.inf
    if not len(left):
        return unknown.bits
    spread = _spreads(left, unknown)
    seen = [float(np.abs(spread[:, list(p)] * unknown.weight[list(p)]).max()) for p, _ in pieces]
    order = np.argsort(seen)
    worst, bits = -math.inf, 0.0
    columns: list[int] = []
    for at in order:
        piece, piece_bits = pieces[int(at)]
        columns += piece
        bits += piece_bits
        worst = max(worst, bits - _released(spread[:, columns], left))
    return worst


def entropy_luck(left: Equations, unknown: Unknowns, root: Floats) -> float:
    """Return log2 of how many points are typically left when a normal prior is known.

    The prior's entropy takes the place of the levels: ``root`` is a factor of its covariance.
    """
    spread = unknown.moves @ root
    # Whole numbers blur at a twelfth: a column known better than that holds no bits.
    deviations = np.linalg.svd(spread, compute_uv=False)
    held = np.log2(np.maximum(np.sqrt(2.0 * math.pi * math.e) * deviations, 1.0)).sum()
    return float(held) - _released(left.steep.astype(np.float64) @ root, left)


def _pieces(unknown: Unknowns) -> list[tuple[list[int], float]]:
    """Return the separate unknowns: their coordinates and bits."""
    grouped = {j for group in unknown.groups for j in group}
    single: list[tuple[list[int], float]] = [
        ([j], math.log2(int(levels))) for j, levels in enumerate(unknown.levels) if j not in grouped
    ]
    return single + [(list(group), math.log2(len(group))) for group in unknown.groups]


def _spreads(left: Equations, unknown: Unknowns) -> Floats:
    """Return what one deviation of each coordinate moves each equation, in units of its error."""
    steep = left.steep.astype(np.float64)
    for group in unknown.groups:  # exactly one is chosen: what all choices share moves nothing
        columns = list(group)
        steep[:, columns] -= steep[:, columns].mean(axis=1)[:, None]
    return np.asarray(steep / unknown.weight)


def _released(spread: Floats, left: Equations) -> float:
    """Return log2 of how many outcomes the equations tell apart.

    Grid points spread the right sides like a normal distribution with the coordinates'
    covariance; a fit lies within a ball of the errors' length. So the number of points that fit
    a right side at the centre, where they are densest, is the points times the ball's volume
    times the density. A direction that the grid moves less than its error tells nothing.
    """
    count = len(left)
    if not count:
        return 0.0
    moved = np.linalg.svd(spread, compute_uv=False)
    moved = np.concatenate([moved, np.zeros(max(0, count - len(moved)))])[:count]
    ball = count / 2.0 * math.log(math.pi * left.squared) - float(gammaln(count / 2.0 + 1.0))
    cell = math.exp(ball / count)
    outcomes = np.maximum(math.sqrt(2.0 * math.pi) * moved / cell, 1.0)
    return float(np.log2(outcomes).sum())
