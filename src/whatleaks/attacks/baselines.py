"""Guesses that use nothing: every table of results shows them beside the attacks.

Beating only the uniform guess is no leak: on uniform data the constant one half has half
of its error (1/12 against 1/6).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.catalog import baseline
from whatleaks.codec import travels
from whatleaks.threat.guess import ValueGuess


@travels
@dataclass(frozen=True)
class ShapeView:
    """The view of whoever sees nothing: how many records and columns there are to guess."""

    blind: ClassVar[bool] = True  # it can be made for any threat

    records: int
    unknown: int


@baseline("uniform", title="A random number between 0 and 1", paper="Luo et al. 2021")
@travels
@dataclass(frozen=True)
class Uniform:
    """U(0, 1) for every value (U VI-A)."""

    name: str = "uniform"

    def infer(self, view: ShapeView, rng: np.random.Generator) -> ValueGuess:
        """Draw every value."""
        return ValueGuess(sealed(rng.uniform(0.0, 1.0, (view.records, view.unknown))))


@baseline("gaussian", title="A random number around one half", paper="Luo et al. 2021")
@travels
@dataclass(frozen=True)
class Gaussian:
    """N(0.5, 0.25^2) for every value (U VI-A)."""

    name: str = "gaussian"

    def infer(self, view: ShapeView, rng: np.random.Generator) -> ValueGuess:
        """Draw every value."""
        return ValueGuess(sealed(rng.normal(0.5, 0.25, (view.records, view.unknown))))


@baseline("half", title="Always one half", paper="Varasteh")
@travels
@dataclass(frozen=True)
class Half:
    """The constant 0.5: the best guess in the worst case when only the range is known (A IV-C)."""

    name: str = "half"

    def infer(self, view: ShapeView, rng: np.random.Generator) -> ValueGuess:
        """Answer one half."""
        del rng
        return ValueGuess(sealed(np.full((view.records, view.unknown), 0.5)))


BASELINES = (Uniform(), Gaussian(), Half())
