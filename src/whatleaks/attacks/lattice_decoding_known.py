"""Lattice decoding by one who knows some people: what digits leave open, their records weigh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.attacks.lattice_decoding import LatticeDecoding
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.known import KnownLinearView


@attack(
    "lattice-decoding-auxiliary",
    title="Lattice decoding, weighed by a regression on known people",
    paper="whatleaks",
    needs="scores, the whole linear model, what values the columns can take, and known people",
)
@travels
@dataclass(frozen=True)
class LatticeDecodingKnown:
    """The posterior mean over the grid under the known people's regression and its errors.

    Columns of ordinary numbers have no grid: there it is the exact part of the equations and
    a regression of the rest. ``noise``, ``cut`` and ``purifier`` are as in ``LatticeDecoding``.
    """

    noise: float = 0.0
    cut: int = -1
    purifier: str = ""
    name: str = "lattice-decoding-auxiliary"

    def infer(self, view: KnownLinearView, rng: np.random.Generator) -> ValueGuess:
        """Decode every record under the prior."""
        decoding = LatticeDecoding(
            "auxiliary", noise=self.noise, cut=self.cut, purifier=self.purifier
        )
        return decoding.infer(view, rng)
