"""Null-space regression: solve what the scores say exactly, learn the rest on known people.

Scores of a linear model are equations A x = b' (A Eq 6). They fix the part of x in the row space of
A and say nothing about the part in its null space. half* sets that part to the one of one half
(A Eq 14); whoever knows some people learns it, from all that is seen of a record: the own columns
and the part that was solved. This is not in the paper.

The known people also tell whether the equations hold: where scores were rounded or the disclosed
weights are not the true ones, the solved part misses their values. Then the weights are worked out
anew, from the known people's values and scores, which takes more people than unknown columns: an
adaptive adversary, who expects blurred weights. If even that misses by more than learning does,
each known record left out, the solved part is learnt too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.equations import equations
from whatleaks.attacks.possible_values import snapped
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.additive import log_ratios
from whatleaks.models.box_solutions import nearest, parts
from whatleaks.models.few_records import learnt_together
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.known import KnownLinearView


@attack(
    "null-space-regression",
    title="Equations solved, the rest learnt on known people",
    paper="whatleaks",
    needs="scores, the whole linear model, and complete records of some people",
)
@attack(
    "null-space-regression-snapped",
    title="Equations solved, the rest learnt, moved to values that the columns can take",
    paper="whatleaks",
    needs="scores, the whole linear model, complete records of some people, and what values the "
    "columns can take",
    settings={"snap": True},
)
@travels
@dataclass(frozen=True)
class NullSpaceRegression:
    """``snap`` moves values to the nearest ones that the schema allows."""

    snap: bool = False

    @property
    def name(self) -> str:
        """The attack, with or without the schema."""
        return "null-space-regression-snapped" if self.snap else "null-space-regression"

    def infer(self, view: KnownLinearView, rng: np.random.Generator) -> ValueGuess:
        """Solve for everybody, learn on the known people, answer for the targets."""
        del rng
        known = view.auxiliary
        system = equations(view.own, log_ratios(view.scores), view.model)
        theirs = equations(known.own, log_ratios(known.released), view.model)
        matrix, missed = _trusted(theirs.matrix, known.passive, theirs.right)
        pieces = parts(matrix)
        solved = system.right @ pieces.inverse.T @ pieces.rows.T
        solved_known = theirs.right @ pieces.inverse.T @ pieces.rows.T
        inputs = np.concatenate([known.own, solved_known], axis=1)
        asked = np.concatenate([view.own, solved], axis=1)
        true_rows = known.passive @ pieces.rows.T
        learnt_rows = learnt_together(inputs, true_rows, asked)
        exact = missed <= learnt_rows.error
        values = (solved if exact else learnt_rows.values) @ pieces.rows
        # What the equations do not see. Its errors count together, so no basis of it is needed.
        if len(pieces.rows) < view.unknown:
            rest = learnt_together(inputs, known.passive - true_rows @ pieces.rows, asked)
            values = values + rest.values
        if exact:  # the nearest point of the box that satisfies the equations too
            values = nearest(matrix, system.right, values)
        values = np.clip(values, 0.0, 1.0)
        return ValueGuess(sealed(snapped(values, view) if self.snap else values))


def _trusted(disclosed: Floats, passive: Floats, right: Floats) -> tuple[Floats, float]:
    """Return the weights that explain the known people's scores better, and by how much they miss.

    The miss is that of the solved part, as a mean squared distance; weights that were fitted are
    judged on records that were left out of the fit.
    """

    def missed(matrix: Floats, residue: Floats) -> float:
        return float(((residue @ parts(matrix).inverse.T) ** 2).sum(axis=1).mean())

    found = [(disclosed, missed(disclosed, right - passive @ disclosed.T))]
    n, unknown = passive.shape
    axes, sizes, _ = np.linalg.svd(passive, full_matrices=False)
    if n > unknown and sizes[-1] > 1e-9 * sizes[0]:
        fitted: Floats = np.asarray(np.linalg.lstsq(passive, right, rcond=None)[0].T, np.float64)
        free = np.maximum(1.0 - (axes**2).sum(axis=1), 1e-9)
        left_out = (right - passive @ fitted.T) / free[:, None]
        found.append((fitted, missed(fitted, left_out)))
    return min(found, key=lambda one: one[1])
