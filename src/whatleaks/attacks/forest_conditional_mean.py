"""The conditional mean of whoever knows some people and the whole forest, where votes are released.

Ours. Path restriction names the paths of one tree; the votes of many trees leave too many
combinations of paths to name. Values that are likely are put through the forest instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.catalog import attack
from whatleaks.codec import travels
from whatleaks.models.conditional_mean import People, conditional_mean
from whatleaks.threat.guess import ValueGuess
from whatleaks.threat.views.known_trees import KnownForestView


@attack(
    "forest-conditional-mean",
    title="The mean of likely values that the forest votes on as was seen",
    paper="whatleaks",
    needs="votes, the whole forest, and complete records of some people",
)
@travels
@dataclass(frozen=True)
class ForestConditionalMean:
    """Votes enter without the last class: shares sum to one."""

    name: str = "forest-conditional-mean"

    def infer(self, view: KnownForestView, rng: np.random.Generator) -> ValueGuess:
        """Draw likely values for every record, keep and move those that fit its votes."""
        known, forest = view.auxiliary, view.model

        def release(own: Floats, other: Floats) -> Floats:
            return forest.fractions(np.concatenate([own, other], axis=1))[:, :-1]

        return ValueGuess(
            sealed(
                conditional_mean(
                    People(known.own, known.released[:, :-1]),
                    known.passive,
                    People(view.own, view.released[:, :-1]),
                    release,
                    rng,
                )
            )
        )
