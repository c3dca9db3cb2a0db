"""What an attack is: a frozen setting that turns one view into one guess."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np

from whatleaks.threat.guess import Guess

V = TypeVar("V", contravariant=True)


class Attack(Protocol[V]):
    """An attack sees its view and its own random stream; it cannot ask for more."""

    @property
    def name(self) -> str:
        """The short name under which results are stored."""
        ...

    def infer(self, view: V, rng: np.random.Generator) -> Guess:
        """Commit to one answer."""
        ...
