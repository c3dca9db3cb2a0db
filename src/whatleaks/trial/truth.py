"""The truth, as only the evaluator holds it, and an attack's one answer."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from whatleaks.arrays import Floats, sealed
from whatleaks.models.grids import Grids
from whatleaks.models.tree import Tree
from whatleaks.threat.guess import Guess

Plain = str | int | float | bool


def _none() -> Floats:
    return sealed(np.zeros((0, 0)))


@dataclass(frozen=True)
class Truth:
    """The victims' columns of the target records, and of others for the limit.

    ``own`` are the adversary's columns of the targets and ``trees`` the trained ones, where
    branches are counted; ``outputs`` the victims' intermediate values, where these are guessed.
    """

    values: Floats
    others: Floats = field(default_factory=_none)
    own: Floats = field(default_factory=_none)
    trees: tuple[Tree, ...] = ()
    outputs: Floats | None = None
    grids: Grids | None = None  # what values the columns can take; None: ordinary numbers


@dataclass(frozen=True)
class Committed:
    """An attack's one answer, and how it came about."""

    name: str
    guess: Guess
    seconds: float
    isolated: str  # sandbox, process, or empty: it ran in this process
    settings: dict[str, Plain] = field(default_factory=dict)
