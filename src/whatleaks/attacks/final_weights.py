"""Final weights: what a training on secret shares still tells (whatleaks, after Li et al. 4.1).

Without an arbiter nobody returns a gradient, so the step-by-step equations of section 4.1 are
gone. But a party keeps its own weights, and all steps together moved them by
``sum of x_i s_i``: s_i is a weighted sum of record i's residuals over the whole training. With as
many independent own columns as records s is exact, and with it the partner's output z_A of
every record, averaged over the epochs. One number for each record instead of one for each
record and epoch: too few for the Gram matrix, which needs two epochs at least.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.catalog import attack
from whatleaks.citations import LI
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.models.residuals import independent_records
from whatleaks.threat.guess import OutputGuess
from whatleaks.threat.views.shared import SharedRegressionView


def average_outputs(view: SharedRegressionView) -> Floats:
    """Return z_A of every record, averaged over the training, or say why it is not determined."""
    own = view.history.columns
    records, rank = len(own), independent_records(own)
    if rank < records:
        raise AttackError(
            f"own columns of rank {rank} cannot determine the residuals of {records} records: "
            f"add {records - rank} fake columns, or train on {rank} records"
        )
    return view.history.mean_outputs()


@attack(
    "final-weights",
    title="The partner's intermediate values, on average, from own weights before and after",
    paper=f"whatleaks, after {LI}",
    needs="its own weights at the end; as many own columns (fakes allowed) as records that train",
)
@travels
@dataclass(frozen=True)
class FinalWeights:
    """Guesses the partner's output of every record: the same average for every epoch."""

    name: str = "final-weights"

    def infer(self, view: SharedRegressionView, rng: np.random.Generator) -> OutputGuess:
        """Answer the same average for every epoch; exact after a single step."""
        del rng
        outputs = average_outputs(view)
        return OutputGuess(sealed(np.repeat(outputs[:, None], view.history.epochs, axis=1)))
