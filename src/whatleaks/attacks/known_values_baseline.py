"""The known elements themselves, and one half elsewhere: what such a grant is worth without messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import baseline
from whatleaks.codec import travels
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.encrypted_values import EncryptedValuesView


@baseline(
    "known-values",
    title="The elements that were given, one half elsewhere",
    needs="single elements of the table",
)
@travels
@dataclass(frozen=True)
class KnownValuesAlone:
    """An attack that copies what it was given shows no leak by that: this bar takes it off."""

    name: str = "known-values"

    def infer(self, view: EncryptedValuesView, rng: np.random.Generator) -> ValueGuess:
        """Put every known element where it belongs."""
        del rng
        values = np.full((len(view.own), view.unknown), 0.5)
        values[view.known.rows, view.known.columns] = view.known.values
        return ValueGuess(sealed(values))
