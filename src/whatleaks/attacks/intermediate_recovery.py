"""Intermediate recovery (Li et al., section 4.1): the partner's z_A behind the encryption.

The active party's own decrypted gradient is a linear system for the residuals of the batch,
g - alpha W_B = X_B^T d. Once it has as many independent columns as the batch has records,
d is exact, and with it z_A = d - z_B + y (in a logistic regression with the polynomial
sigmoid 4 (d + y - 1/2) - z_B). The encryption of z_A and d does not matter. Nor does an arbiter
that returns directions of adam, not in the paper: spare columns undo them (``models.adam_roots``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.catalog import attack
from whatleaks.citations import LI
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.models.residuals import independent_records, passes
from whatleaks.threat.guess import OutputGuess
from whatleaks.threat.views.encrypted import EncryptedLinearView


def recover_intermediate(view: EncryptedLinearView) -> Floats:
    """Return z_A of every record (rows) in every epoch (columns), or say why it is not determined."""
    columns = view.own.shape[1]
    for rows in view.batches:
        if columns < len(rows):  # L 4.1: n_B >= m_k is necessary
            raise AttackError(
                f"{columns} own columns cannot determine the residuals of {len(rows)} records: "
                f"add {len(rows) - columns} fake columns, or train with batch_size at most {columns}"
            )
        rank = independent_records(view.own[rows])
        if rank < len(rows):
            raise AttackError(
                f"the {columns} own columns of a batch of {len(rows)} records have rank {rank}: "
                f"add {len(rows) - rank} fake columns, or train with a smaller batch_size"
            )
    outputs = view.outputs()
    epochs = passes(view.batches, len(view.gradients), len(view.own))
    if outputs.shape[1] < epochs:
        raise AttackError(
            f"the arbiter returns directions of {view.optimiser}; those of {outputs.shape[1]} of "
            f"{epochs} epochs can be undone: add spare fake columns, which say which roots belong "
            "together"
        )
    return outputs


@attack(
    "intermediate-recovery",
    title="The partner's intermediate values from own gradients",
    paper=LI,
    needs="its own decrypted gradients; as many own columns (fakes allowed) as records in a batch",
)
@travels
@dataclass(frozen=True)
class IntermediateRecovery:
    """Guesses the partner's output z_A of every record in every epoch, not its columns."""

    name: str = "intermediate-recovery"

    def infer(self, view: EncryptedLinearView, rng: np.random.Generator) -> OutputGuess:
        """Solve every step; the guess has one column per epoch."""
        del rng
        return OutputGuess(sealed(recover_intermediate(view)))
