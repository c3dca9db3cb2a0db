"""Subspace regression: an encrypted partner's columns from its outputs and a few known records.

Intermediate recovery (Li et al., section 4.1) gives z = X_A W of every record in every pass.
The z of several passes span a part of the column space of X_A. Where k complete records are
known, truncated least squares on their left singular vectors places all others; the rank, a
weight for the own columns and a ridge are chosen by leaving known records out.

Not in the paper, which asks for elements in a triangle and as many digits as a Gram matrix
needs; this one needs neither, and gives less where a Gram matrix can be had.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.answer_range import kept_in_range
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.errors import AttackError
from whatleaks.models.subspace import SHARES, from_known_records
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.encrypted_known import EncryptedKnownView

FEWEST = 3  # known records, of which one can be left out


@attack(
    "subspace-regression",
    title="The partner's columns from its intermediate values and known records",
    paper="whatleaks",
    needs="the intermediate values of its batches; complete records of some people in them",
)
@travels
@dataclass(frozen=True)
class SubspaceRegression:
    """``resolution``: the smallest ratio of singular values that still counts as a direction.

    ``own_columns`` lets the own columns and the label take part beside the outputs. Answers are kept
    in the columns' range.
    """

    resolution: float = 1e-12
    own_columns: bool = True
    name: str = "subspace-regression"

    def infer(self, view: EncryptedKnownView, rng: np.random.Generator) -> ValueGuess:
        """Regress the known records on their outputs, answer for the targets."""
        del rng
        known = view.auxiliary
        if len(known.places) < FEWEST:
            raise AttackError(
                f"{len(known.places)} known records cannot choose a rank: at least {FEWEST} are needed"
            )
        held, places = view.training, np.concatenate([known.places, view.places])
        # Exact where a batch has no more records than there are independent own columns; elsewhere
        # the part that the own gradients determine. How far to trust them is left to the known.
        outputs = held.outputs()[places]
        if not outputs.shape[1]:
            raise AttackError(
                f"the arbiter's {held.optimiser} cannot be undone for a whole epoch: add fake columns"
            )
        own = np.concatenate([known.own, view.own])
        beside = np.concatenate([own, held.labels[places, None]], axis=1)
        shares = SHARES if self.own_columns else (0.0,)
        rows = np.arange(len(known.places))
        found, _ = from_known_records(outputs, beside, rows, known.passive, shares, self.resolution)
        return ValueGuess(sealed(kept_in_range(found[len(rows) :], view)))
