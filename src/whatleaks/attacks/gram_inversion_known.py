"""Gram inversion with known elements (Li et al., sections 4.3 and 4.4): any number of columns.

The quadratic equations A A^T = C come from gram inversion, the linear ones A W = Z from answered
queries. (n - 1)(n - 2) / 2 known elements in the positions of Corollary 1 leave finitely many
tables, found row by row; elements elsewhere are solved for by turning the factor of C. All
tables that the public ranges allow are returned, best first: finite is not unique.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.gram_inversion import GramInversion, final_weights
from whatleaks.catalog import attack
from whatleaks.citations import LI
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.models.gram_rotation import turned_tables
from whatleaks.models.gram_rows import Bounds, fitting_tables
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.encrypted_values import EncryptedValuesView

TURNED = 10  # columns up to which elements in other positions are searched for


@attack(
    "gram-inversion-known",
    title="The partner's table from its Gram matrix and some known values",
    paper=LI,
    needs="the intermediate values of two or more steps on one batch; single values of the partner",
)
@travels
@dataclass(frozen=True)
class GramInversionKnown:
    """``slack``: the share of a column's range by which a value may miss it.

    ``most``: how many unfinished tables are kept on the way; ``resolution`` as in gram inversion.
    """

    slack: float = 1e-3
    most: int = 256
    resolution: float = 1e-9
    name: str = "gram-inversion-known"

    def infer(self, view: EncryptedValuesView, rng: np.random.Generator) -> ValueGuess:
        """Return the table that misses the ranges least, and the others beside it."""
        factor, final = GramInversion(self.slack, self.resolution).factor_and_output(view)
        n = view.unknown
        known, values = np.zeros((len(factor), n), dtype=np.bool_), np.zeros((len(factor), n))
        known[view.known.rows, view.known.columns] = True
        values[view.known.rows, view.known.columns] = view.known.values
        weights = None if view.queries is None else final_weights(view)
        outputs = None if view.queries is None else final
        bounds = None
        if view.ranges is not None:
            bounds = Bounds(view.ranges.low, view.ranges.high, self.slack)
        try:
            tables = fitting_tables(
                factor @ factor.T, known, values, weights, outputs, bounds, self.most
            ).tables
        except AttackError:
            if n > TURNED:
                raise
            tables = turned_tables(factor, known, values, rng, weights, outputs)
            tables = _inside(tables, bounds)
        first, *others = (sealed(np.where(known, values, table)) for table in tables)
        return ValueGuess(first, tuple(others))


def _inside(tables: tuple[Floats, ...], bounds: Bounds | None) -> tuple[Floats, ...]:
    """Put the tables first that miss the ranges least."""
    if bounds is None:
        return tables
    return tuple(sorted(tables, key=lambda table: float(bounds.misses(table).max())))
