"""Label reading: a passive party takes the active party's labels off its own gradient.

The other direction of L section 4.1, not in the paper. The own gradient is a linear system for
the residuals of a batch, g - alpha W_A = X_A^T d. Less the own part of d, y less the others'
output is left (``models.label_reading``). In the first pass weights are small, so it is nearly y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.grids import BOOLEAN
from whatleaks.models.label_reading import determined, labels_behind_adam, nearest_labels
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.encrypted_label import EncryptedLabelView


@attack(
    "label-reading",
    title="Labels from a passive party's own gradients",
    paper="whatleaks",
    needs="its own decrypted gradients; exact with as many own columns as records in a batch",
)
@travels
@dataclass(frozen=True)
class LabelReading:
    """Names every record's label from the first pass; behind adam as far as it can be undone."""

    name: str = "label-reading"

    def infer(self, view: EncryptedLabelView, rng: np.random.Generator) -> ValueGuess:
        """Solve the first pass, and move what is left to the labels that there are."""
        del rng
        # A logistic regression is trained on yes or no, however many labels there are.
        labels = view.grids.columns[0] if view.steps.offset == 0.0 else BOOLEAN
        if view.steps.optimiser != "sgd":
            return ValueGuess(sealed(labels_behind_adam(view.steps, labels)[:, None]))
        left, exact = view.foreign()[:, 0], determined(view.own, view.steps.batches)
        return ValueGuess(sealed(nearest_labels(left, labels, exact)[:, None]))
