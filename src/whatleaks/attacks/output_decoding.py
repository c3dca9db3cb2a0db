"""Output decoding: an encrypted regression's plain outputs are equations in whole numbers.

Not in the paper. Once the partner's weights are known (L 4.1: from as many queries as it has
columns), its plain output z = x w of a record at prediction is one equation with 52 bits, and
whole-number columns that hold fewer are read exactly (``models.lattice``). The same can be asked
of the z that the own gradients of training give; these carry as many digits as the fixed point and the
conditioning of the equations leave.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.attacks.gram_inversion import GramInversion, final_weights
from whatleaks.attacks.lattice_decoding import decoded
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.models.grid_priors import flat_prior
from whatleaks.models.lattice import NONE, decode
from whatleaks.models.readings import sum_readings
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.encrypted_outputs import EncryptedOutputsView

ROUNDING = 2.0**-48  # of the recovered weights, times their size
COARSEST = 1e-3  # an output that is not known to this tells no value apart
STEPS = 12  # tolerances that are tried between the two
MISSES = 0.05  # share of records that may fit no value at the right tolerance


@attack(
    "output-decoding",
    title="Lattice decoding of the partner's plain outputs at prediction",
    paper="whatleaks",
    needs="plain outputs at prediction, answers to made-up records, what values columns can take",
)
@travels
@dataclass(frozen=True)
class OutputDecoding:
    """Reads every record from the partner's output at prediction."""

    name: str = "output-decoding"

    def infer(self, view: EncryptedOutputsView, rng: np.random.Generator) -> ValueGuess:
        """Find the weights, then decode z = x w of every record."""
        del rng
        weights = final_weights(view)
        return _decoded(view, view.predicted, weights, ROUNDING * float(np.abs(weights).sum()))


@attack(
    "training-output-decoding",
    title="Lattice decoding of the partner's outputs, as its own gradients give them",
    paper="whatleaks",
    needs="its own gradients of batches that repeat, answers to made-up records, the schema",
)
@travels
@dataclass(frozen=True)
class TrainingOutputDecoding:
    """Reads every record from z of the final weights, worked out from the own gradients.

    How precise that z is nobody says. The finest tolerance is taken at which nearly all records
    fit some value: where z is off by more than the tolerance, most fit none.
    """

    name: str = "training-output-decoding"

    def infer(self, view: EncryptedOutputsView, rng: np.random.Generator) -> ValueGuess:
        """Work z of the final weights out, find its precision, decode."""
        del rng
        _, z = GramInversion().factor_and_output(view)
        weights = final_weights(view)
        least = ROUNDING * float(np.abs(weights).sum())
        for tolerance in np.geomspace(least, COARSEST, STEPS).tolist():
            readings = sum_readings(z[:, None], weights[:, None], view.grids, tolerance)
            if (decode(readings, view.grids).status == NONE).mean() <= MISSES:
                return _decoded(view, z, weights, tolerance)
        raise AttackError("the outputs that the own gradients give fit no values at any precision")


def _decoded(
    view: EncryptedOutputsView, z: Floats, weights: Floats, tolerance: float
) -> ValueGuess:
    readings = sum_readings(z[:, None], weights[:, None], view.grids, tolerance)
    return ValueGuess(sealed(decoded(readings, view.grids, flat_prior(view.grids))[0]))
