"""Arbiter inversion (Li et al., section 4.1, multi-party): closed form, with the arbiter's help.

Every gradient of the victim is g_t = X^T d_t + alpha W_t with known d_t, a linear system for the
table (``models.colluding_arbiter``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import attack
from whatleaks.citations import LI
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.models.colluding_arbiter import table_from_gradients
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.colluding_arbiter import ColludingArbiterView


@attack(
    "arbiter-inversion",
    title="The partner's table from its gradients, with the arbiter's help",
    paper=LI,
    needs="an arbiter that joins; exact with as many steps on every batch as it has records",
)
@travels
@dataclass(frozen=True)
class ArbiterInversion:
    """Solves the whole system at once; answers are kept in the public ranges.

    ``cutoff`` of singular values: residuals of one batch resemble each other. Not in the paper, which
    cuts nothing off and keeps no range. With too few steps the answer is the table nearest to the
    middle of the ranges that fits.
    """

    cutoff: float = 1e-11
    name: str = "arbiter-inversion"

    def infer(self, view: ColludingArbiterView, rng: np.random.Generator) -> ValueGuess:
        """Solve for every record of the table."""
        del rng
        held, opened = view.training, view.opened
        steps = len(opened.gradients)
        if not steps:
            raise AttackError("what the arbiter decrypted was masked: no gradient is known")
        batches = [held.batches[step % len(held.batches)] for step in range(steps)]
        table = table_from_gradients(
            opened.gradients, opened.residuals, batches, len(held.own),
            held.learning_rate, held.alpha, self.cutoff, opened.directions,
            (view.ranges.low + view.ranges.high) / 2.0,
        )  # fmt: skip
        return ValueGuess(sealed(np.clip(table, view.ranges.low, view.ranges.high)))
