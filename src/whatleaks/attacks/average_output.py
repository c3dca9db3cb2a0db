"""Average output: the partner's columns from the one number per record that final weights tell.

``final-weights`` gives z_A of every record, averaged over the training: the record's unknown
columns times weights that the adversary does not know. One number says nothing about how several
columns differ, so the guess for each is that number itself, brought to the public range. With
a single unknown column this is the column, up to its own scale and a mirror image.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.final_weights import average_outputs
from whatleaks.catalog import attack
from whatleaks.citations import LI
from whatleaks.codec import travels
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.shared import SharedRegressionView


@attack(
    "average-output",
    title="The partner's columns as its average output, brought to their range",
    paper=f"whatleaks, after {LI}",
    needs="its own weights at the end; as many own columns (fakes allowed) as records that train",
)
@travels
@dataclass(frozen=True)
class AverageOutput:
    """Guesses every unknown column by the one number that is known of a record."""

    name: str = "average-output"

    def infer(self, view: SharedRegressionView, rng: np.random.Generator) -> ValueGuess:
        """Bring the outputs to 0..1; where they are all equal, say one half."""
        del rng
        outputs = average_outputs(view)
        low, width = outputs.min(), np.ptp(outputs)
        scaled = (outputs - low) / width if width > 0.0 else np.full(len(outputs), 0.5)
        return ValueGuess(sealed(np.repeat(scaled[:, None], view.unknown, axis=1)))
